/**
 * Grow when a wait passes, or is predicted to pass, a share of its target; shrink to the recent
 * peak of the concurrency that was used.
 *
 * @module
 */

import type { Controller, Proposal } from "../../src/strategy.ts";
import type { PoolView } from "../../src/view.ts";
import { findGrowth, type Growth } from "./_demand.ts";
import { GRAIN_MS, wantsWorkers } from "./_supply.ts";
import { Peaks } from "./_peaks.ts";

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

/** Concurrency is averaged over so long before its peak is taken: shorter peaks queue instead. */
const SLOT_MS = 50;

/** A peak so little above a whole number needs no worker of its own. */
const SLACK = 0.05;

/** How soon a head that is due already is looked at again: where growth is refused, and after growth. */
const REFUSED_MS = 5;
const GROWN_MS = 1;

/** Makes the rule. It starts from `view.target` and lets nobody go before a full look-back. */
export function deadlineRule(options: DeadlineRule): Controller {
  const { targetWaitMs, grow, lookBackMs, maxLookBackMs } = options;
  const peaks = new Peaks();
  let lookMs = lookBackMs;
  let beganAtMs: number | undefined;
  let slotAtMs = 0;
  let slotBusyMs = 0;
  let grownAtMs = -Infinity;
  let shrunkAtMs = -Infinity;
  let adaptedAtMs = -Infinity;

  return (view) => {
    const measured = observe(view);
    if (view.stale) {
      return { workers: view.target, reason: `counts are stale: hold ${view.target}` };
    }
    const growth = view.rateBound ? undefined : findGrowth(view, grow);
    return growth === undefined ? shrinkOrHold(view, measured) : grown(view, growth);
  };

  function grown(view: PoolView, { workers, reason }: Growth): Proposal {
    const grows = workers > view.target && view.target < view.limit;
    if (grows) noteGrowth(view.nowMs);
    const reviewAtMs = headReview(view, grows ? GROWN_MS : REFUSED_MS);
    return { workers: Math.max(workers, view.target), reason, reviewAtMs };
  }

  /** Ends a slot: takes its mean concurrency from the integral of busy workers. False if the slot goes on. */
  function observe({ nowMs, totals: { busyMs } }: PoolView): boolean {
    if (beganAtMs === undefined) beganAtMs = nowMs;
    else if (nowMs - slotAtMs < SLOT_MS - GRAIN_MS) return false;
    else peaks.add(nowMs, (busyMs - slotBusyMs) / (nowMs - slotAtMs));
    slotAtMs = nowMs;
    slotBusyMs = busyMs;
    return true;
  }

  function shrinkOrHold(view: PoolView, measured: boolean): Proposal {
    const { nowMs, target, size } = view;
    const peak = peaks.max(nowMs - lookMs);
    const floor = Math.max(size.min, Math.ceil(peak - SLACK));
    const seen = `peak ${peak.toFixed(1)} of ${(lookMs / 1000).toFixed(1)} s`;
    const most = target - Math.max(1, 0.1 * target);
    const idle = peak < SLACK && floor < target; // the whole look-back long: no reason to stop short of the minimum
    const seenEnough = measured && nowMs - (beganAtMs ?? nowMs) >= lookMs - GRAIN_MS &&
      nowMs - grownAtMs >= 2 * SLOT_MS; // a slot that began before the growth says little
    if (seenEnough && isQuiet(view) && (floor < most || idle)) {
      shrunkAtMs = nowMs;
      return { workers: floor, reason: `${seen}: shrink to ${floor}` };
    }
    const quietForMs = nowMs - Math.max(shrunkAtMs, adaptedAtMs);
    if (lookMs > lookBackMs && quietForMs > 4 * lookMs) adapt(nowMs, lookMs / 2);
    const reviewAtMs = headReview(view, REFUSED_MS) ?? shrinkReview(view, most);
    return { workers: target, reason: `${seen}${heldBack(view)}: hold ${target}`, reviewAtMs };
  }

  /** A regrowth so soon says that the look-back was too short. Once a shrink. */
  function noteGrowth(nowMs: number): void {
    grownAtMs = nowMs;
    if (nowMs - shrunkAtMs < lookMs && adaptedAtMs < shrunkAtMs) adapt(nowMs, lookMs * 2);
  }

  function adapt(nowMs: number, toMs: number): void {
    lookMs = Math.max(lookBackMs, Math.min(maxLookBackMs, toMs));
    adaptedAtMs = nowMs;
  }

  /** No job that another worker could run waits for long. Where a start rate holds jobs back, their wait says nothing. */
  function isQuiet(view: PoolView): boolean {
    return view.rateBound ||
      view.lanes.every((lane) =>
        !wantsWorkers(lane) || lane.oldestWaitMs < (lane.targetWaitMs ?? targetWaitMs) / 4
      );
  }

  /** When the next head becomes due; `againMs` from now if one is. `undefined`: no job waits for a worker. */
  function headReview(view: PoolView, againMs: number): number | undefined {
    let inMs = Infinity;
    for (const lane of view.lanes) {
      if (lane.targetWaitMs === null || !wantsWorkers(lane)) continue;
      const leftMs = grow * lane.targetWaitMs - lane.oldestWaitMs;
      inMs = Math.min(inMs, leftMs > GRAIN_MS ? leftMs : againMs);
    }
    return inMs === Infinity ? undefined : view.nowMs + Math.max(inMs, floorMs(view));
  }

  /** An idle pool has no ticks: when the peaks that hold the workers have left the look-back. */
  function shrinkReview(view: PoolView, most: number): number | undefined {
    if (view.target <= view.size.min) return undefined;
    const level = view.size.min < most ? Math.ceil(most) - 1 + SLACK : SLACK / 2;
    const lastMs = peaks.lastAbove(level) ?? view.nowMs - lookMs;
    const openMs = (beganAtMs ?? view.nowMs) + lookMs;
    return Math.max(lastMs + lookMs + 1, openMs, view.nowMs + SLOT_MS);
  }
}

/** At the limit or a start rate, no wait can be helped: never at once. */
function floorMs(view: PoolView): number {
  return view.rateBound || view.target >= view.limit ? REFUSED_MS : GRAIN_MS;
}

function heldBack(view: PoolView): string {
  if (view.rateBound) return ", a start rate holds jobs back";
  let blocked = 0;
  for (const lane of view.lanes) blocked += lane.blocked;
  return blocked > 0 ? `, ${blocked} blocked that no worker could run` : "";
}
