/**
 * Reserves that do not fit under the limit of the pool.
 *
 * @module
 */

import { counted } from "../base/format.ts";
import { type Concern, concern } from "./concern.ts";
import type { PoolFacts } from "./facts.ts";
import { MOST_LANES, type Share, sharer } from "./shares.ts";

/** Reserves that give way because caps allow too few workers. */
export function lintReserve(pool: PoolFacts): readonly Concern[] {
  const { bounds, settings, context, lanes } = pool;
  const { workers } = bounds;
  if (lanes.length > MOST_LANES) return [];
  if (workers === 0 || workers >= settings.size.max) return []; // a reserve that size.max is too small for is a fault
  const kept = total(lanes.map(({ share }) => share));
  if (workers - kept !== 1) return []; // a policy that shares nothing splits any number
  let enough = workers;
  let wanted = kept;
  while (enough < settings.size.max) {
    const more = total(lanes.map(({ index }) => index).map(sharer(settings, enough + 1, context)));
    if (more === wanted) break;
    enough++;
    wanted = more;
  }
  if (wanted === kept) return [];
  return [concern({
    code: "reserve-over-limit",
    severity: "warning",
    path: [...pool.path, "lanePolicy"],
    message:
      `Lane policy "${settings.lanePolicy.name}" would keep ${counted(wanted, "worker")} but ` +
      `${bounds.binder.name} allows ${workers} in all: it keeps ${kept}`,
    formula: "reserves > workers - 1",
    numbers: { reserves: wanted, workers, kept },
    change: `Reserve at most ${workers - 1}, or raise ${bounds.binder.name} to ${wanted + 1}`,
  })];
}

function total(shares: readonly Share[]): number {
  return shares.reduce((sum, { kept }) => sum + kept, 0);
}
