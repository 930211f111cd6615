import assert from "node:assert/strict";
import { type Backoff, backoffMs, usualAttempts } from "../../src/base/backoff.ts";

const USUAL: Backoff = { baseMs: 1000, factor: 2, maxMs: 60_000, jitter: 0.5 };
const HOUR_MS = 3_600_000;

function waits(backoff: Backoff, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => backoffMs(backoff, index + 1));
}

Deno.test("waits double up to the longest", () => {
  assert.deepEqual(waits(USUAL, 8), [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  assert.equal(backoffMs(USUAL, 5000), 60_000);
});

Deno.test("waits grow by their factor, or are as listed, the last one again and again", () => {
  assert.deepEqual(waits({ ...USUAL, factor: 3 }, 4), [1000, 3000, 9000, 27_000]);
  assert.deepEqual(waits({ ...USUAL, factor: 1 }, 3), [1000, 1000, 1000]);
  assert.deepEqual(waits({ ...USUAL, delaysMs: [5, 60, 700] }, 5), [5, 60, 700, 700, 700]);
});

Deno.test("a lane has five attempts, one more than it lists waits, or as many as fit in its time", () => {
  assert.equal(usualAttempts(USUAL), 5);
  assert.equal(usualAttempts({ ...USUAL, delaysMs: [5, 60, 700] }), 4);
  assert.equal(usualAttempts({ ...USUAL, forMs: 7000 }), 4); // at 0, 1, 3 and 7 s
  assert.equal(usualAttempts({ ...USUAL, forMs: 500 }), 1);
  const slow = { ...USUAL, baseMs: 60_000, maxMs: 12 * HOUR_MS, forMs: 72 * HOUR_MS };
  assert.equal(usualAttempts(slow), 15);
  assert.equal(usualAttempts({ ...USUAL, baseMs: 0, forMs: 1 }), 100_000);
});
