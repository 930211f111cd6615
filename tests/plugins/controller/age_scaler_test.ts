import assert from "node:assert/strict";
import { ageScaler } from "../../../plugins/controller/age_scaler.ts";
import { OptionError } from "../../../src/contract/errors.ts";
import { type LaneOverrides, makeView, VIEW_NOW_MS } from "../../../src/testing/mod.ts";
import { faults, make } from "./_make.ts";
import { saturated } from "./_saturated.ts";

Deno.test("ageScaler adds what the present workers cannot start in half the target, when jobs wait", () => {
  const proposal = make(ageScaler)(saturated({ ready: 10, oldestWaitMs: 1 }));

  // (q - w g/S) / (1 + g/S) = (10 - 4 x 1.25) / 2.25 = 2.2
  assert.equal(proposal.workers, 4 + 3);
  assert.equal(proposal.reason, "mail: 10 ready, 5.0 start within 25 ms: 3 more");
});

Deno.test("ageScaler holds, when the present workers start all in half the target", () => {
  const proposal = make(ageScaler)(saturated({ ready: 5, oldestWaitMs: 1 }));

  assert.equal(proposal.workers, 4);
  assert.equal(proposal.reason, "4 needed in the last 5 s: hold 4");
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

Deno.test("ageScaler says large numbers and long ages as people read them", () => {
  const proposal = make(ageScaler)(saturated({ ready: 12_345, oldestWaitMs: 115_168.8 }));

  assert.equal(proposal.reason, "mail: 12,343 waited 25 ms, oldest 1 min 55 s: 12,343 more");
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

Deno.test("ageScaler repeats itself, when asked twice of one view (G1)", () => {
  const controller = make(ageScaler);
  const view = saturated({ ready: 10, oldestWaitMs: 30 });

  assert.deepEqual(controller(view), controller(view));
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
        "4 needed in the last 5 s, 499 blocked that no worker could run: hold 4",
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
  assert.equal(proposal.reason, "4 needed in the last 5 s, a start rate holds jobs back: hold 4");
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

Deno.test("ageScaler lets an idle pool go to its minimum after the look-back, without a tick", () => {
  const controller = make(ageScaler);
  const at = (afterMs: number, servedMs: number) =>
    controller(makeView({
      nowMs: VIEW_NOW_MS + afterMs,
      size: { min: 2, max: 32 },
      live: 3,
      lanes: [{ servedMs }],
    }));

  assert.equal(at(0, 0).workers, 3);
  assert.equal(at(50, 150).workers, 3);
  const asked = at(100, 150);
  assert.equal(asked.workers, 3);
  assert.equal(asked.reviewAtMs, VIEW_NOW_MS + 50 + 5000 + 1);
  const last = at(5051, 150);
  assert.equal(last.workers, 2);
  assert.equal(last.reason, "0 needed in the last 5 s: shrink to 2");
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
