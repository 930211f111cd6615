import assert from "node:assert/strict";
import { ageScaler } from "../../../plugins/controller/age_scaler.ts";
import { OptionError } from "../../../src/errors.ts";
import {
  type LaneOverrides,
  makeView,
  VIEW_NOW_MS,
  type ViewOverrides,
} from "../../../src/testing.ts";
import type { WorkerState } from "../../../src/view.ts";
import { faults, make } from "./_make.ts";

/** All workers run a 20 ms job of a lane with a target of 50 ms. */
function saturated(
  lane: LaneOverrides,
  overrides: ViewOverrides = {},
): ReturnType<typeof makeView> {
  const lanes = [{ name: "mail", targetWaitMs: 50, meanServiceMs: 20, ...lane }];
  return makeView({ live: 4, busy: 4, size: { min: 2, max: 32 }, lanes, ...overrides });
}

Deno.test("ageScaler adds what the present workers cannot start in half the target, when jobs wait", () => {
  const proposal = make(ageScaler)(saturated({ ready: 10, oldestWaitMs: 1 }));

  // (q - w g/S) / (1 + g/S) = (10 - 4 x 1.25) / 2.25 = 2.2
  assert.equal(proposal.workers, 4 + 3);
  assert.equal(proposal.reason, "mail: 10 ready, 5.0 start within 25 ms: 3 more");
});

Deno.test("ageScaler holds, when the present workers start all in half the target", () => {
  const proposal = make(ageScaler)(saturated({ ready: 5, oldestWaitMs: 1 }));

  assert.equal(proposal.workers, 4);
  assert.equal(proposal.reason, "peak 0.0 of 5.0 s: hold 4");
});

Deno.test("ageScaler asks to be asked when the head is half its target old", () => {
  const proposal = make(ageScaler)(saturated({ ready: 1, oldestWaitMs: 10 }));

  assert.equal(proposal.reviewAtMs, VIEW_NOW_MS + 15);
});

Deno.test("ageScaler adds one, when the head is half its target old", () => {
  const proposal = make(ageScaler)(saturated({ ready: 1, oldestWaitMs: 25 }));

  assert.deepEqual(proposal, {
    workers: 5,
    reason: "mail: 1 waited 25 ms, oldest 25 ms: 1 more",
    reviewAtMs: VIEW_NOW_MS + 1,
  });
});

Deno.test("ageScaler adds what is lacking until the target, when a burst is due and nothing can be predicted", () => {
  const burst = saturated({ ready: 40, oldestWaitMs: 25, meanServiceMs: 0 }, {
    readyOlderThan: (ageMs) => ageMs <= 25 ? 40 : 0,
  });

  // S = tau: (40 - 4 x 0.5) / (1 + 0.5) = 25.3
  assert.equal(make(ageScaler)(burst).workers, 4 + 26);
});

Deno.test("ageScaler adds no more than are due, when many wait but few for long", () => {
  const view = saturated({ ready: 40, oldestWaitMs: 49, meanServiceMs: 0 }, {
    readyOlderThan: (ageMs) => ageMs <= 0 ? 40 : ageMs <= 49 ? 3 : 0,
  });

  assert.equal(make(ageScaler)(view).workers, 4 + 3);
});

Deno.test("ageScaler takes ages to be even, when the store knows only the head", () => {
  const view = saturated({ ready: 40, oldestWaitMs: 50, meanServiceMs: 0 }, {
    readyOlderThan: (ageMs) => ageMs <= 50 ? 1 : 0,
  });

  assert.equal(make(ageScaler)(view).workers, 4 + 20); // of 21 taken as due; all 40, as young as 0 to 6 ms, lack (40 - 3.5) / 1.875
});

Deno.test("ageScaler starts at once from none, when a job waits", () => {
  const view = saturated({ ready: 1, meanServiceMs: 0 }, { live: 0, busy: 0, workers: [] });

  assert.equal(make(ageScaler)(view).workers, 1);
});

Deno.test("ageScaler counts workers on their way once (A7)", () => {
  const states: WorkerState[] = ["busy", "busy", "starting", "starting", "starting"];
  const workers = states.map((state, index) => ({ id: `w${index}`, state }));
  const view = (ready: number, target: number) =>
    saturated({ ready, oldestWaitMs: 1 }, { live: 2, busy: 2, target, workers });

  // (q - 2 x 1.25 - 3 x 2.25) / 2.25
  assert.equal(make(ageScaler)(view(9, 5)).workers, 5);
  assert.equal(make(ageScaler)(view(11, 5)).workers, 5 + 1);
  assert.equal(make(ageScaler)(view(9, 9)).workers, 9); // others have yet to be started
});

Deno.test("ageScaler leaves due jobs to the workers that are starting for them (A7)", () => {
  const workers = [{ id: "w1", state: "busy" }, { id: "w2", state: "starting" }] as const;
  const due = (ready: number) =>
    saturated({ ready, oldestWaitMs: 30 }, {
      live: 1,
      busy: 1,
      target: 2,
      workers,
      readyOlderThan: (ageMs) => ageMs <= 30 ? ready : 0,
    });

  assert.equal(make(ageScaler)(due(1)).workers, 2);
  assert.equal(make(ageScaler)(due(1)).reviewAtMs, VIEW_NOW_MS + 5);
  assert.equal(make(ageScaler)(due(2)).workers, 3);
});

Deno.test("ageScaler repeats itself, when asked twice of one view (G1)", () => {
  const controller = make(ageScaler);
  const view = saturated({ ready: 10, oldestWaitMs: 30 });

  assert.deepEqual(controller(view), controller(view));
});

Deno.test("ageScaler does not count workers that are to leave", () => {
  const view = saturated({ ready: 6, oldestWaitMs: 1 }, { live: 9, busy: 9, target: 4 });

  assert.equal(make(ageScaler)(view).workers, 4 + 1); // (6 - 4 x 1.25) / 2.25, on the 4 that stay
});

Deno.test("ageScaler never grows for jobs that no worker could run (A1, A2)", () => {
  const lanes: LaneOverrides[] = [
    { delayed: 1 },
    { blocked: 499, running: 1 },
    { ready: 500, oldestWaitMs: 9000, running: 4, maxRunning: 4 },
    { ready: 500, oldestWaitMs: 9000, targetWaitMs: null },
  ];

  for (const lane of lanes) {
    const proposal = make(ageScaler)(saturated(lane));
    assert.equal(proposal.workers, 4);
    if (lane.blocked !== undefined) {
      assert.equal(
        proposal.reason,
        "peak 0.0 of 5.0 s, 499 blocked that no worker could run: hold 4",
      );
    }
  }
});

Deno.test("ageScaler grows by no more than a lane may run", () => {
  const lane = { ready: 500, oldestWaitMs: 9000, running: 4, maxRunning: 6 };

  assert.equal(make(ageScaler)(saturated(lane)).workers, 4 + 2);
});

Deno.test("ageScaler does not grow, while a start rate holds jobs back", () => {
  const proposal = make(ageScaler)(
    saturated({ ready: 99, oldestWaitMs: 900 }, { rateBound: true }),
  );

  assert.equal(proposal.workers, 4);
  assert.equal(proposal.reason, "peak 0.0 of 5.0 s, a start rate holds jobs back: hold 4");
});

Deno.test("ageScaler holds, while counts are stale", () => {
  const proposal = make(ageScaler)(saturated({ ready: 99, oldestWaitMs: 900 }, { stale: true }));

  assert.deepEqual(proposal, { workers: 4, reason: "counts are stale: hold 4" });
});

Deno.test("ageScaler looks again in 5 ms, when growth is refused", () => {
  const lane = { ready: 99, oldestWaitMs: 900 };

  assert.equal(make(ageScaler)(saturated(lane, { limit: 4 })).reviewAtMs, VIEW_NOW_MS + 5);
  assert.equal(make(ageScaler)(saturated(lane, { limit: 5 })).reviewAtMs, VIEW_NOW_MS + 1);
  const almost = { ready: 1, oldestWaitMs: 24 };
  assert.equal(make(ageScaler)(saturated(almost, { limit: 4 })).reviewAtMs, VIEW_NOW_MS + 5);
});

Deno.test("ageScaler steers on its share, when several processes serve the store", () => {
  const view = saturated({ ready: 19, oldestWaitMs: 1 }, { peers: 2 });

  assert.equal(make(ageScaler)(view).workers, 4 + 3); // 10 of 19: as with 10 ready and one process
});

Deno.test("ageScaler keeps to each lane's own target", () => {
  const lanes = (first: number, second: number) => [
    { targetWaitMs: 50, meanServiceMs: 20, ready: first, oldestWaitMs: 20 },
    { targetWaitMs: 1000, meanServiceMs: 200, ready: second, oldestWaitMs: 20, running: 4 },
  ];
  const ask = (first: number, second: number) =>
    make(ageScaler)(makeView({ live: 4, busy: 4, lanes: lanes(first, second) }));

  assert.equal(ask(0, 10).workers, 4); // 4 x 500 / 200 = 10 start in half a second
  assert.equal(ask(0, 14).workers, 6); // (14 - 10) / 3.5
  assert.equal(ask(1, 0).workers, 5); // of workers 200 ms long busy, half a one is free in 25 ms
  assert.equal(ask(0, 14).reviewAtMs, VIEW_NOW_MS + 480);
  assert.equal(ask(1, 14).reviewAtMs, VIEW_NOW_MS + 5);
});

Deno.test("ageScaler reckons a lane on what the lanes above leave", () => {
  const lower = { targetWaitMs: 1000, meanServiceMs: 200, ready: 10, oldestWaitMs: 20, running: 4 };
  const upper = { targetWaitMs: 1000, meanServiceMs: 20 };
  const ask = (lane: LaneOverrides) =>
    make(ageScaler)(makeView({ live: 4, busy: 4, lanes: [lane, lower] })).workers;

  assert.equal(ask(upper), 4);
  assert.equal(ask({ ...upper, ready: 40 }), 6); // 40 x 20 ms take 4 starts of 200 ms
  assert.equal(ask({ ...upper, arrivalsPerSec: 80 }), 6); // as do 80/s in half a second
  assert.equal(ask({ ...upper, ready: 40, targetWaitMs: null }), 4); // never causes growth
});

Deno.test("ageScaler does not count workers that a lane policy keeps idle", () => {
  const lanes = [{}, {
    targetWaitMs: 50,
    meanServiceMs: 20,
    ready: 10,
    oldestWaitMs: 1,
    running: 4,
  }];

  assert.equal(make(ageScaler)(makeView({ live: 6, busy: 4, lanes })).workers, 6 + 3);
});

Deno.test("ageScaler lets an idle pool go to its minimum after the look-back, without a tick", () => {
  const controller = make(ageScaler);
  const at = (afterMs: number, busyMs: number) =>
    controller(makeView({
      nowMs: VIEW_NOW_MS + afterMs,
      size: { min: 2, max: 32 },
      live: 3,
      totals: { busyMs },
    }));

  assert.equal(at(0, 0).workers, 3);
  assert.equal(at(50, 100).workers, 3);
  const asked = at(100, 100);
  assert.equal(asked.workers, 3);
  assert.equal(asked.reviewAtMs, VIEW_NOW_MS + 50 + 5000 + 1);
  const last = at(5051, 100);
  assert.equal(last.workers, 2);
  assert.equal(last.reason, "peak 0.0 of 5.0 s: shrink to 2");
});

Deno.test("ageScaler lets nobody go before a full look-back", () => {
  const controller = make(ageScaler, { lookBackMs: 1000 });
  const at = (afterMs: number) =>
    controller(makeView({ nowMs: VIEW_NOW_MS + afterMs, live: 9 })).workers;

  assert.deepEqual([0, 500, 999, 1049].map(at), [9, 9, 9, 0]);
});

Deno.test("ageScaler refuses options out of range", () => {
  assert.deepEqual(faults(ageScaler, { rule: "steps" }), [
    'Expected the rule "deadline" or "step"',
  ]);
  assert.deepEqual(faults(ageScaler, { grow: 0 }), ["Expected a share above 0"]);
  assert.deepEqual(faults(ageScaler, { grow: 1.5 }), ["Expected a share of at most 1"]);
  assert.deepEqual(faults(ageScaler, { grow: "half" }), ["Expected a share of the target wait"]);
  assert.deepEqual(faults(ageScaler, { targetWaitMs: 0 }), ["Expected a duration above 0 ms"]);
  assert.equal(faults(ageScaler, { target: 50 }).length, 1);
  assert.throws(
    () => make(ageScaler, { lookBackMs: 90_000 }),
    new OptionError(["maxLookBackMs"], "Expected at least lookBackMs (90000) but received 60000"),
  );
});
