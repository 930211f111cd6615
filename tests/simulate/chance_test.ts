import assert from "node:assert/strict";
import { randomStream } from "../../src/base/random.ts";
import { durations } from "../../src/simulate/chance.ts";
import type { Duration } from "../../src/simulate/scenario.ts";

const COUNT = 100_000;

function momentsOf(of: Duration): { readonly mean: number; readonly cv: number } {
  const draw = durations(of, randomStream(1));
  const values = Array.from({ length: COUNT }, draw);
  const mean = values.reduce((sum, value) => sum + value, 0) / COUNT;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / COUNT;
  return { mean, cv: Math.sqrt(variance) / mean };
}

Deno.test("durations() draws with the mean and the variation that each kind has", () => {
  const cases: readonly (readonly [Duration, number, number])[] = [
    [{ kind: "fixed", ms: 20 }, 20, 0],
    [{ kind: "uniform", min: 100, max: 300 }, 200, 200 / Math.sqrt(12) / 200],
    [{ kind: "exponential", ms: 20 }, 20, 1],
    [{ kind: "lognormal", ms: 20, cv: 0.5 }, 20, 0.5],
    [{ kind: "lognormal", ms: 20, cv: 2 }, 20, 2],
  ];
  for (const [of, mean, cv] of cases) {
    const found = momentsOf(of);

    assert(Math.abs(found.mean - mean) <= 0.02 * mean, `${JSON.stringify(of)}: ${found.mean}`);
    assert(Math.abs(found.cv - cv) <= 0.06 * cv, `${JSON.stringify(of)}: cv ${found.cv}`);
  }
});

Deno.test("durations() draws through the percentiles that are given, and nothing longer than max", () => {
  const draw = (of: Duration): Float64Array =>
    Float64Array.from({ length: COUNT }, durations(of, randomStream(1))).sort();
  const at = (sorted: Float64Array, share: number) => sorted[Math.floor(share * COUNT)]!;
  const measured = { p50: 20, p90: 45, p99: 700 } as const;
  const values = draw({ kind: "percentiles", ...measured, max: 900 });

  for (const [share, ms] of [[0.5, 20], [0.9, 45], [0.99, 700]] as const) {
    const found = at(values, share);
    assert(Math.abs(found - ms) <= 0.06 * ms, `p${share * 100}: ${found}`);
  }
  assert.equal(values.at(-1), 900);
  // Of two percentiles it is a log-normal, below the median too: p10 is as far from it as p90.
  const two = draw({ kind: "percentiles", p50: 20, p90: 40 });
  assert(Math.abs(at(two, 0.1) - 10) <= 0.3, `${at(two, 0.1)}`);
  const flat = draw({ kind: "percentiles", p50: 5, p99: 5 });
  assert(flat.every((ms) => Math.abs(ms - 5) < 1e-9));
});
