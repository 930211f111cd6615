import assert from "node:assert/strict";
import { shedAtCap } from "../../../plugins/admission/shed_at_cap.ts";
import { makeView } from "../../../src/testing/views.ts";
import { make } from "../_make.ts";

/** A job for a lane whose idle workers are held back by a start rate: ms until it is to come back, 0 if it is accepted. */
function hintMs(startsPerSec: number, ready: number): number {
  const view = makeView({
    live: 2,
    limit: 20,
    rateBound: true,
    startsPerSec,
    lanes: [{ name: "urgent", ready, meanServiceMs: 20, deadlineMs: 500 }],
  });
  const admission = make(shedAtCap, {}, { random: () => 0 });
  const verdict = admission.submit({ lane: "urgent", payload: null }, view);
  return verdict.admit ? 0 : verdict.retryAfterMs;
}

Deno.test("shedAtCap drains the queue at the start rate while that binds, however idle the workers", () => {
  assert.equal(hintMs(100, 40), 0);
  assert.equal(Math.round(hintMs(100, 99)), 520); // 100 jobs at 100/s + 20 ms run time - 500 ms
  assert.equal(Math.round(hintMs(10, 99)), 9520);
});

Deno.test("shedAtCap names the start rate when that binds", () => {
  const admission = make(shedAtCap, {}, { random: () => 0 });
  const view = makeView({
    live: 2,
    limit: 20,
    rateBound: true,
    startsPerSec: 1,
    lanes: [{ name: "urgent", ready: 9, meanServiceMs: 20, deadlineMs: 500 }],
  });

  const verdict = admission.submit({ lane: "urgent", payload: null }, view);

  assert.deepEqual(verdict, {
    admit: false,
    reason: '10 s predicted wait + 20 ms p95 run time in lane "urgent" is over its deadline ' +
      "of 500 ms, bound by the start rate",
    retryAfterMs: 9520,
  });
});
