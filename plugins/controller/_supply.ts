/**
 * What the present workers can do for the waiting jobs of a lane.
 *
 * @module
 */

import type { LaneView, PoolView } from "../../src/contract/view.ts";

/** What a pool has to start jobs with. */
export interface Supply {
  /** The pool. */
  readonly view: PoolView;
  /** Workers that stay: live and starting ones, without those to be retired. */
  readonly workers: number;
  /** Of these, ones that run a job. */
  readonly busy: number;
  /** Of these, ones that can take a job without ending another first. */
  readonly fresh: number;
}

/** Times are compared to this many ms: a ms since epoch has no finer grain than a quarter of it. */
export const GRAIN_MS = 0.001;

/** Mean service time of the lane; its target until a job has ended. > 0. */
export function serviceOf(lane: LaneView): number {
  return lane.meanServiceMs || lane.targetWaitMs || lane.startWithinMs || 1;
}

/** What waits is started within this share of `startWithinMs`: the rest is for run times that differ. */
const START_SHARE = 0.9;

/**
 * How long the oldest job may go on waiting before its lane lacks workers, ms; not above 0 if it does.
 * `undefined`: the lane never causes growth.
 */
export function timeLeftMs(lane: LaneView, grow: number): number | undefined {
  const { targetWaitMs, startWithinMs, oldestWaitMs } = lane;
  if (targetWaitMs !== null) return grow * targetWaitMs - oldestWaitMs;
  return startWithinMs === undefined ? undefined : START_SHARE * startWithinMs - oldestWaitMs;
}

/** False: its jobs fill what is spare. */
export function causesGrowth({ targetWaitMs, startWithinMs }: LaneView): boolean {
  return targetWaitMs !== null || startWithinMs !== undefined;
}

/** True if the lane has ready jobs that another worker could run. */
export function wantsWorkers(lane: LaneView): boolean {
  return lane.ready > 0 && lane.running < lane.maxRunning;
}

/**
 * The workers that can serve waiting jobs. An idle worker beside ready jobs is kept from them by a
 * lane policy (a reserve), so with several lanes it does not count; with one it is about to start.
 */
export function supply(view: PoolView): Supply {
  const starting = view.live === view.workers.length
    ? 0
    : view.workers.filter(({ state }) => state === "starting").length;
  const workers = Math.min(view.live + starting, view.target);
  const busy = Math.min(view.busy, Math.max(0, workers - starting));
  const idle = view.lanes.length > 1 ? 0 : Math.max(0, workers - starting - busy);
  return { view, workers, busy, fresh: Math.min(workers, starting + idle) };
}

/**
 * Jobs of `lane` that the present workers start within `withinMs`, after the lanes above have had
 * theirs. One lane alone: w t/S. A worker that runs another lane's job ends it first: a share
 * t/S' of them does within t < S', and goes on with jobs of this lane.
 */
export function startsWithin(
  lane: LaneView,
  withinMs: number,
  { view, busy, fresh }: Supply,
): number {
  const serviceMs = serviceOf(lane);
  let running = 0;
  let starts = 0;
  let taken = 0;
  for (const other of view.lanes) {
    const otherMs = other.meanServiceMs || serviceMs;
    running += other.running;
    const ends = Math.min(1, withinMs / otherMs);
    const leftMs = withinMs - Math.min(withinMs, otherMs) / 2;
    starts += other.running * ends * Math.max(1, 0.5 + leftMs / serviceMs);
    if (other.index >= lane.index || other.targetWaitMs === null || withinMs === 0) continue;
    const jobs = other.ready / view.peers + other.arrivalsPerSec * withinMs / 1000;
    taken += jobs * Math.min(otherMs, withinMs) / Math.min(serviceMs, withinMs);
  }
  const perWorker = withinMs / serviceMs;
  if (running > busy) starts *= busy / running; // the others leave after their job
  else starts += (busy - running) * perWorker;
  return starts + fresh * (1 + perWorker) - taken;
}

/** This process's share of the lane's jobs that have waited `ageMs`, or a bound of it where other lanes have such jobs too. */
export function olderThan(lane: LaneView, ageMs: number, { view }: Supply): number {
  if (lane.oldestWaitMs < ageMs) return 0;
  const counted = view.readyOlderThan(ageMs);
  const jobs =
    counted <= view.lanes.length && lane.ready > counted && view.readyOlderThan(0) < lane.ready
      ? Math.ceil(lane.ready * (1 - Math.max(0, ageMs) / lane.oldestWaitMs)) // the store knows heads only: taken as come evenly
      : Math.min(lane.ready, counted);
  return Math.ceil(jobs / view.peers);
}
