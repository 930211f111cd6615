/**
 * The `reserved-lane` lane policy.
 *
 * @module
 */

import * as v from "valibot";
import { OptionError } from "../../src/contract/errors.ts";
import { defineLanePolicy, type Plugin, type PluginContext } from "../../src/contract/plugin.ts";
import type { LanePolicy } from "../../src/contract/strategy.ts";
import type { LaneView } from "../../src/contract/view.ts";
import { autoReserve, type KeepFor } from "./_auto_reserve.ts";
import { checkLaneNames } from "./_lane_names.ts";

/** Options of `reserved-lane`. */
export interface ReservedLaneOptions {
  /**
   * Workers kept for each lane named, fewer than `size.max` in all; the rest is shared. `"auto"`: for
   * every lane but the lowest what its measured traffic needs, following it.
   *
   * @default {"auto"}
   */
  readonly reserve?: "auto" | Readonly<Record<string, number>>;
}

const Options = v.strictObject({
  reserve: v.exactOptional(
    v.union([
      v.literal("auto"),
      v.record(v.string(), v.pipe(v.number(), v.integer(), v.minValue(0))),
    ], 'Expected "auto" or numbers of workers by lane, such as { "urgent": 2 }'),
    "auto",
  ),
});

/**
 * Keeps workers for lanes; all others serve the highest lane that has work. The reserve covers a
 * lane's normal load, sharing covers its spikes.
 *
 * A reserve counts workers, not free slots: the jobs of other lanes run on at most
 * `workers - reserve` of them, where a worker that retires counts until its job has ended. With
 * several reserves all hold together: a lane beyond its own takes a worker only if those left idle
 * still cover what every other lane has not used of its reserve.
 *
 * While the pool is small the reserves give way, those of the lowest lanes first, until one worker
 * is shared; one worker alone serves by priority. What a lane cannot use, because it is paused or
 * by its `maxRunning`, is not kept for it.
 */
export const reservedLane: Plugin<"lane-policy", ReservedLaneOptions> = defineLanePolicy({
  name: "reserved-lane",
  options: Options,
  variants: ({ reserve }, { lanes, size }) =>
    lanes.slice(0, -1).flatMap((lane) => {
      const kept = reserve === "auto" ? {} : reserve;
      const now = kept[lane] ?? 0;
      return [now - 2, now - 1, now + 1, now + 2, now * 2]
        .filter((count) => count >= 0 && count < size.max)
        .map((count) => ({ reserve: { ...kept, [lane]: count } }));
    }),
  create: ({ reserve }, context) =>
    reserve === "auto"
      ? keep(context.lanes.length, autoReserve(context.lanes.length - 1))
      : keep(context.lanes.length, fixedReserve(reserve, context)),
});

function fixedReserve(
  reserve: Readonly<Record<string, number>>,
  context: PluginContext,
): KeepFor {
  checkLaneNames("reserve", reserve, context);
  const { max } = context.size;
  const byIndex = context.lanes.map((lane) =>
    Object.hasOwn(reserve, lane) ? reserve[lane] ?? 0 : 0
  );
  const sum = byIndex.reduce((total, workers) => total + workers, 0);
  if (sum > 0 && sum >= max) {
    throw new OptionError(
      ["reserve"],
      `Expected reserves of fewer than size.max (${max}) workers in all but received ${sum}: ` +
        "at least one worker must be shared",
    );
  }
  return (lane) => byIndex[lane.index] ?? 0;
}

function keep(lanes: number, reserveOf: KeepFor): LanePolicy {
  const unused = new Int32Array(lanes); // by lane; reused, as this is asked for every start
  let shown: readonly LaneView[] = [];
  let all = shown; // a copy: loops over a frozen list are ten times slower
  return (view, eligible) => {
    if (view.lanes !== shown) {
      shown = view.lanes;
      all = [...shown];
    }
    let room = view.live - 1; // one worker stays shared
    let kept = 0;
    for (const lane of all) {
      const reserve = lane.paused ? 0 : reserveOf(lane, view.nowMs, all);
      const usable = lane.maxRunning < reserve ? lane.maxRunning : reserve;
      const held = usable < room ? usable : Math.max(0, room);
      const left = held - lane.running;
      room -= held;
      unused[lane.index] = left;
      if (left > 0) kept += left;
    }
    for (const lane of eligible) {
      if (view.idle > kept || unused[lane.index]! > 0) return lane;
    }
    return undefined;
  };
}
