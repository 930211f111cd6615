/**
 * The `dedicated-lanes` lane policy.
 *
 * @module
 */

import * as v from "valibot";
import { OptionError } from "../../src/contract/errors.ts";
import { defineLanePolicy, type Plugin, type PluginContext } from "../../src/contract/plugin.ts";
import type { LanePolicy } from "../../src/contract/strategy.ts";
import type { LaneView, PoolView } from "../../src/contract/view.ts";
import { apportion } from "./_apportion.ts";
import { checkLaneNames } from "./_lane_names.ts";

/** Options of `dedicated-lanes`. */
export interface DedicatedLanesOptions {
  /**
   * Workers of each lane, >= 1; every lane is named. At another pool size the workers are split in
   * these proportions by largest remainder, at least one each. With fewer workers than lanes the
   * highest lanes get one each, and the last worker serves all the others.
   */
  readonly workers: Readonly<Record<string, number>>;
}

const Options = v.strictObject({
  workers: v.record(v.string(), v.pipe(v.number(), v.integer(), v.minValue(1))),
});

/**
 * Gives each lane workers of its own. No lane disturbs another, and none helps another: a spike
 * beyond a lane's own workers grows its queue without bound.
 */
export const dedicatedLanes: Plugin<"lane-policy", DedicatedLanesOptions> = defineLanePolicy({
  name: "dedicated-lanes",
  options: Options,
  variants: ({ workers }) =>
    Object.entries(workers).flatMap(([lane, count]) =>
      [count - 1, count + 1, count * 2].filter((other) => other >= 1)
        .map((other) => ({ workers: { ...workers, [lane]: other } }))
    ),
  create: ({ workers }, context) => dedicate(sharesOf(workers, context)),
});

function sharesOf(
  workers: Readonly<Record<string, number>>,
  context: PluginContext,
): readonly number[] {
  checkLaneNames("workers", workers, context);
  return context.lanes.map((lane) => {
    const share = Object.hasOwn(workers, lane) ? workers[lane] : undefined;
    if (share === undefined) {
      throw new OptionError(
        ["workers"],
        `Expected workers for every lane but "${lane}" has none: it would never be served`,
      );
    }
    return share;
  });
}

function dedicate(shares: readonly number[]): LanePolicy {
  const splits = new Map<number, readonly number[]>();
  return (view, eligible) => {
    const workers = workersOf(view);
    if (workers < shares.length) return shareLast(view, eligible, workers - 1);
    let split = splits.get(workers);
    if (split === undefined) splits.set(workers, split = apportion(workers, shares));
    for (const lane of eligible) {
      if (lane.running < (split[lane.index] ?? 0)) return lane;
    }
    return undefined;
  };
}

/**
 * The choice of a pool that is smaller than its lanes are many: the highest ones have a worker each.
 * The others share the last, or their jobs would never start and never make the pool grow.
 */
function shareLast(
  { lanes }: PoolView,
  eligible: readonly LaneView[],
  own: number,
): LaneView | undefined {
  let shared = 0;
  for (const { index, running } of lanes) if (index >= own) shared += running;
  return eligible.find(({ index, running }) => index < own ? running === 0 : shared === 0);
}

/**
 * Workers to split: all that run a job, and the idle ones. A worker that retires counts until its
 * job has ended, because the job still counts as running for its lane.
 */
function workersOf(view: PoolView): number {
  let workers = view.idle;
  for (const lane of view.lanes) workers += lane.running;
  return workers;
}
