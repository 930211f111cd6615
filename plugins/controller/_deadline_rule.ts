/**
 * Grow when a wait passes, or is predicted to pass, a share of its target; shrink to the recent
 * peak of the concurrency that was used.
 *
 * @module
 */

import type { Controller, Proposal } from "../../src/contract/strategy.ts";
import type { PoolView } from "../../src/contract/view.ts";
import { findGrowth, type Growth } from "./_demand.ts";
import { LookBack } from "./_look_back.ts";
import { GRAIN_MS, wantsWorkers } from "./_supply.ts";

/** What the rule is tuned by. */
export interface DeadlineRule {
  /** Target of lanes that never cause growth, for the shrink. */
  readonly targetWaitMs: number;
  /** Share of the target at which to grow. */
  readonly grow: number;
  /** How far back the peak is looked for. */
  readonly lookBackMs: number;
  /** How far back at most, after regrowths. */
  readonly maxLookBackMs: number;
}

/** A peak so little above a whole number needs no worker of its own. */
const SLACK = 0.05;

/** How soon a head that is due already is looked at again: where growth is refused, and after growth. */
const REFUSED_MS = 5;
const GROWN_MS = 1;

/** Makes the rule. It starts from `view.target` and lets nobody go before a full look-back. */
export function deadlineRule(options: DeadlineRule): Controller {
  const { targetWaitMs, grow, lookBackMs, maxLookBackMs } = options;
  const past = new LookBack(lookBackMs, maxLookBackMs);
  let shrink: { readonly to: number; readonly atMs: number } | undefined;

  return (view) => {
    past.observe(view);
    // A shrink asked for at an arrival is not followed: it has to wait for the tick.
    if (shrink !== undefined && view.target <= shrink.to) past.shrank(shrink.atMs);
    shrink = undefined;
    if (view.stale) {
      return { workers: view.target, reason: `counts are stale: hold ${view.target}` };
    }
    const growth = view.rateBound ? undefined : findGrowth(view, grow);
    return growth === undefined ? shrinkOrHold(view) : grown(view, growth);
  };

  function grown(view: PoolView, { workers, reason }: Growth): Proposal {
    const grows = workers > view.target && view.target < view.limit;
    if (grows) past.grew(view.nowMs, Math.min(workers, view.limit));
    const reviewAtMs = headReview(view, grows ? GROWN_MS : REFUSED_MS);
    return { workers: Math.max(workers, view.target), reason, reviewAtMs };
  }

  function shrinkOrHold(view: PoolView): Proposal {
    const { nowMs, target, size } = view;
    const peak = past.peak(nowMs);
    const floor = Math.max(size.min, Math.ceil(peak - SLACK));
    const seen = `peak ${peak.toFixed(1)} of ${(past.lookMs / 1000).toFixed(1)} s`;
    const idle = peak < SLACK && floor < target; // the whole look-back long: no reason to stop short of the minimum
    const spare = view.busy <= floor && (floor < leastShrink(target) || idle);
    if (spare && past.isFull(nowMs) && isQuiet(view)) {
      shrink = { to: floor, atMs: nowMs };
      const reason = `${seen}: shrink to ${floor}`;
      return { workers: floor, reason, reviewAtMs: shrinkReview(view, floor) };
    }
    past.kept(nowMs);
    const reviewAtMs = headReview(view, REFUSED_MS) ?? shrinkReview(view, target);
    return { workers: target, reason: `${seen}${heldBack(view)}: hold ${target}`, reviewAtMs };
  }

  /** No job that another worker could run waits for long. Where a start rate holds jobs back, their wait says nothing. */
  function isQuiet(view: PoolView): boolean {
    return view.rateBound ||
      view.lanes.every((lane) =>
        !wantsWorkers(lane) || lane.oldestWaitMs < (lane.targetWaitMs ?? targetWaitMs) / 4
      );
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

  /** An idle pool has no ticks: when the peaks that hold the workers have left the look-back. */
  function shrinkReview({ size, nowMs }: PoolView, target: number): number | undefined {
    if (target <= size.min) return undefined;
    const least = leastShrink(target);
    return past.clearOf(size.min < least ? Math.ceil(least) - 1 + SLACK : SLACK / 2, nowMs);
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
