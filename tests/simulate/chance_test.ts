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
