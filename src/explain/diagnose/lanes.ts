/**
 * Lanes that wait for each other: reserves, preemption, starvation.
 *
 * @module
 */

import { agreeing, counted, duration } from "../../base/format.ts";
import type { History, LaneSample } from "../../planning/history.ts";
import { figure, type Finding, named } from "./finding.ts";
import { laneOf, latest, mean, median, perSec, type Window } from "./window.ts";

/** Over how long waits are looked at. */
const WAIT_MS = 30_000;

/** Not served for so long is starved. */
const STARVED_MS = 60_000;

/** Share of worker time below which a lane is not served. */
const NO_SHARE = 0.02;

/** Room above the mean load, as the lanes experiment sizes a reserve. */
const HEADROOM = 1.5;

/** Waits of a lane above others that run jobs of their own, over its job time and its target. */
export function laneWaits(history: History): readonly Finding[] {
  const window = latest(history, WAIT_MS);
  if (window === undefined) return [];
  return window.last.lanes.slice(0, -1).flatMap((_, index) => waitsOf(window, index));
}

function waitsOf(window: Window, index: number): readonly Finding[] {
  const samples = laneOf(window, index);
  const serviceMs = median(samples.map((lane) => lane.serviceMs));
  const lowerRunning = mean(window.samples.map(({ lanes }) => runningBelow(lanes, index)));
  const keeps = samples.flatMap(({ kept }) => kept ?? []);
  if (serviceMs === 0 || lowerRunning < 1 || keeps.length < samples.length / 2) return [];
  const lane = samples.at(-1)!; // there are samples, or their median would be 0
  const good = Math.max(serviceMs, lane.targetWaitMs ?? 0);
  const kept = median(keeps);
  const arrivalsPerSec = perSec(window, ({ lanes }) => lanes[index]?.arrivals ?? 0);
  const waits = { samples, serviceMs, good, arrivalsPerSec };
  if (kept > 0) return reserveSmall(lane, { ...waits, kept });
  return noPreemption(lane, { ...waits, window, index });
}

interface Waits {
  readonly samples: readonly LaneSample[];
  readonly serviceMs: number;
  /** Waits up to this are as asked for, ms. */
  readonly good: number;
  readonly arrivalsPerSec: number;
}

/** "Urgent wait rising above the job time means the reserve is too small for current load." */
function reserveSmall(
  { name }: LaneSample,
  { samples, serviceMs, good, arrivalsPerSec, kept }: Waits & { readonly kept: number },
): readonly Finding[] {
  const waitMs = median(samples.map(({ waitP95Ms }) => waitP95Ms));
  if (waitMs <= good) return [];
  const load = arrivalsPerSec * serviceMs / 1000;
  const reserve = Math.max(kept + 1, Math.ceil(load * HEADROOM));
  const come = figure(arrivalsPerSec);
  return [{
    code: "reserve-small",
    lane: name,
    saw:
      `5 of 100 jobs of lane "${name}" wait ${duration(waitMs)} or more, run ${
        duration(serviceMs)
      }; ` +
      `${counted(come, "job")}/s ${agreeing(come, "keeps", "keep")} ` +
      `${counted(figure(load), "worker")} busy, ${kept} ${
        agreeing(kept, "is", "are")
      } kept for them`,
    change: `Reserve ${counted(reserve, "worker")} for "${name}": ${figure(arrivalsPerSec)}/s x ` +
      `${duration(serviceMs)} x ${HEADROOM}`,
    numbers: { waitMs, serviceMs, arrivalsPerSec, load, kept, reserve },
  }];
}

/** "If urgent p99 and the longest batch job are close, non-preemption is setting the tail." */
function noPreemption(
  { name }: LaneSample,
  { samples, serviceMs, good, arrivalsPerSec, window, index }: Waits & {
    readonly window: Window;
    readonly index: number;
  },
): readonly Finding[] {
  const waitMs = median(samples.map(({ waitP99Ms }) => waitP99Ms));
  const runMs = median(
    window.samples.map(({ lanes }) =>
      Math.max(...lanes.slice(index + 1).map((lane) => lane.serviceP99Ms))
    ),
  );
  const workers = mean(window.samples.map(({ live }) => live));
  if (waitMs <= good || waitMs < runMs / workers || waitMs > 1.5 * runMs) return [];
  const load = arrivalsPerSec * serviceMs / 1000;
  const reserve = Math.max(1, Math.ceil(load * HEADROOM));
  return [{
    code: "no-preemption",
    lane: name,
    saw:
      `1 of 100 jobs of lane "${name}" waits ${duration(waitMs)} or more, run ${
        duration(serviceMs)
      }: ` +
      `jobs below it run ${duration(runMs)} on ${
        counted(figure(workers), "worker")
      } and are not interrupted`,
    change: `Reserve ${counted(reserve, "worker")} for "${name}", or let ` +
      "jobs below it checkpoint or be shorter",
    numbers: { waitMs, serviceMs, runMs, workers, load, reserve },
  }];
}

/** A lane with ready jobs that gets next to no worker time, while lanes above it are served. */
export function laneStarved(history: History): readonly Finding[] {
  const window = latest(history, STARVED_MS);
  if (window === undefined) return [];
  const { first, last, spanMs } = window;
  const busyMs = last.busyMs - first.busyMs;
  return last.lanes.flatMap((lane, index): readonly Finding[] => {
    const samples = laneOf(window, index);
    const servedMs = lane.servedMs - (first.lanes[index]?.servedMs ?? 0);
    const aboveMs = servedAbove(last.lanes, index) - servedAbove(first.lanes, index);
    const waits = samples.every(({ ready }) => ready > 0);
    if (!waits || busyMs === 0 || servedMs > NO_SHARE * busyMs || aboveMs < busyMs / 2) return [];
    return [{
      code: "lane-starved",
      lane: lane.name,
      saw:
        `For ${duration(spanMs)} lane "${lane.name}" got ${duration(servedMs)} of ${
          duration(busyMs)
        } ` +
        `worker time although ${lane.ready} of its jobs are ready: lanes above it take the rest`,
      change:
        `More workers rather than another split: raise ${named(last.boundBy)}, or send less ` +
        "to the lanes above",
      numbers: { servedMs, busyMs, ready: lane.ready, oldestWaitMs: lane.oldestWaitMs, spanMs },
    }];
  });
}

function runningBelow(lanes: readonly LaneSample[], index: number): number {
  return lanes.slice(index + 1).reduce((sum, { running }) => sum + running, 0);
}

function servedAbove(lanes: readonly LaneSample[], index: number): number {
  return lanes.slice(0, index).reduce((sum, { servedMs }) => sum + servedMs, 0);
}
