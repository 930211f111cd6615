/**
 * What is left to do in a pool, for those who keep its process alive as long as that.
 *
 * @module
 */

import type { Queue } from "../store.ts";
import type { PoolState } from "./pool_state.ts";
import type { Settler } from "./settler.ts";

/** How long after a look whether all is done the next one comes, ms. */
export const SLICE_LOOK_MS = 50;

/** Counts anew: others may have added jobs. A store that fails is told of by the pool's own calls. */
export async function look(queue: Queue, nowMs: number): Promise<void> {
  try {
    await queue.count(nowMs);
  } catch {
    // The counts are the last known ones.
  }
}

/** Jobs that are ready, run here, are on their way into the store or out of it, or are due by then. */
export function jobsLeft(
  { state, settler }: { readonly state: PoolState; readonly settler: Settler },
  untilMs: number,
): number {
  let left = settler.outstanding;
  const isHeld = state.holdUntilMs > untilMs; // no job starts before, whatever is ready
  for (const lane of state.lanes) {
    left += (isHeld ? 0 : lane.ready) + lane.running + lane.adding;
    if (!isHeld && !lane.paused && lane.counts.nextDueAtMs <= untilMs) left++;
  }
  return left;
}
