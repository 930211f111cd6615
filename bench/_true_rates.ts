/**
 * The published 2, 18, 2 workers: what the simulator gives where the ten seconds in the middle have a
 * true rate, since a loop that sleeps between jobs sends fewer than it says.
 *
 * @module
 */

import type { PoolInput } from "../src/config/input.ts";
import { type LaneLoad, simulate } from "../src/simulate/mod.ts";
import { seedRule } from "./_seed_rule.ts";

const RUN_MS = 20;
const RATES = [400, 440, 480, 520, 560, 600, 700, 800];

const RULES: readonly (readonly [name: string, controller: PoolInput["controller"]])[] = [
  ["published", seedRule],
  ["step", { use: "age-scaler", with: { rule: "step" } }],
  ["default", "age-scaler"],
];

/** A line for each rate: how far each rule goes, for even arrivals and on average of random ones. */
export async function* trueRateLines(seeds: number): AsyncGenerator<string> {
  yield "\n50, N, 50 jobs/s: workers before, at the peak (even arrivals; random ones on average), after";
  for (const perSec of RATES) {
    const shown: string[] = [];
    for (const [name, controller] of RULES) {
      const even = await counts("even", perSec, controller, 1);
      let sum = 0;
      for (let seed = 1; seed <= seeds; seed++) {
        sum += (await counts("poisson", perSec, controller, seed)).peak;
      }
      const { before, peak, after } = even;
      shown.push(`${name} ${before}, ${peak} (${(sum / seeds).toFixed(1)}), ${after}`);
    }
    const least = `${perSec}/s keep ${(perSec * RUN_MS / 1000).toFixed(1)} busy`;
    yield `  ${least.padEnd(22)} ${shown.map((text) => text.padEnd(28)).join("").trimEnd()}`;
  }
}

async function counts(
  kind: "even" | "poisson",
  perSec: number,
  controller: PoolInput["controller"],
  seed: number,
): Promise<{ readonly before: number; readonly peak: number; readonly after: number }> {
  const jobs: LaneLoad = {
    arrivals: {
      kind,
      phases: [
        { untilMs: 10_000, perSec: 50 },
        { untilMs: 20_000, perSec },
        { untilMs: 60_000, perSec: 50 },
      ],
    },
    serviceMs: { kind: "fixed", ms: RUN_MS },
  };
  const pool: PoolInput = {
    handler: "http",
    size: { min: 2, max: 32 },
    lanes: [{ name: "jobs", targetWaitMs: 50 }],
    admission: "admit-all",
    adaptive: false,
    controller,
  };
  const scenario = { durationMs: 60_000, pools: { seed: { lanes: { jobs } } } };
  const { workers } = (await simulate({ pools: { seed: pool } }, scenario, { seed }))
    .pools["seed"]!;
  const before = workers.timeline.findLast(([atMs]) => atMs < 10_000)?.[1] ?? pool.size.min;
  return { before, peak: workers.peak, after: workers.final };
}
