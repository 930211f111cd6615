/**
 * How many workers the waiting jobs lack: the grow rule of the `age-scaler`.
 *
 * @module
 */

import { duration, grouped } from "../../src/base/format.ts";
import type { LaneView, PoolView } from "../../src/contract/view.ts";
import {
  GRAIN_MS,
  olderThan,
  serviceOf,
  startsWithin,
  type Supply,
  supply,
  timeLeftMs,
  wantsWorkers,
} from "./_supply.ts";

/** More workers, and what for. */
export interface Growth {
  /** Workers to have in all. */
  readonly workers: number;
  /** Which lane asks, with its numbers. */
  readonly reason: string;
}

/** Parts of a worker so small are rounding. */
const GRAIN = 1e-9;

/** How many ages are looked up when several jobs are due. */
const PROBES = 8;

/**
 * The largest want of all lanes: a job is predicted to wait longer than `grow` of its target, or has
 * done so, or what waits is not started in time. `undefined` if the workers there are suffice.
 */
export function findGrowth(view: PoolView, grow: number): Growth | undefined {
  let best: Growth | undefined;
  let available: Supply | undefined;
  for (const lane of view.lanes) {
    const leftMs = timeLeftMs(lane, grow);
    if (leftMs === undefined || !wantsWorkers(lane)) continue;
    available ??= supply(view);
    const found = lane.targetWaitMs === null
      ? unstarted(lane, Math.max(0, leftMs), available)
      : larger(
        due(lane, { growMs: grow * lane.targetWaitMs, targetMs: lane.targetWaitMs }, available),
        predicted(lane, grow * lane.targetWaitMs, available),
      );
    if (found === undefined) continue;
    const extra = Math.min(found.extra, lane.maxRunning - lane.running - available.fresh);
    const workers = available.workers + extra;
    if (workers <= (best?.workers ?? available.workers)) continue;
    best = { workers, reason: `${lane.name}: ${found.reason}: ${grouped(extra)} more` };
  }
  return best;
}

interface Found {
  readonly extra: number;
  readonly reason: string;
}

/** What is predicted to wait for longer than `growMs`. */
function predicted(lane: LaneView, growMs: number, available: Supply): Found | undefined {
  if (lane.meanServiceMs === 0 && available.workers > 0) return undefined; // from none, waiting would teach nothing
  const ready = Math.ceil(lane.ready / available.view.peers);
  const starts = startsWithin(lane, growMs, available);
  const lacking = (ready - starts) / startsEach(lane, growMs);
  if (lacking <= GRAIN) return undefined;
  const started = Math.max(0, starts).toFixed(1);
  const reason = `${grouped(ready)} ready, ${started} start within ${duration(growMs)}`;
  return { extra: Math.ceil(lacking - GRAIN), reason };
}

/**
 * What does not start in the time left of `startWithinMs`, in whole workers: a part of one is made up
 * for as the time shrinks. With no time left, all that waits; until a job has ended, nothing before.
 */
function unstarted(lane: LaneView, leftMs: number, available: Supply): Found | undefined {
  const { meanServiceMs } = lane;
  if (meanServiceMs === 0 && leftMs > 0) return undefined;
  const ready = Math.ceil(lane.ready / available.view.peers);
  const lacking = (ready - startsWithin(lane, leftMs, available)) / startsEach(lane, leftMs);
  if (lacking < 1 - GRAIN) return undefined;
  const each = meanServiceMs === 0 ? "" : `, ${duration(meanServiceMs)} each`;
  const left = leftMs === 0 ? "none to wait any longer" : `${duration(leftMs)} left`;
  return {
    extra: Math.floor(lacking + GRAIN),
    reason: `${grouped(ready)} ready${each}, ${left}`,
  };
}

/** max(1, min(due, need)), need = max over waiting jobs i of (i + 1 - w s/S) / (1 + s/S), s what is left to the target. */
function due(
  lane: LaneView,
  { growMs, targetMs }: { readonly growMs: number; readonly targetMs: number },
  available: Supply,
): Found | undefined {
  if (lane.oldestWaitMs < growMs - GRAIN_MS) return undefined;
  const jobs = Math.max(1, olderThan(lane, growMs - GRAIN_MS, available)) - available.fresh;
  if (jobs <= 0) return undefined;
  const extra = jobs === 1 ? 1 : Math.max(1, Math.min(jobs, need(lane, targetMs, available)));
  const waited = `${grouped(jobs)} waited ${duration(growMs)}`;
  return { extra, reason: `${waited}, oldest ${duration(lane.oldestWaitMs)}` };
}

/** Upper bound of the need: jobs between two ages that are looked up count as old as the older. */
function need(lane: LaneView, targetMs: number, available: Supply): number {
  let most = 0;
  for (let probe = 0; probe <= PROBES; probe++) {
    const ageMs = lane.oldestWaitMs * (1 - probe / PROBES);
    const olderMs = Math.min(lane.oldestWaitMs, ageMs + lane.oldestWaitMs / PROBES);
    const leftMs = Math.max(0, targetMs - olderMs);
    const jobs = olderThan(lane, ageMs - GRAIN_MS, available);
    most = Math.max(
      most,
      (jobs - startsWithin(lane, leftMs, available)) / startsEach(lane, leftMs),
    );
  }
  return Math.ceil(most - GRAIN);
}

/** Jobs of the lane that a new worker starts within so long: 1 + t/S. */
function startsEach(lane: LaneView, withinMs: number): number {
  return 1 + withinMs / serviceOf(lane);
}

function larger(one: Found | undefined, other: Found | undefined): Found | undefined {
  return (one?.extra ?? 0) >= (other?.extra ?? 0) ? one : other;
}
