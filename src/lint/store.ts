/**
 * Operations a second that a durable store has to take.
 *
 * @module
 */

import { counted } from "../base/format.ts";
import { type Concern, concern, figure } from "./concern.ts";
import type { PoolFacts } from "./facts.ts";

/** Enqueue, claim (one key goes, one comes) and end. */
const WRITES_PER_JOB = 4;

/** What a Deno KV file took in commits of ten, measured: more only with larger batches. */
const WRITES_PER_SEC = 36_000;

/** Loads of all pools of one config that its Deno KV file is unlikely to take. */
export function lintStore(pools: readonly PoolFacts[]): readonly Concern[] {
  const perSec = pools.reduce((sum, pool) => sum + pool.perSec, 0);
  const writesPerSec = perSec * WRITES_PER_JOB;
  if (writesPerSec <= WRITES_PER_SEC) return [];
  return [concern({
    code: "store-rate",
    severity: "warning",
    path: ["store"],
    message:
      `${counted(figure(perSec), "job")}/s are ${
        figure(writesPerSec)
      } writes/s to Deno KV, which took ` +
      `${WRITES_PER_SEC} in commits of ten: jobs wait for the store`,
    formula: `perSec x ${WRITES_PER_JOB} > ${WRITES_PER_SEC}`,
    numbers: { perSec, writesPerSec },
    change:
      `Expect at most ${WRITES_PER_SEC / WRITES_PER_JOB} jobs/s a store, enqueue in batches, ` +
      "or split the pools over several configs",
  })];
}
