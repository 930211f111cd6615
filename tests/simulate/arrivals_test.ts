import assert from "node:assert/strict";
import { randomStream } from "../../src/base/random.ts";
import { arrivalTimes } from "../../src/simulate/arrivals.ts";
import { type LaneLoad, simulate } from "../../src/simulate/mod.ts";

type Of = Parameters<typeof arrivalTimes>[0];

function timesOf(of: Of, untilMs: number, seed = 1): number[] {
  const times: number[] = [];
  const arrivals = arrivalTimes(of, untilMs, randomStream(seed));
  for (let next = arrivals.next(); !next.done && next.value <= untilMs; next = arrivals.next()) {
    times.push(next.value);
  }
  return times;
}

Deno.test("arrivalTimes() spaces even arrivals on an absolute schedule, phase by phase", () => {
  const phases = [{ untilMs: 100, perSec: 20 }, { untilMs: 200, perSec: 0 }, {
    untilMs: 240,
    perSec: 100,
  }];

  assert.deepEqual(timesOf({ kind: "even", phases }, 1000), [50, 100, 210, 220, 230, 240]);
  assert.deepEqual(timesOf({ kind: "even", perSec: 3 }, 1000).at(-1), 1000);
});

Deno.test("arrivalTimes() of a poisson process has its mean and its variance", () => {
  const times = timesOf({ kind: "poisson", perSec: 100 }, 1_000_000);
  const counts = Array.from({ length: 1000 }, () => 0);
  for (const atMs of times) counts[Math.min(999, Math.floor(atMs / 1000))]!++;

  const mean = times.length / 1000;
  const variance = counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / 999;

  assert(Math.abs(mean - 100) < 1, `mean ${mean}`);
  assert(Math.abs(variance - 100) < 15, `variance ${variance}`); // as great as the mean
});

Deno.test("arrivalTimes() of on-off arrive while it is on, evenly or not", () => {
  const cycle = { kind: "on-off", perSec: 100, onMs: 50, offMs: 150 } as const;

  const even = timesOf({ ...cycle, spacing: "even" }, 400);
  const poisson = timesOf({ ...cycle, spacing: "poisson" }, 40_000);

  assert.deepEqual(even, [10, 20, 30, 40, 50, 210, 220, 230, 240, 250]);
  assert(poisson.every((atMs) => atMs % 200 <= 50));
  assert(Math.abs(poisson.length - 1000) < 100, `${poisson.length}`);
});

Deno.test("arrivalTimes() of counts has as many in each minute as were counted, at random or evenly", () => {
  const perMin = [0, 3, 6000, 0, 1];
  const even = timesOf({ kind: "counts", perMin, spacing: "even" }, 400_000);
  const random = timesOf({ kind: "counts", perMin, spacing: "poisson" }, 400_000);
  const countsOf = (times: readonly number[]) =>
    perMin.map((_, minute) =>
      times.filter((atMs) => Math.ceil(atMs / 60_000) === minute + 1).length
    );

  assert.deepEqual(countsOf(even), perMin);
  assert.deepEqual(countsOf(random), perMin);
  assert.deepEqual(even.slice(0, 3), [80_000, 100_000, 120_000]);
  assert.deepEqual(random, random.toSorted((a, b) => a - b));
  const within = random.filter((atMs) => atMs > 120_000 && atMs <= 180_000);
  const tenths = Array.from(
    { length: 10 },
    (_, tenth) => within.filter((atMs) => Math.floor((atMs - 120_000) / 6_000) === tenth).length,
  );
  assert(tenths.every((count) => Math.abs(count - 600) < 100), `${tenths}`); // 4 standard deviations
});

Deno.test("arrivalTimes() replays a trace", () => {
  assert.deepEqual(timesOf({ kind: "trace", atMs: [0, 5, 5, 70] }, 60), [0, 5, 5]);
});

Deno.test("simulate() runs the jobs of the scenario alone: what ends lead to is none of it", async () => {
  const size = { min: 1, max: 4 };
  const pools = {
    p: { handler: "sleep", size, lanes: [{ name: "a" }], then: { pool: "care", lane: "in" } },
    care: { handler: "sleep", size, lanes: [{ name: "in" }] },
  };
  const load = (perSec: number): LaneLoad => ({
    arrivals: { kind: "even", perSec },
    serviceMs: { kind: "fixed", ms: 20 },
  });
  const loads = { p: { lanes: { a: load(20) } }, care: { lanes: { in: load(1) } } };

  const report = await simulate({ pools }, { durationMs: 10_000, pools: loads });

  const { arrived, done, left } = report.pools.care!.lanes.in!;
  assert.deepEqual([arrived, done + left], [10, 10]);
});
