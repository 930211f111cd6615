/**
 * How many workers a lane policy gives to each lane: the policy, asked as dispatch asks it.
 *
 * @module
 */

import { viewLane } from "../testing/lane_view.ts";
import { makeView } from "../testing/views.ts";
import type { PluginContext } from "../contract/plugin.ts";
import type { PoolSettings } from "../config/settings.ts";
import type { LanePolicy } from "../contract/strategy.ts";
import type { LaneView, PoolView } from "../contract/view.ts";

/** More workers than this are not dealt out one by one. */
const MOST_WORKERS = 5000;

/** What one lane gets of a full pool. */
export interface Share {
  /** Most workers, while no other lane has work. */
  readonly alone: number;
  /** Workers left for it, while every other lane has more work than workers. */
  readonly kept: number;
}

/** Of more lanes the policy is not asked: what it is asked for a lane takes as long as there are lanes. */
export const MOST_LANES = 100;

/**
 * Deals `workers` out by the pool's policy, to a lane by its index, once it is asked for. Of too many lanes each
 * is said to get all.
 */
export function sharer(
  pool: PoolSettings,
  workers: number,
  context: PluginContext,
): (index: number) => Share {
  if (pool.lanes.length > MOST_LANES) return () => ({ alone: workers, kept: workers });
  const deal = dealer(pool, Math.min(workers, MOST_WORKERS), context);
  const known = new Map<number, Share>();
  return (index) => {
    const before = known.get(index);
    if (before !== undefined) return before;
    const others = pool.lanes.map((_, other) => other !== index);
    const only = others.map((other) => !other);
    const taken = deal(others, pool.lanes.map(() => 0));
    const share = {
      alone: deal(only, pool.lanes.map(() => 0))[index] ?? 0,
      kept: deal(only, taken)[index] ?? 0,
    };
    known.set(index, share);
    return share;
  };
}

type Deal = (hungry: readonly boolean[], running: readonly number[]) => readonly number[];

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

function dealer(pool: PoolSettings, workers: number, context: PluginContext): Deal {
  const all = makeView({ live: workers }).workers;
  const empty = pool.lanes.map((lane, index) => ({
    ...viewLane(lane, index),
    arrivalsPerSec: lane.expect?.perSec ?? 0,
    meanServiceMs: lane.expect?.serviceMs ?? 0,
  }));
  return (hungry, before) => {
    const policy = pool.lanePolicy.create(context);
    const lanes: Mutable<LaneView>[] = empty.map((lane, index) => ({
      ...lane,
      ready: hungry[index] ? 1e6 : 0,
      oldestWaitMs: hungry[index] ? 1e6 : 0,
      running: before[index] ?? 0,
    }));
    const view: Mutable<PoolView> = {
      ...makeView({ pool: pool.name, size: pool.size, live: 0, target: workers }),
      lanes,
      workers: all,
      live: workers,
      limit: workers,
    };
    fill(policy, view, lanes);
    return lanes.map((lane) => lane.running);
  };
}

/** How often a policy sees a job wait: some keep more workers for a lane then. */
const LOOKS = 10;

/**
 * Workers that a policy leaves to a lane whose jobs have waited for their target again and again, while
 * all lanes below it have more jobs than workers.
 */
export function learnedReserve(
  pool: PoolSettings,
  workers: number,
  { context, index }: { readonly context: PluginContext; readonly index: number },
): number {
  const policy = pool.lanePolicy.create(context);
  const most = Math.min(workers, MOST_WORKERS);
  const start = makeView({ live: most, target: most, size: pool.size });
  let taken = 0;
  for (let look = 0; look < LOOKS; look++) {
    const lanes: Mutable<LaneView>[] = pool.lanes.map((lane, place) => ({
      ...viewLane(lane, place),
      arrivalsPerSec: lane.expect?.perSec ?? 0,
      meanServiceMs: lane.expect?.serviceMs ?? 0,
      ready: place > index ? 1e6 : 0,
      oldestWaitMs: place === index ? lane.targetWaitMs ?? 0 : 0,
    }));
    const nowMs = start.nowMs + look * (pool.lanes[index]?.targetWaitMs ?? 0);
    fill(policy, { ...start, nowMs, lanes }, lanes);
    taken = lanes.reduce((sum, lane) => sum + lane.running, 0);
  }
  return most - taken;
}

function fill(
  policy: LanePolicy,
  view: Mutable<PoolView>,
  lanes: readonly Mutable<LaneView>[],
): void {
  let running = lanes.reduce((sum, lane) => sum + lane.running, 0);
  while (running < view.live) {
    view.busy = running;
    view.idle = view.live - running;
    const eligible = lanes.filter((lane) => lane.ready > 0 && lane.running < lane.maxRunning);
    if (eligible.length === 0) return;
    const chosen = choose(policy, view, eligible);
    const lane = chosen && lanes[chosen.index];
    if (lane === undefined) return;
    lane.running++;
    running++;
  }
}

/** A policy that fails falls back to list order, as in a running pool. */
function choose(
  policy: LanePolicy,
  view: PoolView,
  eligible: readonly LaneView[],
): LaneView | undefined {
  try {
    return policy(view, eligible);
  } catch {
    return eligible[0]; // see above
  }
}
