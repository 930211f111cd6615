/**
 * What is left to do in a pool, for those who keep its process alive as long as that.
 *
 * @module
 */

import { type Clock, pause, within } from "../time/clock.ts";
import { StoreError } from "../contract/errors.ts";
import type { Counting } from "./counting.ts";
import type { Drain } from "./drain.ts";
import type { HandingOn } from "./handing_on.ts";
import type { Overruns } from "./overruns.ts";
import type { PoolLoop } from "./pool_loop.ts";
import type { PoolState } from "./pool_state.ts";
import type { Settler } from "./settler.ts";

/** How long after a look whether all is done the next one comes, ms. */
const SLICE_LOOK_MS = 50;

/** What a slice looks at. */
export interface SliceParts {
  readonly state: PoolState;
  readonly settler: Settler;
  readonly overruns: Overruns;
  readonly counting: Counting;
  readonly loop: PoolLoop;
  readonly drain: Drain;
  readonly handingOn: HandingOn;
}

/** The first count may take so long, even where the slice is shorter, ms. */
const FIRST_COUNT_MS = 1000;

/**
 * Waits until nothing is left to do by a count that is newer than that, at most until `untilMs`. How
 * many jobs are left: if the store fails meanwhile, by the last count that is known.
 *
 * @throws {StoreError} If there is none.
 */
export async function waitOut(parts: SliceParts, clock: Clock, untilMs: number): Promise<number> {
  const { counting, loop, drain } = parts;
  let isCounted = await countWithin(Math.max(untilMs - clock.nowMs(), FIRST_COUNT_MS));
  for (;;) {
    const left = jobsLeft(parts, untilMs);
    if (left === 0 && isCounted) return 0;
    const restMs = untilMs - clock.nowMs();
    if (restMs <= 0 || drain.begun) {
      if (counting.known) return left;
      throw new StoreError(
        undefined,
        "The store has not answered: how many jobs are left is not known",
      );
    }
    isCounted = left === 0 && await countWithin(restMs);
    if (!isCounted) await pause(clock, Math.min(restMs, SLICE_LOOK_MS));
  }

  async function countWithin(ms: number): Promise<boolean> {
    try {
      return await within(clock, counting.fresh(), { ms, late: "late" });
    } catch {
      return false; // what hangs is given up, and reported, by the store's guard
    } finally {
      loop.schedule(); // it sees what was counted
    }
  }
}

/** Jobs that are ready, run here, are on their way into the store or out of it, or are due by then. */
function jobsLeft({ state, settler, overruns, handingOn }: SliceParts, untilMs: number): number {
  let left = settler.outstanding + overruns.held + (handingOn.isAtWork ? 1 : 0);
  // No job starts before, whatever is ready.
  const isHeld = !state.worked || state.holdUntilMs > untilMs;
  for (const lane of state.lanes) {
    left += (isHeld ? 0 : lane.waiting) + (state.worked ? lane.running : 0) + lane.adding;
    if (!isHeld && !lane.paused && lane.nextDueAtMs <= untilMs) left++;
  }
  return left;
}
