import assert from "node:assert/strict";
import fc from "fast-check";
import { dedicatedLanes } from "../../../plugins/lane_policy/dedicated_lanes.ts";
import { makeView } from "../../../src/testing/views.ts";
import { OptionError } from "../../../src/contract/errors.ts";
import { faultsOf, make } from "../_make.ts";
import { meanOfRuns, near } from "./_published.ts";

const seedWorkers = { workers: { urgent: 2, batch: 8 } };

Deno.test("dedicatedLanes lets each lane run on its own workers only", () => {
  const policy = make(dedicatedLanes, seedWorkers);
  const view = (urgent: number, batch: number) =>
    makeView({
      live: 10,
      busy: urgent + batch,
      lanes: [{ ready: 9, running: urgent }, { ready: 9, running: batch }],
    });

  const both = view(1, 7);
  assert.equal(policy(both, both.lanes), both.lanes[0]);
  const urgentFull = view(2, 7);
  assert.equal(policy(urgentFull, urgentFull.lanes), urgentFull.lanes[1]);
  const batchFull = view(0, 8);
  assert.equal(policy(batchFull, batchFull.lanes.slice(1)), undefined);
});

Deno.test("dedicatedLanes keeps the proportions at another pool size", () => {
  const policy = make(dedicatedLanes, seedWorkers);
  const view = makeView({
    live: 5,
    busy: 4,
    lanes: [{ running: 0, ready: 0 }, { running: 4, ready: 9 }],
  });

  assert.equal(policy(view, view.lanes.slice(1)), undefined); // 1 and 4 of 5
});

Deno.test("dedicatedLanes has all lanes share one worker, highest first", () => {
  const policy = make(dedicatedLanes, seedWorkers);
  const view = makeView({ live: 1, lanes: [{ ready: 1 }, { ready: 1 }] });

  assert.equal(policy(view, view.lanes), view.lanes[0]);
  assert.equal(policy(view, view.lanes.slice(1)), view.lanes[1]);
});

Deno.test("dedicatedLanes has the last worker serve all lanes that have none of their own", () => {
  const workers = { a: 1, b: 1, c: 1, d: 1 };
  const policy = make(dedicatedLanes, { workers }, { lanes: ["a", "b", "c", "d"] });
  const view = (...running: readonly number[]) =>
    makeView({
      live: 2,
      busy: running.reduce((sum, count) => sum + count),
      lanes: running.map((count) => ({ ready: 1, running: count })),
    });

  const free = view(0, 0, 0, 0);
  assert.equal(policy(free, free.lanes.slice(3)), free.lanes[3]);
  const taken = view(0, 0, 0, 1);
  assert.equal(policy(taken, taken.lanes.slice(1)), undefined, "the other worker is that of a");
  assert.equal(policy(taken, taken.lanes), taken.lanes[0]);
});

Deno.test("dedicatedLanes counts a retiring worker until its job has ended", () => {
  const policy = make(dedicatedLanes, seedWorkers);
  // Shrunk from 10 to 5 while all batch workers are busy: 3 of their 8 leave after their job.
  const view = makeView({
    live: 6,
    busy: 5,
    lanes: [{ running: 1, ready: 1 }, { running: 7, ready: 1 }],
  });

  assert.equal(policy(view, view.lanes), view.lanes[0]); // 2 and 7 of the 9 that run or may run
});

Deno.test("dedicatedLanes gives every free worker to some lane when all have work, at any size", () => {
  const policy = make(dedicatedLanes, { workers: { a: 1, b: 5, c: 3 } }, {
    lanes: ["a", "b", "c"],
  });
  fc.assert(fc.property(fc.integer({ min: 1, max: 40 }), (live) => {
    const running = [0, 0, 0];
    for (let busy = 0; busy < live; busy++) {
      const view = makeView({
        live,
        busy,
        lanes: running.map((count) => ({ running: count, ready: 1 })),
      });
      const chosen = policy(view, view.lanes);
      assert.ok(chosen !== undefined);
      running[chosen.index]!++;
    }
    if (live >= 3) assert.ok(running.every((count) => count >= 1));
  }));
});

Deno.test("dedicatedLanes holds the figures of the lanes experiment: isolation, and no help in a spike", () => {
  const slow = meanOfRuns(() => make(dedicatedLanes, seedWorkers), 30);
  const fast = meanOfRuns(() => make(dedicatedLanes, seedWorkers), 150);

  // Published: 20.2 / 21.4 ms at 41.5 batch jobs/s; 1,487 / 2,924 ms with 832 of 1,200 done at 42.5.
  assert.equal(slow.done, 240);
  assert.ok(near(slow.p50, 20.2, 0.01), `p50 ${slow.p50}`);
  assert.ok(near(slow.p99, 21.4, 0.02), `p99 ${slow.p99}`);
  assert.ok(near(slow.batchPerSec, 41.9, 0.02), `${slow.batchPerSec} batch jobs/s`);
  assert.ok(near(fast.done, 832, 0.01), `${fast.done} done`);
  assert.ok(near(fast.p50, 1487, 0.02), `p50 ${fast.p50}`);
  assert.ok(near(fast.p99, 2924, 0.02), `p99 ${fast.p99}`);
  assert.ok(near(fast.batchPerSec, 41.9, 0.02), `${fast.batchPerSec} batch jobs/s`);
  assert.equal(fast.mostBatch, 8);
});

Deno.test("dedicatedLanes refuses lanes that the pool does not have, and lanes left out", () => {
  assert.throws(
    () => make(dedicatedLanes, { workers: { urgent: 2, bacth: 8 } }),
    (thrown) => {
      assert.ok(thrown instanceof OptionError);
      assert.deepEqual(thrown.path, ["workers", "bacth"]);
      assert.equal(
        thrown.message,
        'No lane is named "bacth": the pool has "urgent", "batch"',
      );
      return true;
    },
  );
  assert.throws(
    () => make(dedicatedLanes, { workers: { urgent: 2 } }),
    (thrown) => {
      assert.ok(thrown instanceof OptionError);
      assert.deepEqual(thrown.path, ["workers"]);
      assert.equal(
        thrown.message,
        'Expected workers for every lane but "batch" has none: it would never be served',
      );
      return true;
    },
  );
});

Deno.test("dedicatedLanes refuses counts that are not whole or below one", () => {
  assert.deepEqual(faultsOf(dedicatedLanes, { workers: { urgent: 0, batch: 2.5 } }), [
    "workers.urgent: Invalid value: Expected >=1 but received 0",
    "workers.batch: Invalid integer: Received 2.5",
  ]);
  assert.equal(faultsOf(dedicatedLanes, {}).length, 1);
});
