/**
 * What `"auto"` reserves for a lane: what its traffic needs, and more where that proved too little.
 *
 * @module
 */

import type { LaneView } from "../../src/contract/view.ts";

/** Workers to keep for a lane, whole, >= 0. Asked at each start. */
export type KeepFor = (lane: LaneView, nowMs: number, lanes: readonly LaneView[]) => number;

/** Room that `"auto"` leaves above the mean load. */
const HEADROOM = 1.5;

/**
 * `max(1, ceil(rate * job time * headroom))` while the lane has traffic, 0 before and for the lowest.
 * That is enough where the pool grows for all jobs that are in the way. Jobs of a lane without a target take
 * each worker that comes of it, so beside them a lane gets one more for each long wait.
 */
export function autoReserve(lowest: number): KeepFor {
  const extras: Extra[] = [];
  return (lane, nowMs, lanes) => {
    const { arrivalsPerSec } = lane;
    if (lane.index === lowest || arrivalsPerSec === 0) return 0;
    const load = arrivalsPerSec * lane.meanServiceMs / 1000;
    const extra = extras[lane.index] ??= { workers: 0, atMs: -Infinity };
    let sinceMs = nowMs - extra.atMs;
    if (sinceMs > EXTRA_MS && extra.workers > 0) {
      extra.workers--;
      extra.atMs = nowMs;
      sinceMs = 0;
    }
    const longMs = (lane.targetWaitMs ?? Infinity) / 2;
    if (fills(lanes, lane) && sinceMs >= longMs && lane.oldestWaitMs >= longMs - GRAIN_MS) {
      extra.workers = Math.min(extra.workers + 1, Math.ceil(2 * Math.sqrt(load)));
      extra.atMs = nowMs;
    }
    return Math.max(1, Math.ceil(load * HEADROOM)) + extra.workers;
  };
}

/** Workers that `"auto"` keeps beyond the load, up to two standard deviations of a Poisson load. */
interface Extra {
  workers: number;
  /** When the last one came. */
  atMs: number;
}

/** One of them goes each five minutes: after one minute half the pools came to late waits again, eight changes each time. */
const EXTRA_MS = 300_000;

/** Waits closer than this, in ms, are the same. */
const GRAIN_MS = 0.001;

/** A lane without a target runs jobs below `lane`. */
function fills(lanes: readonly LaneView[], { index }: LaneView): boolean {
  for (let below = index + 1; below < lanes.length; below++) {
    if (lanes[below]!.targetWaitMs === null && lanes[below]!.running > 0) return true;
  }
  return false;
}
