import assert from "node:assert/strict";
import { shedAtCap } from "../../../plugins/admission/shed_at_cap.ts";
import { makeView } from "../../../src/conformance/views.ts";
import type { Admission } from "../../../src/strategy.ts";
import { make } from "../_make.ts";

/** Idle workers held back by a start rate. */
function bound(nowMs: number, starts: number, ready: number, rateBound = true) {
  return makeView({
    nowMs,
    live: 2,
    limit: 20,
    rateBound,
    totals: { starts },
    lanes: [{ name: "urgent", ready, meanServiceMs: 20, deadlineMs: 500 }],
  });
}

function wait(admission: Admission, nowMs: number, starts: number, ready: number): number {
  const verdict = admission.submit({ lane: "urgent", payload: null }, bound(nowMs, starts, ready));
  return verdict.admit ? 0 : verdict.retryAfterMs + 480;
}

Deno.test("shedAtCap drains the queue at the start rate while that binds, however idle the workers", () => {
  const admission = make(shedAtCap, {}, { random: () => 0 });
  for (let nowMs = 0; nowMs <= 10_000; nowMs += 10) wait(admission, nowMs, nowMs / 10, 1);

  assert.equal(Math.round(wait(admission, 10_010, 1001, 99)), 1000); // 100 starts/s
  assert.equal(wait(admission, 10_010, 1001, 40), 0);
});

Deno.test("shedAtCap names the start rate when that binds", () => {
  const admission = make(shedAtCap, {}, { random: () => 0 });

  const verdict = admission.submit({ lane: "urgent", payload: null }, bound(0, 0, 9));

  assert.deepEqual(verdict, {
    admit: false,
    reason: '10000 ms predicted wait + 20 ms p95 run time in lane "urgent" is over its deadline ' +
      "of 500 ms, bound by the start rate",
    retryAfterMs: 9520,
  });
});

Deno.test("shedAtCap knows the start rate within the first second after a long quiet time", () => {
  const admission = make(shedAtCap, {}, { random: () => 0 });
  wait(admission, 0, 0, 0);

  // A minute later a burst: 100 jobs start at once, then the rate binds.
  const quiet = bound(60_000, 0, 0, false);
  assert.equal(admission.submit({ lane: "urgent", payload: null }, quiet).admit, true);

  assert.equal(wait(admission, 60_100, 100, 40), 0); // 410 ms at 100 starts/s
  assert.equal(Math.round(wait(admission, 60_100, 100, 99)), 1000);
});

Deno.test("shedAtCap follows the start rate when that is changed", () => {
  const admission = make(shedAtCap, {}, { random: () => 0 });
  let starts = 0;
  for (let nowMs = 0; nowMs < 60_000; nowMs += 10) wait(admission, nowMs, starts++, 1);
  for (let nowMs = 60_000; nowMs < 80_000; nowMs += 100) wait(admission, nowMs, starts++, 1);

  assert.equal(Math.round(wait(admission, 80_000, starts, 99) / 100), 100); // 10 starts/s
});
