import assert from "node:assert/strict";
import { shedAtCap } from "../../../plugins/admission/shed_at_cap.ts";
import {
  type LaneOverrides,
  makeSummary,
  makeView,
  makeWorker,
  type ViewOverrides,
} from "../../../src/testing/views.ts";
import type { Admission, Verdict } from "../../../src/contract/strategy.ts";
import { faultsOf, make } from "../_make.ts";

const noChance = { random: () => 0 };

/** 16 busy workers of 20 ms at their limit; one lane of 100 ms deadline with `ready` jobs. */
function full(ready: number, lane: LaneOverrides = {}, pool: ViewOverrides = {}) {
  return makeView({
    live: 16,
    busy: 16,
    limit: 16,
    ...pool,
    lanes: [{
      name: "urgent",
      ready,
      running: 16,
      meanServiceMs: 20,
      deadlineMs: 100,
      window: { serviceMs: makeSummary(20, 100) },
      ...lane,
    }],
  });
}

function submit(admission: Admission, view: ReturnType<typeof makeView>, lane = "urgent"): Verdict {
  return admission.submit({ lane, payload: null }, view);
}

Deno.test("shedAtCap refuses a job once its predicted wait and the p95 of run times pass the deadline", () => {
  const admission = make(shedAtCap, {}, noChance);

  // (queued + 1) S / w: 64 jobs before a new one are 80 ms, the run 20 ms.
  assert.deepEqual(submit(admission, full(63)), { admit: true });
  assert.deepEqual(submit(admission, full(64)), {
    admit: false,
    reason: '81 ms predicted wait + 20 ms p95 run time in lane "urgent" is over its deadline of ' +
      "100 ms, at the limit of 16 workers",
    retryAfterMs: 1.25,
  });
});

Deno.test("shedAtCap says when to come back from the same prediction, at least 1 ms", () => {
  const admission = make(shedAtCap, {}, noChance);
  const retryAfter = (ready: number): number => {
    const verdict = submit(admission, full(ready));
    assert.ok(!verdict.admit);
    return verdict.retryAfterMs;
  };

  assert.equal(retryAfter(143), 100); // 180 ms wait + 20 ms run - 100 ms
  assert.equal(retryAfter(1599), 1920);
  const verdict = submit(admission, full(64, { window: { serviceMs: makeSummary(18.8) } }));
  assert.equal(verdict.admit ? 0 : verdict.retryAfterMs, 1);
});

Deno.test("shedAtCap spreads when those refused together come back, never before the hint", () => { // case C12
  const admission = make(shedAtCap);

  const hints = Array.from({ length: 30 }, () => {
    const verdict = submit(admission, full(143));
    return verdict.admit ? NaN : verdict.retryAfterMs;
  });

  assert.ok(hints.every((hint) => hint >= 100 && hint <= 150));
  assert.ok(new Set(hints.map(Math.floor)).size > 15);
});

Deno.test("shedAtCap refuses nothing below the limit, and answers with one frozen verdict", () => {
  const admission = make(shedAtCap);
  const below = full(1e6, { oldestWaitMs: 1e6 }, { limit: 17 });

  const verdict = submit(admission, below);

  assert.deepEqual(verdict, { admit: true });
  assert.ok(Object.isFrozen(verdict));
  assert.equal(submit(admission, below), verdict);
});

Deno.test("shedAtCap counts stuck workers as at the limit, starting and retiring ones as not", () => {
  const pool = (state: "stuck" | "starting" | "retiring") =>
    full(1000, {}, {
      live: 15,
      busy: 15,
      workers: [
        ...Array.from({ length: 15 }, (_, index) => makeWorker({ id: `w${index}`, state: "busy" })),
        makeWorker({ id: "w15", state }),
      ],
    });
  const admission = make(shedAtCap);

  assert.equal(submit(admission, pool("stuck")).admit, false);
  assert.equal(submit(admission, pool("starting")).admit, true);
  assert.equal(submit(admission, pool("retiring")).admit, true);
});

Deno.test("shedAtCap never refuses when the predicted wait is below half a run time", () => {
  const admission = make(shedAtCap);
  const tight = { deadlineMs: 5 }; // shorter than any run

  assert.equal(submit(admission, full(6, tight)).admit, true); // 8.75 ms
  assert.equal(submit(admission, full(7, tight)).admit, false); // 10 ms
});

Deno.test("shedAtCap predicts no wait while a worker is idle and the lane is empty", () => {
  const admission = make(shedAtCap);
  const idle = { live: 16, busy: 15, idle: 1, limit: 16 };

  assert.equal(submit(admission, full(0, { deadlineMs: 1 }, idle)).admit, true);
});

Deno.test("shedAtCap does not count workers that are kept idle for another lane", () => {
  const admission = make(shedAtCap, {}, noChance);
  const reserved = makeView({
    live: 10,
    busy: 8,
    limit: 10,
    lanes: [{ name: "urgent", meanServiceMs: 20 }, {
      name: "batch",
      ready: 39,
      running: 8,
      meanServiceMs: 200,
      deadlineMs: 1000,
    }],
  });

  const verdict = submit(admission, reserved, "batch");

  assert.equal(verdict.admit ? 0 : verdict.retryAfterMs, 200); // 40 x 200 / 8 + 200 - 1000
});

Deno.test("shedAtCap keeps lanes apart: a backlog below refuses nothing above", () => {
  const admission = make(shedAtCap);
  const lane = { meanServiceMs: 20, deadlineMs: 100, running: 8 };
  const view = makeView({
    live: 16,
    busy: 16,
    limit: 16,
    lanes: [
      { ...lane, name: "urgent", ready: 3, arrivalsPerSec: 600 },
      { ...lane, name: "batch", ready: 60 },
    ],
  });

  assert.equal(submit(admission, view, "urgent").admit, true);
  assert.equal(submit(admission, view, "batch").admit, false);
});

Deno.test("shedAtCap counts what arrives above: the lower lane drains with what is left", () => {
  const admission = make(shedAtCap, {}, noChance);
  const view = (arrivalsPerSec: number) =>
    makeView({
      live: 16,
      busy: 16,
      limit: 16,
      lanes: [
        { name: "urgent", running: 8, meanServiceMs: 20, arrivalsPerSec },
        { name: "batch", running: 8, meanServiceMs: 20, ready: 31, deadlineMs: 100 },
      ],
    });

  assert.equal(submit(admission, view(0), "batch").admit, true); // 40 ms
  const half = submit(admission, view(400), "batch"); // 40 / (1 - 0.5)
  assert.equal(half.admit, true);
  const most = submit(admission, view(10_000), "batch"); // 40 / (1 - 0.98)
  assert.ok(!most.admit && Math.abs(most.retryAfterMs - 1920) < 1e-6);
});

Deno.test("shedAtCap passes over a higher lane that is at its own bound", () => {
  const admission = make(shedAtCap);
  const view = makeView({
    live: 16,
    busy: 16,
    limit: 16,
    lanes: [
      {
        name: "slow",
        running: 4,
        maxRunning: 4,
        ready: 5000,
        meanServiceMs: 20,
        arrivalsPerSec: 900,
      },
      { name: "batch", running: 12, ready: 11, meanServiceMs: 20, deadlineMs: 100 },
    ],
  });

  assert.equal(submit(admission, view, "batch").admit, true); // 12 x 20 / 12
});

Deno.test("shedAtCap counts only its process's share of a store that several drain", () => {
  assert.equal(submit(make(shedAtCap), full(124, {}, { peers: 2 })).admit, true);
  assert.equal(submit(make(shedAtCap), full(128, {}, { peers: 2 })).admit, false);
});

Deno.test("shedAtCap never refuses delayed jobs, paused lanes and lanes it does not know", () => {
  const admission = make(shedAtCap);

  const later = admission.submit({ lane: "urgent", payload: null, delayMs: 1 }, full(1000));
  assert.equal(later.admit, true);
  assert.equal(submit(admission, full(1000, { paused: true })).admit, true);
  assert.equal(submit(admission, full(1000), "other").admit, true);
});

Deno.test("shedAtCap refuses every job with a deadline while a cap stops the pool", () => {
  const stopped = full(0, { running: 0 }, { live: 0, busy: 0, workers: [], limit: 0 });

  assert.deepEqual(submit(make(shedAtCap, {}, noChance), stopped), {
    admit: false,
    reason: 'endless predicted wait + 20 ms p95 run time in lane "urgent" is over its deadline ' +
      "of 100 ms, at the limit of 0 workers",
    retryAfterMs: 1000,
  });
});

Deno.test("shedAtCap refuses a lane without deadline once its age has been over target for afterMs", () => {
  const admission = make(shedAtCap, { afterMs: 500 }, noChance);
  const lane = { deadlineMs: undefined, targetWaitMs: 50 };
  const at = (nowMs: number, oldestWaitMs: number): Verdict =>
    submit(admission, full(99, { ...lane, oldestWaitMs }, { nowMs }));

  assert.equal(at(10_000, 60).admit, true); // over since 9,990
  assert.equal(at(10_200, 70).admit, true);
  assert.equal(at(10_489, 60).admit, true);
  assert.deepEqual(at(10_490, 60), {
    admit: false,
    reason: '60 ms age of lane "urgent" is over its target of 50 ms for 500 ms, at the limit of ' +
      "16 workers",
    retryAfterMs: 75, // 100 x 20 / 16 - 50
  });
  assert.equal(at(10_600, 50).admit, true); // back at target
  assert.equal(at(10_700, 60).admit, true);
});

Deno.test("shedAtCap does not take a long gap between submits for a long time over target", () => {
  const admission = make(shedAtCap, { afterMs: 500 });
  const lane = { deadlineMs: undefined, targetWaitMs: 50 };
  const at = (nowMs: number, oldestWaitMs: number): Verdict =>
    submit(admission, full(99, { ...lane, oldestWaitMs }, { nowMs }));

  assert.equal(at(10_000, 60).admit, true);
  assert.equal(at(20_000, 60).admit, true);
  assert.equal(at(30_000, 550).admit, false); // its head alone says 500 ms
});

Deno.test("shedAtCap never refuses a lane that has neither deadline nor target", () => {
  const lane = { deadlineMs: undefined, targetWaitMs: null, oldestWaitMs: 1e6 };

  assert.equal(submit(make(shedAtCap, { afterMs: 0 }), full(1e6, lane)).admit, true);
});

Deno.test("shedAtCap refuses by age when hanging handlers give no run time to predict from", () => {
  const hanging = full(5000, { meanServiceMs: 0, oldestWaitMs: 1200, window: {} });

  const verdict = submit(make(shedAtCap, {}, noChance), hanging);

  assert.ok(!verdict.admit);
  assert.match(verdict.reason, /over its deadline of 100 ms for 1\.1 s/);
  assert.equal(verdict.retryAfterMs, 1100);
});

Deno.test("shedAtCap take() drops what can no longer end within the deadline, at the limit", () => {
  const { take } = make(shedAtCap);
  const view = full(10);
  const lane = view.lanes[0]!;

  assert.equal(take!(lane, 80, view), true);
  assert.equal(take!(lane, 81, view), false);
});

Deno.test("shedAtCap take() drops only what is late already below the limit", () => {
  const { take } = make(shedAtCap);
  const view = full(10, {}, { limit: 32 });
  const lane = view.lanes[0]!;

  assert.equal(take!(lane, 100, view), true);
  assert.equal(take!(lane, 101, view), false);
});

Deno.test("shedAtCap take() starts what has hardly waited, although the deadline is shorter than a run", () => {
  const { take } = make(shedAtCap);
  const view = full(10, { deadlineMs: 30, meanServiceMs: 40, window: {} });
  const lane = view.lanes[0]!;

  assert.equal(take!(lane, 19, view), true);
  assert.equal(take!(lane, 20, view), false);
});

Deno.test("shedAtCap take() drops nothing of a lane without deadline", () => {
  const { take } = make(shedAtCap);

  const view = full(10, { deadlineMs: undefined, targetWaitMs: 1 });

  assert.equal(take!(view.lanes[0]!, 1e9, view), true);
});

Deno.test("shedAtCap refuses an afterMs that is no duration", () => {
  assert.deepEqual(faultsOf(shedAtCap, { afterMs: -1 }), [
    "afterMs: Invalid value: Expected >=0 but received -1",
  ]);
});
