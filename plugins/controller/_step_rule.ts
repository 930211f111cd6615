/**
 * Grow by a step while a queue is pressed, let one worker go after a sustained idle period.
 *
 * @module
 */

import { duration } from "../../src/base/format.ts";
import type { Controller, Proposal } from "../../src/contract/strategy.ts";
import type { LaneView, PoolView } from "../../src/contract/view.ts";
import type { AgeScalerOptions } from "./age_scaler.ts";
import { GRAIN_MS, wantsWorkers } from "./_supply.ts";

/** What the rule is tuned by. */
export interface StepRule extends Required<Pick<AgeScalerOptions, "growStep" | "idleMs">> {
  /** False: the lane never causes growth, its jobs fill what is spare. */
  readonly steers: (lane: LaneView) => boolean;
  /** Why to grow, with numbers. `undefined`: no need. */
  readonly pressed: (view: PoolView) => string | undefined;
}

/** At most one sample in this many ms, the tick of the autoscaling experiment: being asked more often grows no faster. */
const SAMPLE_MS = 50;

/** A pool is idle while it uses at most this share of its workers, and could do without one. */
const IDLE_SHARE = 0.75;

/**
 * Makes the rule of the published autoscaling experiment with three defects fixed. The idle period is one without a break. An
 * empty queue is not idleness: the mean use since the last sample decides, not the instant. A
 * shrink names the count to have, so that a repeated one cannot go further.
 */
export function stepRule({ growStep, idleMs, steers, pressed }: StepRule): Controller {
  let sampledAtMs = -Infinity;
  let sampledMs = 0;
  let idleSinceMs: number | undefined;

  return (view) => {
    const { nowMs, target } = view;
    const usedMs = neededMs(view);
    const elapsedMs = nowMs - sampledAtMs;
    if (view.stale) return { workers: target, reason: `counts are stale: hold ${target}` };
    if (elapsedMs < SAMPLE_MS - GRAIN_MS) return hold(view, "sampled just now");
    const busy = elapsedMs === Infinity ? view.busy : (usedMs - sampledMs) / elapsedMs;
    const beganAtMs = elapsedMs === Infinity ? nowMs : sampledAtMs;
    sampledAtMs = nowMs;
    sampledMs = usedMs;
    return step(view, busy, beganAtMs);
  };

  function step(view: PoolView, busy: number, beganAtMs: number): Proposal {
    const { target, nowMs, size } = view;
    const why = view.rateBound ? undefined : pressed(view);
    const used = `${busy.toFixed(1)} of ${target} used`;
    if (why !== undefined) {
      idleSinceMs = undefined;
      return { workers: target + growStep, reason: `${why}: ${growStep} more` };
    }
    const empty = view.rateBound ||
      view.lanes.every((lane) => !steers(lane) || !wantsWorkers(lane));
    if (!empty || busy > Math.min(IDLE_SHARE * target, target - 1) || target <= size.min) {
      idleSinceMs = undefined;
      return hold(view, used);
    }
    idleSinceMs ??= beganAtMs;
    const idleForMs = nowMs - idleSinceMs;
    if (idleForMs < idleMs - GRAIN_MS) {
      return hold(view, `${used}, idle for ${duration(idleForMs)}`);
    }
    idleSinceMs = nowMs;
    return {
      ...hold(view, used),
      workers: target - 1,
      reason: `${used} for ${duration(idleMs)}: 1 less`,
    };
  }

  /** Worker time spent so far, less that on lanes that fill what is spare. */
  function neededMs({ lanes, totals }: PoolView): number {
    return lanes.reduce((sum, lane) => steers(lane) ? sum : sum - lane.servedMs, totals.busyMs);
  }

  /** An idle pool has no ticks: asks to be asked when the idle period is over. */
  function hold({ target, nowMs, size }: PoolView, why: string): Proposal {
    const idleAtMs = idleSinceMs === undefined ? 0 : idleSinceMs + idleMs;
    const reviewAtMs = target > size.min ? Math.max(idleAtMs, nowMs + SAMPLE_MS) : undefined;
    return { workers: target, reason: `${why}: hold ${target}`, reviewAtMs };
  }
}
