/**
 * How a pool grows when its load comes all at once: the controller, asked over a fluid queue.
 *
 * Jobs are taken as a liquid, so that the answer depends on no chance. It is a coarse picture: the
 * simulator runs the pool itself.
 *
 * @module
 */

import { type LaneOverrides, makeView } from "../testing/views.ts";
import type { Controller } from "../contract/strategy.ts";
import type { PoolView } from "../contract/view.ts";
import type { LaneFacts, PoolFacts } from "./facts.ts";

/** How long growth is watched, at least, ms. */
const WATCH_MS = 60_000;

/** Time between two looks, at least, ms. */
const STEP_MS = 5;

const STEPS = 4000;

/** How growth went. */
export interface Ramp {
  /** When the pool had what it needs, ms after the load came. `undefined`: not while it was watched. */
  readonly reachedMs: number | undefined;
  /** Most workers it had. */
  readonly workers: number;
  /** Longest wait of each lane meanwhile, ms. */
  readonly waitMs: readonly number[];
}

interface Flow {
  readonly lane: LaneFacts;
  arrived: number;
  started: number;
  running: number;
  longestMs: number;
}

/** Lets the expected load come at once onto `from` workers, until there are `need`. */
export function rampOf(pool: PoolFacts, from: number, need: number): Ramp {
  const controller = pool.settings.controller.create(pool.context);
  const targetMs = Math.max(...pool.lanes.map(({ settings }) => settings.targetWaitMs ?? 0));
  const watchMs = Math.max(WATCH_MS, 20 * pool.serviceMs, 10 * targetMs);
  const stepMs = Math.max(STEP_MS, watchMs / STEPS);
  const flows = pool.lanes.map((lane): Flow => ({
    lane,
    arrived: 0,
    started: 0,
    running: 0,
    longestMs: 0,
  }));
  let workers = from;
  let most = from;
  let busyMs = 0;
  for (let atMs = stepMs; atMs <= watchMs; atMs += stepMs) {
    flow(flows, workers, stepMs);
    busyMs += total(flows) * stepMs;
    for (const each of flows) each.longestMs = Math.max(each.longestMs, ageOf(each));
    const wanted = ask(controller, viewOf(pool, { flows, workers, atMs, busyMs }));
    workers = Math.min(pool.bounds.workers, Math.max(pool.settings.size.min, wanted ?? workers));
    most = Math.max(most, workers);
    if (workers >= need) return { reachedMs: atMs, workers, waitMs: flows.map(longest) };
  }
  return { reachedMs: undefined, workers: most, waitMs: flows.map(longest) };
}

/** Moves all lanes on: jobs come, end, and start where a worker is free, highest lane first. */
function flow(flows: readonly Flow[], workers: number, stepMs: number): void {
  for (const each of flows) {
    each.arrived += each.lane.perSec * stepMs / 1000;
    if (each.lane.serviceMs > 0) each.running *= Math.exp(-stepMs / each.lane.serviceMs);
  }
  let free = Math.max(0, workers - total(flows));
  for (const each of flows) {
    const start = Math.min(free, each.arrived - each.started);
    each.started += start;
    each.running += start;
    free -= start;
  }
}

function viewOf(
  pool: PoolFacts,
  { flows, workers, atMs, busyMs }: {
    readonly flows: readonly Flow[];
    readonly workers: number;
    readonly atMs: number;
    readonly busyMs: number;
  },
): PoolView {
  const warm = 1 - Math.exp(-atMs / 1000);
  const lanes = flows.map(({ lane, arrived, started, running }, index): LaneOverrides => ({
    name: lane.settings.name,
    index,
    targetWaitMs: lane.settings.targetWaitMs,
    deadlineMs: lane.settings.deadlineMs,
    maxRunning: lane.settings.maxRunning,
    ready: Math.floor(arrived - started + 1e-9),
    running: Math.round(running),
    oldestWaitMs: arrived - started >= 1 ? (arrived - started) / lane.perSec * 1000 : 0,
    arrivalsPerSec: lane.perSec * warm,
    meanServiceMs: lane.serviceMs,
  }));
  const nowMs = Date.UTC(2026, 0, 1) + atMs;
  const live = workers;
  const busy = Math.min(live, Math.round(total(flows)));
  const { size } = pool.settings;
  const { workers: limit, startsPerSec } = pool.bounds;
  const totals = {
    busyMs,
    arrivals: Math.floor(flows.reduce((sum, { arrived }) => sum + arrived, 0)),
  };
  return makeView({ nowMs, size, live, busy, target: live, limit, startsPerSec, lanes, totals });
}

/** Workers asked for. `undefined`: the controller failed. */
function ask(controller: Controller, view: PoolView): number | undefined {
  try {
    const { workers } = controller(view);
    return Number.isFinite(workers) ? Math.ceil(workers - 1e-9) : undefined;
  } catch {
    return undefined; // the last plan stays in use, as in a running pool
  }
}

function ageOf({ lane, arrived, started }: Flow): number {
  return lane.perSec === 0 ? 0 : (arrived - started) / lane.perSec * 1000;
}

function total(flows: readonly Flow[]): number {
  return flows.reduce((sum, { running }) => sum + running, 0);
}

function longest({ longestMs }: Flow): number {
  return longestMs;
}
