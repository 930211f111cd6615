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
  wantsWorkers,
} from "./_supply.ts";

/** More workers, and what for. */
export interface Growth {
  /** Workers to have in all. */
  readonly workers: number;
  /** Which lane asks, with its numbers. */
  readonly reason: string;
}

/** How many ages are looked up when several jobs are due. */
const PROBES = 8;

/**
 * The largest want of all lanes: a job is predicted to wait longer than `grow` of its target, or
 * has done so. `undefined` if the workers there are suffice.
 */
export function findGrowth(view: PoolView, grow: number): Growth | undefined {
  let best: Growth | undefined;
  let available: Supply | undefined;
  for (const lane of view.lanes) {
    const targetMs = lane.targetWaitMs;
    if (targetMs === null || !wantsWorkers(lane)) continue;
    available ??= supply(view);
    const growMs = grow * targetMs;
    const found = larger(
      due(view, lane, { growMs, targetMs, available }),
      predicted(view, lane, growMs, available),
    );
    if (found === undefined) continue;
    const room = lane.maxRunning - lane.running - available.fresh;
    const extra = Math.min(found.extra, room);
    const workers = available.workers + extra;
    if (workers <= (best?.workers ?? available.workers)) continue;
    best = { workers, reason: `${found.reason}: ${grouped(extra)} more` };
  }
  return best;
}

interface Found {
  readonly extra: number;
  readonly reason: string;
}

/** e = (q - w g/S) / (1 + g/S): what is not started within g, over what a new worker starts in g. */
function predicted(
  view: PoolView,
  lane: LaneView,
  growMs: number,
  available: Supply,
): Found | undefined {
  if (lane.meanServiceMs === 0 && available.workers > 0) return undefined; // from none, waiting would teach nothing
  const ready = Math.ceil(lane.ready / view.peers);
  const starts = startsWithin(view, lane, growMs, available);
  const lacking = (ready - starts) / (1 + growMs / serviceOf(lane));
  if (lacking <= 1e-9) return undefined;
  const reason = `${lane.name}: ${grouped(ready)} ready, ${
    Math.max(0, starts).toFixed(1)
  } start within ${duration(growMs)}`;
  return { extra: Math.ceil(lacking - 1e-9), reason };
}

/** max(1, min(due, need)), need = max over waiting jobs i of (i + 1 - w s/S) / (1 + s/S), s what is left to the target. */
function due(
  view: PoolView,
  lane: LaneView,
  { growMs, targetMs, available }: { growMs: number; targetMs: number; available: Supply },
): Found | undefined {
  if (lane.oldestWaitMs < growMs - GRAIN_MS) return undefined;
  const jobs = Math.max(1, olderThan(view, lane, growMs - GRAIN_MS)) - available.fresh;
  if (jobs <= 0) return undefined;
  const extra = jobs === 1 ? 1 : Math.max(1, Math.min(jobs, need(view, lane, targetMs, available)));
  const reason = `${lane.name}: ${grouped(jobs)} waited ${duration(growMs)}, oldest ${
    duration(lane.oldestWaitMs)
  }`;
  return { extra, reason };
}

/** Upper bound of the need: jobs between two ages that are looked up count as old as the older. */
function need(view: PoolView, lane: LaneView, targetMs: number, available: Supply): number {
  const serviceMs = serviceOf(lane);
  let most = 0;
  for (let probe = 0; probe <= PROBES; probe++) {
    const ageMs = lane.oldestWaitMs * (1 - probe / PROBES);
    const olderMs = Math.min(lane.oldestWaitMs, ageMs + lane.oldestWaitMs / PROBES);
    const leftMs = Math.max(0, targetMs - olderMs);
    const jobs = olderThan(view, lane, ageMs - GRAIN_MS);
    const lacking = jobs - startsWithin(view, lane, leftMs, available);
    most = Math.max(most, lacking / (1 + leftMs / serviceMs));
  }
  return Math.ceil(most - 1e-9);
}

function larger(one: Found | undefined, other: Found | undefined): Found | undefined {
  return (one?.extra ?? 0) >= (other?.extra ?? 0) ? one : other;
}
