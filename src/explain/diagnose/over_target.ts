/**
 * Waits over their target: told at once, where findings take a minute to show.
 *
 * @module
 */

import { duration } from "../../base/format.ts";
import { type Finding, PRESSING_CODES } from "./finding.ts";
import type { LaneView } from "../../contract/view.ts";

/** A lane, as far as its wait is judged. */
export interface LaneWait {
  /** Its name. */
  readonly name: string;
  /** Wait that growth aims for, ms. `null`: none. */
  readonly targetWaitMs: number | null;
  /** Wait of its oldest ready job, ms. */
  readonly oldestWaitMs: number;
  /** True while none of its jobs may start. */
  readonly paused: boolean;
}

/** A pool, as far as the waits of its lanes are judged. */
export interface PoolWaits {
  /** True once it runs nothing any more. */
  readonly stopped: boolean;
  /** Its lanes. */
  readonly lanes: readonly LaneWait[];
  /** What its recent past shows. */
  readonly diagnosis: readonly Finding[];
}

/** What growth aims for in a lane, in words. `undefined`: nothing, the lane causes none. */
export function aimOf(
  { targetWaitMs, startWithinMs }: Pick<LaneView, "targetWaitMs" | "startWithinMs">,
): string | undefined {
  if (targetWaitMs !== null) return duration(targetWaitMs);
  if (startWithinMs === undefined) return undefined;
  return startWithinMs === 0
    ? "start as fast as the caps allow"
    : `start within ${duration(startWithinMs)}`;
}

/** True while the oldest ready job of a lane waits longer than growth aims for. */
export function isOverTarget({ targetWaitMs, oldestWaitMs, paused }: LaneWait): boolean {
  return !paused && targetWaitMs !== null && oldestWaitMs > targetWaitMs;
}

/** Names of the lanes that make a pool "over target". None where what says more is reported anyway. */
export function lanesOverTarget({ stopped, lanes, diagnosis }: PoolWaits): readonly string[] {
  if (stopped || diagnosis.some(({ code }) => PRESSING_CODES.includes(code))) return [];
  return lanes.filter(isOverTarget).map(({ name }) => name);
}
