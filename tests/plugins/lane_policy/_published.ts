/**
 * Means of the lanes experiment over seeds.
 *
 * @module
 */

import type { LanePolicy } from "../../../src/contract/strategy.ts";
import { type LanesResult, simulateLanes } from "./_lanes_sim.ts";

const SEEDS = 20;

/** Mean of each figure over the seeds; `mostBatch` is the most over all of them. */
export function meanOfRuns(create: () => LanePolicy, urgentPerSec: number): LanesResult {
  const runs = Array.from(
    { length: SEEDS },
    (_, seed) => simulateLanes(create(), urgentPerSec, seed),
  );
  const mean = (figure: (run: LanesResult) => number): number =>
    runs.reduce((sum, run) => sum + figure(run), 0) / SEEDS;
  return {
    done: mean((run) => run.done),
    p50: mean((run) => run.p50),
    p99: mean((run) => run.p99),
    warmP99: mean((run) => run.warmP99),
    batchPerSec: mean((run) => run.batchPerSec),
    mostBatch: Math.max(...runs.map((run) => run.mostBatch)),
  };
}

/** True if `value` is within `share` of `expected`. */
export function near(value: number, expected: number, share: number): boolean {
  return Math.abs(value - expected) <= share * expected;
}
