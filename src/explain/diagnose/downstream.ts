/**
 * Jobs that take longer than they used to.
 *
 * @module
 */

import type { History, LaneSample, Sample } from "../../planning/history.ts";
import { figure, type Finding } from "./finding.ts";
import { duration } from "../../base/format.ts";
import { latest, median, type Window } from "./window.ts";

/** What is "now", and how much of it is looked at at a time: windows of the view are so long. */
const NOW_MS = 30_000;
const PART_MS = 10_000;

/** What is "before" ends so long ago. */
const BEFORE_MS = 60_000;

const MINUTE_MS = 60_000;

/** Fewer jobs say nothing. */
const LEAST_JOBS = 20;

/** Samples of "before" that rest on fewer jobs are not counted. */
const LEAST_PER_SAMPLE = 5;

/** Slower by this is slower. */
const SLOWER = 1.5;

/**
 * Run times up against what they were: the median of the last hour, so that what lasts for more than
 * half of that is taken as normal.
 */
export function downstreamSlower(history: History): readonly Finding[] {
  const window = latest(history, NOW_MS);
  if (window === undefined) return [];
  const before = oneAMinute(
    history.samples.filter(({ atMs }) => atMs <= window.last.atMs - BEFORE_MS),
  );
  return window.last.lanes.flatMap((lane, index): readonly Finding[] => {
    const were = before.flatMap(({ lanes }) => lanes[index] ?? [])
      .filter(({ ended }) => ended >= LEAST_PER_SAMPLE);
    const baseMs = median(were.map(({ serviceMs }) => serviceMs));
    const { jobs, serviceMs } = nowOf(window, index);
    if (baseMs === 0 || jobs < LEAST_JOBS || serviceMs < SLOWER * baseMs) return [];
    return [finding(lane, { baseMs, serviceMs, window, before: before.at(-1) })];
  });
}

/** The last sample of each minute: there are more of late, and the median is that of the time. */
function oneAMinute(samples: readonly Sample[]): readonly Sample[] {
  const minuteOf = ({ atMs }: Sample): number => Math.floor(atMs / MINUTE_MS);
  return samples.filter((sample, place) => {
    const next = samples[place + 1];
    return next === undefined || minuteOf(next) !== minuteOf(sample);
  });
}

interface Slower {
  readonly baseMs: number;
  readonly serviceMs: number;
  readonly window: Window;
  readonly before: Sample | undefined;
}

function finding({ name }: LaneSample, { baseMs, serviceMs, window, before }: Slower): Finding {
  const { last } = window;
  const workers = last.live;
  const workersBefore = before?.live ?? workers;
  const times = serviceMs / baseMs;
  return {
    code: "downstream-slower",
    lane: name,
    saw: `Jobs of lane "${name}" run ${duration(serviceMs)}, ${figure(times)} times the ` +
      `${duration(baseMs)} of before; workers went from ${workersBefore} to ${workers}`,
    change: "Check what the handler calls: more workers will not help and may make it worse; let " +
      "the handler call context.overloaded(), or lower the bounds of the pool",
    setting: "handler",
    numbers: { serviceMs, baseMs, times, workers, workersBefore },
  };
}

/** Mean over the last samples whose windows do not overlap, each with its count of jobs. */
function nowOf({ samples, last }: Window, index: number): {
  readonly jobs: number;
  readonly serviceMs: number;
} {
  let jobs = 0;
  let sumMs = 0;
  for (let backMs = 0; backMs < NOW_MS - PART_MS / 2; backMs += PART_MS) {
    const sample = samples.findLast(({ atMs }) => atMs <= last.atMs - backMs);
    const lane = sample?.lanes[index];
    jobs += lane?.ended ?? 0;
    sumMs += (lane?.ended ?? 0) * (lane?.serviceMs ?? 0);
  }
  return { jobs, serviceMs: jobs === 0 ? 0 : sumMs / jobs };
}
