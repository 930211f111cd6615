/**
 * The `cooperative` retirement.
 *
 * @module
 */

import * as v from "valibot";
import { defineRetirement, type Plugin } from "../../src/contract/plugin.ts";
import type { Retirement } from "../../src/contract/strategy.ts";
import type { PoolView } from "../../src/contract/view.ts";
import { longestIn } from "./_surplus.ts";

/** Options of `cooperative`. */
export interface CooperativeOptions {
  /** Most workers let go at once, >= 1. Omitted: all that are too many. */
  readonly step?: number;
  /** Least time between two retirements, ms, >= 0. @default {0} */
  readonly everyMs?: number;
}

const Options = v.strictObject({
  step: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  everyMs: v.exactOptional(v.pipe(v.number(), v.minValue(0)), 0),
});

const NOBODY: readonly string[] = Object.freeze([]);

/**
 * Lets idle workers go at once, those idle longest first, then busy ones after their job, those that
 * began it longest ago first. No job is interrupted. In a pool of several lanes the last idle worker
 * stays if a busy one can go instead: the lane policy may keep it for a lane above.
 */
export const cooperative: Plugin<"retirement", CooperativeOptions> = defineRetirement({
  name: "cooperative",
  options: Options,
  create: ({ step = Infinity, everyMs }) => pace(step, everyMs),
});

function pace(step: number, everyMs: number): Retirement {
  let lastAtMs = -Infinity;
  return (view, excess) => {
    if (excess <= 0 || view.nowMs - lastAtMs < everyMs) return NOBODY;
    const count = Math.min(step, excess);
    const idle = longestIn("idle", view, count);
    const chosen = idle.length < view.idle
      ? idle
      : order(idle, longestIn("busy", view, count), view).slice(0, count);
    if (chosen.length > 0) lastAtMs = view.nowMs;
    return chosen;
  };
}

/** In which order they go where all that are idle would. */
function order(
  idle: readonly string[],
  busy: readonly string[],
  { lanes }: PoolView,
): readonly string[] {
  if (lanes.length === 1) return [...idle, ...busy];
  return [...idle.slice(0, -1), ...busy, ...idle.slice(-1)];
}
