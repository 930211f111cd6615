import assert from "node:assert/strict";
import { randomStream } from "../../src/base/random.ts";
import { Durations } from "../../src/simulate/quantiles.ts";
import { quantile } from "../../src/base/stats.ts";

Deno.test("Durations has exact quantiles of what it was given, by nearest rank", () => {
  const durations = new Durations();
  assert.equal(durations.quantiles(), undefined);
  for (let value = 1000; value >= 1; value--) durations.add(value);

  assert.deepEqual(durations.quantiles(), { p50: 500, p95: 950, p99: 990, max: 1000 });
});

Deno.test("Durations keeps quantiles within 0.1 % and the maximum exact, when there are very many", () => {
  const durations = new Durations();
  const random = randomStream(1);
  const all = Float64Array.from({ length: 200_000 }, () => -20 * Math.log(1 - random()));
  for (const value of all) durations.add(value);
  all.sort();

  const found = durations.quantiles()!;

  assert.equal(found.max, all.at(-1));
  for (const [key, share] of [["p50", 0.5], ["p95", 0.95], ["p99", 0.99]] as const) {
    const exact = quantile(all, share);
    assert(Math.abs(found[key] - exact) <= 0.0011 * exact, `${key}: ${found[key]}, ${exact}`);
  }
});

Deno.test("Durations of nothing but zeros and of centuries stay in their buckets", () => {
  const zeros = new Durations();
  const long = new Durations();
  for (let count = 0; count < 140_000; count++) {
    zeros.add(0);
    long.add(1e13);
  }

  assert.deepEqual(zeros.quantiles(), { p50: 0, p95: 0, p99: 0, max: 0 });
  assert.equal(long.quantiles()!.max, 1e13);
  assert(long.quantiles()!.p50 > 1e11);
});
