/**
 * Operations a second that a durable store has to take.
 *
 * @module
 */

import { counted } from "../base/format.ts";
import type { StoreMeasure } from "../contract/plugin.ts";
import { type Concern, concern, figure } from "./concern.ts";
import type { PoolFacts } from "./facts.ts";

/** Loads of all pools of one config that its store is unlikely to take. */
export function lintStore(
  pools: readonly PoolFacts[],
  name: string,
  { writesPerJob, writesPerSec: most }: StoreMeasure,
): readonly Concern[] {
  const perSec = pools.reduce((sum, pool) => sum + pool.perSec, 0);
  const writesPerSec = perSec * writesPerJob;
  if (writesPerSec <= most) return [];
  const load = `${counted(figure(perSec), "job")}/s are ${figure(writesPerSec)} writes/s`;
  return [concern({
    code: "store-rate",
    severity: "warning",
    path: ["store"],
    message: `${load} to ${name}, which took ${most} in commits of ten: jobs wait for the store`,
    formula: `perSec x ${writesPerJob} > ${most}`,
    numbers: { perSec, writesPerSec },
    change: `Expect at most ${most / writesPerJob} jobs/s a store, enqueue in batches, ` +
      "or split the pools over several configs",
  })];
}
