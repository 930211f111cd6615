import assert from "node:assert/strict";
import fc from "fast-check";
import type { LaneSeries } from "../../src/simulate/mod.ts";
import { type LanePoint, Series, type SeriesPoint } from "../../src/simulate/series.ts";

const LANES = [{ name: "high", targetWaitMs: 50 }];

function sample(lane: Partial<LanePoint> = {}, rest: Partial<SeriesPoint> = {}): SeriesPoint {
  const none = { arrived: 0, done: 0, dead: 0, shed: 0, ageMs: 0 };
  return { min: 1, limit: 8, lanes: [{ ...none, ...lane }], ...rest };
}

function high(series: Series): LaneSeries {
  return series.report(LANES).lanes["high"]!;
}

Deno.test("Series begins with a round length of which a run has some 240", () => {
  assert.equal(new Series(24_000).dueMs, 100);
  assert.equal(new Series(86_400_000).dueMs, 500_000);
  assert.equal(new Series(1).dueMs, 10);
});

Deno.test("Series holds a figure of each stretch, and ends with a shorter one", () => {
  const series = new Series(2400);
  series.add(sample({ arrived: 3, ageMs: 7.12345 }));
  series.add(sample({ done: 2, ageMs: null }, { limit: null, min: null }));

  series.finish(25, sample({ shed: 1 }));

  assert.deepEqual(series.report(LANES), {
    bucketMs: 10,
    untilMs: 25,
    min: [1, null, 1],
    limit: [8, null, 8],
    lanes: {
      high: {
        targetWaitMs: 50,
        arrived: [3, 0, 0],
        done: [0, 2, 0],
        dead: [0, 0, 0],
        shed: [0, 0, 1],
        ageMs: [7.123, null, 0],
      },
    },
  });
});

Deno.test("Series adds what came at the very end of the last stretch to it", () => {
  const series = new Series(2400);
  series.add(sample({ arrived: 3, ageMs: 7 }));

  series.finish(10, sample({ arrived: 1, ageMs: 2 }));

  assert.deepEqual([high(series).arrived, high(series).ageMs], [[4], [7]]);
  assert.equal(series.report(LANES).untilMs, 10);
});

Deno.test("Series makes one of two when there are too many, and loses no job and no age", () => {
  const samples = fc.array(
    fc.record({ arrived: fc.nat(9), ageMs: fc.option(fc.nat(99), { nil: null }) }),
    { minLength: 1, maxLength: 3000 },
  );
  fc.assert(
    fc.property(samples, (list) => {
      const series = new Series(2400);
      for (const each of list) series.add(sample(each));
      const endMs = list.length * 10;
      series.finish(endMs, sample({ ageMs: null }));

      const { bucketMs, untilMs } = series.report(LANES);
      const { arrived, ageMs } = high(series);
      const sum = (counts: readonly number[]): number => counts.reduce((a, b) => a + b, 0);
      assert(arrived.length <= 480);
      assert.equal(arrived.length, Math.ceil(endMs / bucketMs));
      assert.equal(untilMs, endMs);
      assert.equal(sum(arrived), sum(list.map((each) => each.arrived)));
      const oldest = (ages: readonly (number | null)[]): number =>
        Math.max(...ages.map((ms) => ms ?? -1));
      assert.equal(oldest(ageMs), oldest(list.map((each) => each.ageMs)));
    }),
    { numRuns: 50 },
  );
});
