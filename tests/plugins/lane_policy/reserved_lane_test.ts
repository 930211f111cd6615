import assert from "node:assert/strict";
import fc from "fast-check";
import { reservedLane } from "../../../plugins/lane_policy/reserved_lane.ts";
import { type LaneOverrides, makeView, VIEW_NOW_MS } from "../../../src/testing/views.ts";
import { OptionError } from "../../../src/contract/errors.ts";
import type { LanePolicy } from "../../../src/contract/strategy.ts";
import type { PoolView } from "../../../src/contract/view.ts";
import { faultsOf, make } from "../_make.ts";

/** A pool of `live` workers whose lanes all have work, with this many jobs running in each. */
function running(live: number, counts: readonly number[], extra: LaneOverrides = {}): PoolView {
  const busy = counts.reduce((sum, count) => sum + count, 0);
  return makeView({
    live,
    busy,
    lanes: counts.map((count) => ({ ready: 1, ...extra, running: count })),
  });
}

/** Starts jobs until the policy leaves the next worker idle; says how many run in each lane then. */
function fill(
  policy: LanePolicy,
  live: number,
  eligible: readonly number[],
  start: number[],
): number[] {
  const counts = [...start];
  while (counts.reduce((sum, count) => sum + count, 0) < live) {
    const view = running(live, counts);
    const chosen = policy(view, view.lanes.filter((lane) => eligible.includes(lane.index)));
    if (chosen === undefined) break;
    assert.ok(eligible.includes(chosen.index));
    counts[chosen.index]!++;
  }
  return counts;
}

Deno.test("reservedLane lets other lanes run on all workers but the reserve", () => {
  const policy = make(reservedLane, { reserve: { urgent: 2 } });

  assert.deepEqual(fill(policy, 10, [1], [0, 0]), [0, 8]);
  assert.deepEqual(fill(policy, 10, [0, 1], [0, 0]), [10, 0]);
});

Deno.test("reservedLane counts workers, not free slots: urgent jobs that run use the reserve up", () => {
  const policy = make(reservedLane, { reserve: { urgent: 2 } });

  assert.deepEqual(fill(policy, 10, [1], [2, 0]), [2, 8]);
  assert.deepEqual(fill(policy, 10, [1], [5, 0]), [5, 5]);
  assert.deepEqual(fill(policy, 10, [1], [1, 0]), [1, 8]);
});

Deno.test("reservedLane keeps other lanes' running within workers - reserve, exactly, for one reserve", () => {
  fc.assert(fc.property(
    fc.integer({ min: 1, max: 9 }),
    fc.integer({ min: 1, max: 30 }),
    fc.nat(30),
    fc.nat(30),
    (reserve, live, urgent, batch) => {
      fc.pre(urgent + batch < live);
      const view = running(live, [urgent, batch]);
      const chosen = make(reservedLane, { reserve: { urgent: reserve } })(view, [view.lanes[1]!]);
      assert.equal(chosen !== undefined, batch + 1 <= live - Math.min(reserve, live - 1));
    },
  ));
});

Deno.test("reservedLane keeps several reserves together, and lets each lane up to its own", () => {
  const policy = make(reservedLane, { reserve: { a: 2, b: 3 } }, { lanes: ["a", "b", "c"] });

  assert.deepEqual(fill(policy, 10, [2], [0, 0, 0]), [0, 0, 5]);
  assert.deepEqual(fill(policy, 10, [0], [0, 0, 0]), [7, 0, 0]);
  assert.deepEqual(fill(policy, 10, [1], [0, 0, 5]), [0, 3, 5]);
  assert.deepEqual(fill(policy, 10, [0, 1, 2], [0, 0, 0]), [7, 3, 0]);
});

Deno.test("reservedLane never leaves a reserve uncovered by what it starts, for any lanes", () => {
  const counts = fc.array(fc.nat(6), { minLength: 3, maxLength: 3 });
  fc.assert(fc.property(
    counts,
    counts,
    fc.nat(8),
    fc.subarray([0, 1, 2], { minLength: 1 }),
    (reserves, before, idle, eligible) => {
      const live = before.reduce((sum, count) => sum + count, 0) + idle;
      const sum = reserves.reduce((total, count) => total + count, 0);
      fc.pre(sum < live); // below, reserves give way
      const [a = 0, b = 0, c = 0] = reserves;
      const policy = make(reservedLane, { reserve: { a, b, c } }, {
        lanes: ["a", "b", "c"],
        size: { min: 0, max: 99 },
      });
      const after = fill(policy, live, eligible, before);
      const left = live - after.reduce((total, count) => total + count, 0);
      const uncovered = (running: readonly number[]): number =>
        running.reduce((total, count, index) => total + Math.max(0, reserves[index]! - count), 0);
      if (idle >= uncovered(before)) assert.ok(left >= uncovered(after));
      // Short of its reserves, the pool starts only jobs that use one.
      else assert.equal(uncovered(before) - uncovered(after), idle - left);
    },
  ));
});

Deno.test("reservedLane leaves no worker idle when nothing is reserved, for any lanes", () => {
  const policy = make(reservedLane, { reserve: {} });
  fc.assert(
    fc.property(fc.nat(5), fc.nat(5), fc.integer({ min: 1, max: 9 }), (urgent, batch, idle) => {
      const view = running(urgent + batch + idle, [urgent, batch]);

      assert.equal(policy(view, view.lanes), view.lanes[0]);
      assert.equal(policy(view, [view.lanes[1]!]), view.lanes[1]);
    }),
  );
});

Deno.test("reservedLane shares at least one worker at any pool size, and gives up low reserves first", () => {
  const policy = make(reservedLane, { reserve: { a: 2, b: 3 } }, { lanes: ["a", "b", "c"] });

  assert.deepEqual(fill(policy, 1, [2], [0, 0, 0]), [0, 0, 1]);
  assert.deepEqual(fill(policy, 1, [0, 1, 2], [0, 0, 0]), [1, 0, 0]);
  assert.deepEqual(fill(policy, 3, [2], [0, 0, 0]), [0, 0, 1]);
  assert.deepEqual(fill(policy, 3, [1], [0, 0, 0]), [0, 1, 0]); // a keeps 2, b keeps none
  assert.deepEqual(fill(policy, 4, [1], [0, 0, 0]), [0, 2, 0]);
});

Deno.test("reservedLane counts a retiring worker until its job has ended", () => {
  const policy = make(reservedLane, { reserve: { urgent: 2 } });
  const view = (batch: number) =>
    makeView({ live: 5, busy: 3, lanes: [{ ready: 0 }, { ready: 9, running: batch }] });

  // 2 idle: the reserve, whether the other batch jobs run on live or on retiring workers.
  assert.equal(policy(view(6), [view(6).lanes[1]!]), undefined);
  assert.equal(policy(view(3), [view(3).lanes[1]!]), undefined);
});

Deno.test("reservedLane keeps nothing for a paused lane, nor beyond a lane's maxRunning", () => {
  const policy = make(reservedLane, { reserve: { urgent: 2 } });
  const view = (urgent: LaneOverrides) =>
    makeView({ live: 10, busy: 8, lanes: [urgent, { ready: 1, running: 8 }] });

  const free = view({});
  assert.equal(policy(free, [free.lanes[1]!]), undefined);
  const paused = view({ paused: true });
  assert.equal(policy(paused, [paused.lanes[1]!]), paused.lanes[1]);
  const bound = view({ maxRunning: 1 });
  assert.equal(policy(bound, [bound.lanes[1]!]), bound.lanes[1]);
});

Deno.test("reservedLane by default reserves rate x job time x 1.5, rounded up, and follows it", () => {
  const policy = make(reservedLane);
  const most = (arrivalsPerSec: number, meanServiceMs: number): number => {
    for (let batch = 0; batch < 10; batch++) {
      const view = makeView({
        live: 10,
        busy: batch,
        lanes: [{ arrivalsPerSec, meanServiceMs }, { ready: 9, running: batch }],
      });
      if (policy(view, [view.lanes[1]!]) === undefined) return batch;
    }
    return 10;
  };

  assert.equal(most(0, 0), 10); // no traffic yet
  assert.equal(most(30, 0), 9); // traffic, but no job has ended
  assert.equal(most(30, 20), 9); // 0.6 busy workers: the experiment's own example
  assert.equal(most(150, 20), 5); // 4.5
  assert.equal(most(1, 20), 9);
  assert.equal(most(10_000, 20), 1); // one worker stays shared
  assert.equal(most(30, 20), 9);
});

Deno.test("reservedLane by default reserves for every lane but the lowest", () => {
  const policy = make(reservedLane, { reserve: "auto" }, { lanes: ["a", "b", "c"] });
  const lane = { arrivalsPerSec: 10, meanServiceMs: 100, ready: 1 }; // 1.5 workers
  const view = makeView({ live: 10, busy: 6, lanes: [lane, lane, { ...lane, running: 6 }] });

  assert.equal(policy(view, view.lanes), view.lanes[0]);
  assert.equal(policy(view, [view.lanes[2]!]), undefined); // 4 idle for the 2 + 2 reserved
});

Deno.test("reservedLane keeps one more by default for each long wait beside jobs without a target", () => {
  const policy = make(reservedLane);
  const reserveAt = (afterMs: number, oldestWaitMs: number, targetWaitMs: number | null) => {
    const nowMs = VIEW_NOW_MS + afterMs;
    const urgent = { arrivalsPerSec: 30, meanServiceMs: 20, targetWaitMs: 50, oldestWaitMs };
    let batch = 0;
    for (;; batch++) {
      const lanes = [{ ...urgent, ready: 1 }, { ready: 9, running: batch, targetWaitMs }];
      const view = makeView({ nowMs, live: 10, busy: batch, lanes });
      if (policy(view, [view.lanes[1]!]) === undefined) return 10 - batch;
    }
  };

  assert.equal(reserveAt(0, 25, 5000), 1, "the pool grows for whoever is in the way");
  assert.equal(reserveAt(10, 24, null), 1);
  assert.equal(reserveAt(20, 25, null), 2);
  assert.equal(reserveAt(30, 25, null), 2, "of the same wait");
  assert.equal(reserveAt(60, 25, null), 3);
  assert.equal(reserveAt(90, 25, null), 3, "two standard deviations of 0.6 erlang");
  assert.equal(reserveAt(90 + 300_000, 0, null), 3);
  assert.equal(reserveAt(91 + 300_000, 0, null), 2, "one goes each five minutes");
  assert.equal(reserveAt(92 + 600_000, 0, null), 1);
});

Deno.test("reservedLane serves the one lane of a pool by default", () => {
  const policy = make(reservedLane, {}, { lanes: ["only"] });
  const view = makeView({ live: 1, lanes: [{ ready: 1, arrivalsPerSec: 500, meanServiceMs: 20 }] });

  assert.equal(policy(view, view.lanes), view.lanes[0]);
});

Deno.test("reservedLane refuses a reserve that leaves nobody shared", () => {
  assert.throws(
    () => make(reservedLane, { reserve: { urgent: 4, batch: 4 } }, { size: { min: 2, max: 8 } }),
    (thrown) => {
      assert.ok(thrown instanceof OptionError);
      assert.deepEqual(thrown.path, ["reserve"]);
      assert.equal(
        thrown.message,
        "Expected reserves of fewer than size.max (8) workers in all but received 8: " +
          "at least one worker must be shared",
      );
      return true;
    },
  );
  make(reservedLane, { reserve: { urgent: 4, batch: 3 } }, { size: { min: 2, max: 8 } });
});

Deno.test("reservedLane refuses a reserve for a lane that the pool does not have", () => {
  assert.throws(
    () => make(reservedLane, { reserve: { toString: 2 } }),
    (thrown) => {
      assert.ok(thrown instanceof OptionError);
      assert.deepEqual(thrown.path, ["reserve", "toString"]);
      assert.equal(
        thrown.message,
        'No lane is named "toString": the pool has "urgent", "batch"',
      );
      return true;
    },
  );
});

Deno.test("reservedLane refuses reserves that are neither auto nor whole numbers", () => {
  const wanted = 'Expected "auto" or numbers of workers by lane, such as { "urgent": 2 }';

  assert.deepEqual(faultsOf(reservedLane, { reserve: "all" }), [`reserve: ${wanted}`]);
  assert.deepEqual(faultsOf(reservedLane, { reserve: 2 }), [`reserve: ${wanted}`]);
  assert.deepEqual(faultsOf(reservedLane, { reserve: { urgent: -1 } }), [
    "reserve.urgent: Invalid value: Expected >=0 but received -1",
  ]);
  assert.deepEqual(faultsOf(reservedLane, { reserve: { urgent: 1.5 } }), [
    "reserve.urgent: Invalid integer: Received 1.5",
  ]);
});
