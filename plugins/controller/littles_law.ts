/**
 * The `littles-law` controller: arrival rate times service time, with room for chance.
 *
 * @module
 */

import * as v from "valibot";
import { Holds } from "../../src/base/holds.ts";
import { WindowedRate } from "../../src/base/windowed_rate.ts";
import { defineController, type Plugin } from "../../src/contract/plugin.ts";
import type { LaneView, PoolView } from "../../src/contract/view.ts";
import { findGrowth } from "./_demand.ts";
import { LanePast, STUCK_SHARE } from "./_lane_past.ts";
import { Duration } from "./_options.ts";
import { wantsWorkers } from "./_supply.ts";

/** Options of `littles-law`. */
export interface LittlesLawOptions {
  /** Room above the load, in standard deviations of a Poisson load, 0 to 10. @default {0.5} */
  readonly beta?: number;
  /** A rise of the arrival rate is seen over this many ms, or over one service time if that is longer. @default {100} */
  readonly windowMs?: number;
  /** Keeps the highest count of this many ms. @default {2000} */
  readonly downMs?: number;
}

/** A load so little above a whole number needs no worker of its own. */
const SLACK = 0.05;

const Options = v.strictObject({
  beta: v.exactOptional(
    v.pipe(
      v.number("Expected a number"),
      v.minValue(0, "Expected 0 or more"),
      v.maxValue(10, "Expected 10 or less"),
    ),
    0.5,
  ),
  windowMs: v.exactOptional(Duration, 100),
  downMs: v.exactOptional(Duration, 2000),
});

/**
 * Square-root staffing (Halfin and Whitt, 1981): w = R + beta sqrt(R), with the load R = lambda S by
 * Little's law, summed over the lanes that may cause growth.
 *
 * The rate is the higher of the smoothed one of the lanes and the one of the last `windowMs`, so a
 * rise is seen at once. Until a job has ended the load is what runs. A backlog by itself does not
 * count, but nobody leaves while a job is over its target, and a lane that starts nothing for half
 * its target grows by the age of its jobs. While counts are stale it holds `view.target`.
 */
export const littlesLaw: Plugin<"controller", LittlesLawOptions> = defineController({
  name: "littles-law",
  options: Options,
  variants: ({ beta, downMs }) => [
    ...[0, 0.5, 1, 2].filter((other) => other !== beta).map((other) => ({ beta: other })),
    { downMs: downMs / 2 },
    { downMs: downMs * 2 },
  ],
  create: ({ beta, windowMs, downMs }) => {
    const inflow = new WindowedRate();
    const holds = new Holds();
    const pasts: LanePast[] = [];
    return (view) => {
      const { nowMs, target, lanes } = view;
      if (view.stale) return { workers: target, reason: `counts are stale: hold ${target}` };
      for (const lane of lanes) (pasts[lane.index] ??= new LanePast()).observe(lane, nowMs);
      const load = loadOf(view, pasts);
      const perSec = inflow.update(nowMs, inflowOf(view), Math.max(windowMs, load.meanMs));
      const erlangs = Math.max(load.erlangs, perSec * load.share * load.meanMs / 1000);
      const room = load.meanMs === 0 ? 0 : beta * Math.sqrt(erlangs);
      holds.add(Math.ceil(erlangs + room - SLACK), nowMs + downMs);
      const wanted = holds.max(nowMs);
      const stuck = lanes.some((lane) => pasts[lane.index]?.isStuck(lane, nowMs));
      const growth = stuck && !view.rateBound ? findGrowth(view, STUCK_SHARE) : undefined;
      const kept = Math.max(wanted, growth?.workers ?? 0, isLate(view) ? target : 0);
      const workers = view.rateBound ? Math.min(kept, target) : kept;
      const said = load.meanMs === 0
        ? `no job has ended: ${erlangs} run`
        : `load ${erlangs.toFixed(1)} + room ${room.toFixed(1)}, highest of ${downMs} ms ${wanted}`;
      const more = workers > target && growth !== undefined
        ? growth.reason
        : `late: keep ${target}`;
      const reviewAtMs = workers > view.size.min ? nowMs + downMs / 4 : undefined; // an idle pool has no ticks
      return { workers, reason: workers > wanted ? `${said}, ${more}` : said, reviewAtMs };
    };
  },
});

/** What became ready so far, by conservation: what started, and this process's share of what waits. */
function inflowOf({ totals, lanes, peers }: PoolView): number {
  return totals.starts + lanes.reduce((sum, { ready }) => sum + ready, 0) / peers;
}

interface Load {
  /** lambda S of the lanes that may cause growth; until a job has ended, what runs. */
  readonly erlangs: number;
  /** Mean service time of these lanes, by their arrivals. 0 until a job has ended. */
  readonly meanMs: number;
  /** Their share of all arrivals. */
  readonly share: number;
}

function loadOf({ lanes }: PoolView, pasts: readonly LanePast[]): Load {
  let erlangs = 0, steered = 0, all = 0, sumMs = 0, known = 0, running = 0;
  for (const lane of lanes) {
    const meanMs = pasts[lane.index]?.meanMs || lane.meanServiceMs;
    const arrivalsPerSec = claimablePerSec(lane, meanMs);
    all += arrivalsPerSec;
    if (lane.targetWaitMs === null) continue;
    running += lane.running;
    if (meanMs === 0) continue;
    steered += arrivalsPerSec;
    erlangs += arrivalsPerSec * meanMs / 1000;
    sumMs += meanMs;
    known++;
  }
  if (known === 0) return { erlangs: running, meanMs: 0, share: 0 };
  if (steered === 0) return { erlangs: 0, meanMs: sumMs / known, share: all === 0 ? 1 : 0 };
  return { erlangs, meanMs: erlangs * 1000 / steered, share: steered / all };
}

/** Arrivals that workers are for: what is blocked or due later can use no more of them than run or are ready now. */
function claimablePerSec(lane: LaneView, meanMs: number): number {
  const { arrivalsPerSec, blocked, delayed, running, ready } = lane;
  if (blocked + delayed === 0 || meanMs === 0) return arrivalsPerSec;
  return Math.min(arrivalsPerSec, (running + ready) * 1000 / meanMs);
}

function isLate({ lanes, rateBound }: PoolView): boolean {
  return !rateBound &&
    lanes.some((lane) => wantsWorkers(lane) && lane.oldestWaitMs > (lane.targetWaitMs ?? Infinity));
}
