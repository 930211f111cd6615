/**
 * Grow when a wait passes, or is predicted to pass, a share of its target; shrink to what proved
 * needed recently.
 *
 * @module
 */

import { duration } from "../../src/base/format.ts";
import type { Controller, Proposal } from "../../src/contract/strategy.ts";
import type { PoolView } from "../../src/contract/view.ts";
import { findGrowth, type Growth } from "./_demand.ts";
import { NeededWorkers, type NeedOptions } from "./_need.ts";
import { GRAIN_MS, wantsWorkers } from "./_supply.ts";

/** How soon a head that is due already is looked at again: where growth is refused, and after growth. */
const REFUSED_MS = 5;
const GROWN_MS = 1;

/** Makes the rule. It starts from `view.target` and lets nobody go before a full look-back. */
export function deadlineRule(options: NeedOptions): Controller {
  const { grow, lookBackMs } = options;
  const need = new NeededWorkers(options);
  let shrink: { readonly to: number; readonly from: number; readonly atMs: number } | undefined;

  return (view) => {
    need.observe(view);
    // A shrink asked for at an arrival is not followed: it has to wait for the tick.
    if (shrink !== undefined && view.target <= shrink.to) need.shrank(shrink.atMs, shrink.from);
    shrink = undefined;
    if (view.stale) {
      return { workers: view.target, reason: `counts are stale: hold ${view.target}` };
    }
    const growth = view.rateBound ? undefined : findGrowth(view, grow);
    return growth === undefined ? shrinkOrHold(view) : grown(view, growth);
  };

  function grown(view: PoolView, { workers, reason }: Growth): Proposal {
    const grows = workers > view.target && view.target < view.limit;
    const to = grows ? need.grew(view, Math.min(workers, view.limit)) : 0;
    const reviewAtMs = headReview(view, grows ? GROWN_MS : REFUSED_MS);
    return to > workers
      ? { workers: to, reason: `${reason}, back to ${to}`, reviewAtMs }
      : { workers: Math.max(workers, view.target), reason, reviewAtMs };
  }

  function shrinkOrHold(view: PoolView): Proposal {
    const { nowMs, target, size } = view;
    const needed = need.workers(nowMs);
    const floor = Math.max(size.min, needed);
    const seen = `${needed} needed in the last ${duration(need.lookMs)}`;
    const isIdle = needed === 0 && floor < target; // the whole look-back long: no reason to stop short of the minimum
    if ((floor < leastShrink(target) || isIdle) && isQuiet(view)) {
      shrink = { to: floor, from: target, atMs: nowMs };
      const reason = `${seen}: shrink to ${floor}`;
      return { workers: floor, reason, reviewAtMs: shrinkReview(view, floor) };
    }
    need.kept(nowMs);
    const reviewAtMs = headReview(view, REFUSED_MS) ?? shrinkReview(view, target);
    return { workers: target, reason: `${seen}${heldBack(view)}: hold ${target}`, reviewAtMs };
  }

  /** No job with a short target waits for long. Where a start rate holds jobs back, their wait says nothing. */
  function isQuiet({ rateBound, lanes }: PoolView): boolean {
    return rateBound || lanes.every((lane) => {
      const { targetWaitMs, oldestWaitMs } = lane;
      return targetWaitMs === null || targetWaitMs > lookBackMs || !wantsWorkers(lane) ||
        oldestWaitMs < targetWaitMs / 4;
    });
  }

  /**
   * When the next head becomes due; `againMs` from now if one is. `undefined`: no job waits for a
   * worker, or `size.max` forbids another: only a reload changes that, and then the pool asks. Nor
   * while a start rate holds jobs back: the next tick is soon enough to see whether it still does.
   */
  function headReview(view: PoolView, againMs: number): number | undefined {
    if (view.target >= view.size.max || view.rateBound) return undefined;
    let inMs = Infinity;
    for (const lane of view.lanes) {
      if (lane.targetWaitMs === null || !wantsWorkers(lane)) continue;
      const leftMs = grow * lane.targetWaitMs - lane.oldestWaitMs;
      inMs = Math.min(inMs, leftMs > GRAIN_MS ? leftMs : againMs);
    }
    return inMs === Infinity ? undefined : view.nowMs + Math.max(inMs, floorMs(view));
  }

  /** An idle pool has no ticks: when the needs that hold the workers have left the look-back. */
  function shrinkReview({ size, nowMs }: PoolView, target: number): number | undefined {
    if (target <= size.min) return undefined;
    const least = leastShrink(target);
    return need.clearOf(size.min < least ? Math.ceil(least) - 1 : 0, nowMs);
  }
}

/** A shrink goes below this: fewer than two workers or a tenth are not worth a change. */
function leastShrink(target: number): number {
  return target - Math.max(1, 0.1 * target);
}

/** At the limit no wait can be helped: never at once. */
function floorMs(view: PoolView): number {
  return view.target >= view.limit ? REFUSED_MS : GRAIN_MS;
}

function heldBack(view: PoolView): string {
  if (view.rateBound) {
    return `, a ${view.holdUntilMs > 0 ? "cool-down" : "start rate"} holds jobs back`;
  }
  let blocked = 0;
  for (const lane of view.lanes) blocked += lane.blocked;
  return blocked > 0 ? `, ${blocked} blocked that no worker could run` : "";
}
