import assert from "node:assert/strict";
import fc from "fast-check";
import { BUCKETS_MS, Histogram } from "../../src/planning/lane_counters.ts";

Deno.test("Histogram puts each duration into the lowest bucket whose bound it does not pass", () => {
  const duration = fc.oneof(
    fc.double({ min: 0, max: 1e8, noNaN: true }),
    fc.constantFrom(...BUCKETS_MS),
  );
  fc.assert(fc.property(fc.array(duration), (durations) => {
    const histogram = new Histogram();
    for (const ms of durations) histogram.add(ms);

    const { count, sumMs, buckets } = histogram.read();

    let below = 0;
    BUCKETS_MS.forEach((bound, index) => {
      below += buckets[index] ?? NaN;
      assert.equal(below, durations.filter((ms) => ms <= bound).length);
    });
    assert.equal(below + (buckets.at(-1) ?? NaN), durations.length);
    assert.equal(count, durations.length);
    assert.equal(sumMs, durations.reduce((sum, ms) => sum + ms, 0));
  }));
});

Deno.test("Histogram answers copies that later durations do not change", () => {
  const histogram = new Histogram();
  histogram.add(3);

  const before = histogram.read();
  histogram.add(4);

  assert.equal(before.count, 1);
  assert.equal(histogram.read().count, 2);
  assert.equal(Object.isFrozen(before.buckets), true);
});

Deno.test("BUCKETS_MS rise, and hold the usual target of 50 ms as a bound", () => {
  assert.deepEqual(BUCKETS_MS, BUCKETS_MS.toSorted((a, b) => a - b));
  assert.equal(new Set(BUCKETS_MS).size, BUCKETS_MS.length);
  assert.ok(BUCKETS_MS.includes(50));
});
