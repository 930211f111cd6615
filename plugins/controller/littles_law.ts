/**
 * The `littles-law` controller: arrival rate times service time, with room for chance.
 *
 * @module
 */

import * as v from "valibot";
import { defineController, type Plugin } from "../../src/contract/plugin.ts";
import type { LaneView, PoolView } from "../../src/contract/view.ts";
import { wantsWorkers } from "./_supply.ts";
import { InflowMeter } from "./_inflow.ts";
import { Duration } from "./_options.ts";
import { Peaks } from "./_peaks.ts";

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
 * rise is seen at once. Until a job has ended, and while counts are stale, it holds `view.target`
 * (from none it starts one). A backlog by itself does not count, but nobody leaves while a job is
 * over its target.
 */
export const littlesLaw: Plugin<"controller", LittlesLawOptions> = defineController({
  name: "littles-law",
  options: Options,
  create: ({ beta, windowMs, downMs }) => {
    const inflow = new InflowMeter();
    const peaks = new Peaks();
    return (view) => {
      const { nowMs, target } = view;
      const hold = (why: string) => ({ workers: target, reason: `${why}: hold ${target}` });
      if (view.stale) return hold("counts are stale");
      const load = loadOf(view);
      const perSec = inflow.update(view, Math.max(windowMs, load.meanMs));
      if (load.meanMs === 0) {
        if (target > 0 || !view.lanes.some(isSteered)) return hold("no service time yet");
        return { workers: 1, reason: "no service time yet: 1 to measure it" };
      }
      const erlangs = Math.max(load.erlangs, perSec * load.share * load.meanMs / 1000);
      peaks.add(nowMs, Math.ceil(erlangs + beta * Math.sqrt(erlangs) - SLACK));
      const wanted = peaks.max(nowMs - downMs);
      const kept = Math.max(wanted, isLate(view) ? target : 0);
      const workers = view.rateBound ? Math.min(kept, target) : kept;
      const reason = `load ${erlangs.toFixed(1)} + room ${(beta * Math.sqrt(erlangs)).toFixed(1)}` +
        `, highest of ${downMs} ms ${wanted}${workers > wanted ? `, late: keep ${target}` : ""}`;
      const reviewAtMs = workers > view.size.min ? nowMs + downMs / 4 : undefined; // an idle pool has no ticks
      return { workers, reason, reviewAtMs };
    };
  },
});

interface Load {
  /** lambda S of the lanes that may cause growth. */
  readonly erlangs: number;
  /** Mean service time of these lanes, by their arrivals. 0 until a job has ended. */
  readonly meanMs: number;
  /** Their share of all arrivals. */
  readonly share: number;
}

function loadOf({ lanes }: PoolView): Load {
  let erlangs = 0, steered = 0, all = 0, sumMs = 0, known = 0;
  for (const lane of lanes) {
    const { targetWaitMs, meanServiceMs } = lane;
    const arrivalsPerSec = claimablePerSec(lane);
    all += arrivalsPerSec;
    if (targetWaitMs === null || meanServiceMs === 0) continue;
    steered += arrivalsPerSec;
    erlangs += arrivalsPerSec * meanServiceMs / 1000;
    sumMs += meanServiceMs;
    known++;
  }
  if (known === 0) return { erlangs: 0, meanMs: 0, share: 0 };
  if (steered === 0) return { erlangs: 0, meanMs: sumMs / known, share: all === 0 ? 1 : 0 };
  return { erlangs, meanMs: erlangs * 1000 / steered, share: steered / all };
}

/** Arrivals that workers are for: what is blocked or due later can use no more of them than run or are ready now. */
function claimablePerSec(lane: LaneView): number {
  const { arrivalsPerSec, meanServiceMs } = lane;
  if (lane.blocked + lane.delayed === 0 || meanServiceMs === 0) return arrivalsPerSec;
  return Math.min(arrivalsPerSec, (lane.running + lane.ready) * 1000 / meanServiceMs);
}

function isLate({ lanes, rateBound }: PoolView): boolean {
  return !rateBound &&
    lanes.some((lane) => isSteered(lane) && lane.oldestWaitMs > (lane.targetWaitMs ?? Infinity));
}

function isSteered(lane: LaneView): boolean {
  return lane.targetWaitMs !== null && wantsWorkers(lane);
}
