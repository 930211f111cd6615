/**
 * Predicts how long a new job of a lane will wait.
 *
 * @module
 */

import type { LaneView, PoolView } from "../../src/contract/view.ts";

/** Most of the capacity that higher lanes are taken to use: there is always some left below. */
const MOST_LOAD = 0.98;

/** Mean run time of a lane's jobs, ms; that of the pool until one of the lane has ended, else 0. */
export function serviceMsOf(lane: LaneView, view: PoolView): number {
  return lane.meanServiceMs || (view.window.serviceMs?.mean ?? 0);
}

/** What is before a new job of a lane. */
interface Ahead {
  /** Ready jobs of this lane and the higher ones that this process will run. */
  readonly jobs: number;
  /** Their run time together, ms. */
  readonly workMs: number;
  /** Workers that the higher lanes' arrivals keep busy. */
  readonly loadAbove: number;
  /** Arrivals per second of the higher lanes. */
  readonly arrivalsAbove: number;
  /** Mean run time of what runs now, ms. */
  readonly runningMs: number;
}

/**
 * Wait of a job that would be enqueued now, ms; `Infinity` if nothing can run it.
 *
 * `wait_k = (queued in lanes <= k, + 1) S / (w (1 - rho_above))`, with
 * `rho_above = sum over higher lanes of lambda S / w`, at most 0.98. Each lane counts with its own
 * `S`; the `+ 1` is the time until the next worker is free, so it counts with the mean run time of
 * what runs now. While a start rate binds, the rate drains the queue instead: `(queued + 1) / rate`.
 * While the pool cools down, all of that comes after.
 */
export function predictWaitMs(view: PoolView, lane: LaneView): number {
  if (view.rateBound) {
    const ahead = lookAhead(view, lane);
    const heldMs = Math.max(0, view.holdUntilMs - view.nowMs);
    const byRate = waitForRateMs(ahead, view.startsPerSec);
    return heldMs +
      (view.idle > 0 ? byRate : Math.max(byRate, waitForWorkerMs(view, lane, ahead)));
  }
  if (view.idle > 0 && lane.ready === 0) return 0;
  return waitForWorkerMs(view, lane, lookAhead(view, lane));
}

function waitForRateMs({ jobs, arrivalsAbove }: Ahead, startsPerSec: number): number {
  if (startsPerSec === Infinity) return 0;
  const left = startsPerSec - Math.min(arrivalsAbove, MOST_LOAD * startsPerSec);
  return (jobs + 1) * 1000 / left;
}

function waitForWorkerMs(view: PoolView, lane: LaneView, ahead: Ahead): number {
  // An idle worker that this lane's waiting jobs have not got is kept for another lane.
  const usable = lane.ready > 0 ? view.live - view.idle : view.live;
  const workers = Math.min(usable, lane.maxRunning);
  if (workers <= 0) return Infinity;
  const loadAbove = Math.min(MOST_LOAD, ahead.loadAbove / workers);
  return (ahead.workMs + ahead.runningMs) / (workers * (1 - loadAbove));
}

function lookAhead(view: PoolView, lane: LaneView): Ahead {
  let jobs = 0;
  let workMs = 0;
  let loadAbove = 0;
  let arrivalsAbove = 0;
  let running = 0;
  let runningMs = 0;
  for (const other of view.lanes) {
    const serviceMs = serviceMsOf(other, view);
    running += other.running;
    runningMs += other.running * serviceMs;
    if (other.index > lane.index) continue;
    // A higher lane that is at its bound takes no more workers, however long its queue is.
    const bound = other.index < lane.index && other.running >= other.maxRunning;
    if (!bound) {
      jobs += other.ready;
      workMs += other.ready * serviceMs;
    }
    if (other.index === lane.index) continue;
    loadAbove += Math.min(other.arrivalsPerSec * serviceMs / 1000, other.maxRunning);
    arrivalsAbove += other.arrivalsPerSec;
  }
  return {
    jobs: jobs / view.peers,
    workMs: workMs / view.peers,
    loadAbove,
    arrivalsAbove,
    runningMs: running > 0 ? runningMs / running : serviceMsOf(lane, view),
  };
}
