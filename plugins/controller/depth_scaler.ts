/**
 * The `depth-scaler` controller: the rule of thumb to compare others with.
 *
 * @module
 */

import * as v from "valibot";
import { defineController, type Plugin } from "../../src/contract/plugin.ts";
import type { LaneView, PoolView } from "../../src/contract/view.ts";
import { wantsWorkers } from "./_supply.ts";
import { Count, Duration } from "./_options.ts";
import { stepRule } from "./_step_rule.ts";

/** Options of `depth-scaler`. */
export interface DepthScalerOptions {
  /** Grows while more ready jobs than this wait in this process's share, whole, >= 0. @default {40} */
  readonly growAbove?: number;
  /** Workers added at a time. @default {4} */
  readonly growStep?: number;
  /** How long without a break the pool is idle before one worker goes, ms. @default {1000} */
  readonly idleMs?: number;
}

const Options = v.strictObject({
  growAbove: v.exactOptional(
    v.pipe(
      v.number("Expected a count of jobs"),
      v.integer("Expected a whole number of jobs"),
      v.minValue(0, "Expected 0 jobs or more"),
    ),
    40,
  ),
  growStep: v.exactOptional(Count, 4),
  idleMs: v.exactOptional(Duration, 1000),
});

/**
 * Adds `growStep` workers while more than `growAbove` jobs are ready, lets one go after `idleMs`
 * of idleness. A depth means another wait at each throughput: prefer `age-scaler`.
 */
export const depthScaler: Plugin<"controller", DepthScalerOptions> = defineController({
  name: "depth-scaler",
  options: Options,
  variants: ({ growAbove, growStep, idleMs }) => [
    { growAbove: Math.floor(growAbove / 2) },
    { growAbove: growAbove * 2 },
    { growStep: growStep * 2 },
    { idleMs: idleMs * 2 },
  ],
  create: ({ growAbove, growStep, idleMs }) =>
    stepRule({ growStep, idleMs, steers: hasTarget, pressed: (view) => isDeep(view, growAbove) }),
});

function hasTarget({ targetWaitMs }: LaneView): boolean {
  return targetWaitMs !== null;
}

function isDeep({ lanes, peers, target }: PoolView, growAbove: number): string | undefined {
  let ready = 0;
  for (const lane of lanes) {
    if (hasTarget(lane) && wantsWorkers(lane)) ready += lane.ready;
  }
  const share = Math.ceil(ready / peers);
  if (target === 0 && share > 0) return `${share} ready and no worker`; // no depth is too low to be served
  return share > growAbove ? `${share} ready, above ${growAbove}` : undefined;
}
