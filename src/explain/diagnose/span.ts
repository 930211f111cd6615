/**
 * What happened between two samples, by the counts that they hold: a minute of a history, and the
 * minutes before it.
 *
 * @module
 */

import { HOLD_CAUSES, type HoldCause } from "../../planning/hold_times.ts";
import type { LaneSample, Sample } from "../../planning/sample.ts";

/** From one sample to a later one. */
export interface SampleSpan {
  /** Its samples, oldest first: both ends, and those between. */
  readonly samples: readonly Sample[];
  /** The first. */
  readonly from: Sample;
  /** The last. */
  readonly to: Sample;
  /** From the first to the last, ms. */
  readonly ms: number;
}

/** What happened to the jobs of one lane. */
export interface LaneSpan {
  /** Its last sample. */
  readonly lane: LaneSample;
  /** Jobs that came: accepted or rejected. */
  readonly came: number;
  /** Jobs that started later than the target, or wait for longer already. */
  readonly late: number;
  /** Jobs that were rejected, or dropped as late. */
  readonly shed: number;
  /** Share of both among all that started or were to start, 0 to 1. */
  readonly share: number;
  /** Attempts that ended, in any way. */
  readonly ended: number;
  /** Attempts that failed. */
  readonly failures: number;
  /** Attempts that were deferred. */
  readonly deferrals: number;
  /** Mean run time, ms. 0: unknown. */
  readonly serviceMs: number;
  /** Workers that its jobs would keep busy if all that came were run. */
  readonly need: number;
  /** What has held its jobs the longest. `undefined`: they have hardly been held. */
  readonly cause: HoldCause | undefined;
  /** For how long that has held them, ms. */
  readonly heldMs: number;
}

/** A wait that is shorter than this share of a span is none. */
const HARDLY = 0.05;

/**
 * The span of about `ms` that ends with one of the samples.
 *
 * @param end Place of its last sample. @default {the latest}
 * @returns `undefined`: the samples do not reach so far back, or the pool rested.
 */
export function spanOf(
  samples: readonly Sample[],
  ms: number,
  end: number = samples.length - 1,
): SampleSpan | undefined {
  const to = samples[end];
  if (to === undefined) return undefined;
  const begin = samples.findLastIndex(({ atMs }, index) => index < end && atMs <= to.atMs - ms);
  const from = samples[begin];
  if (from === undefined || to.atMs - from.atMs > 2.5 * ms) return undefined;
  return { samples: samples.slice(begin, end + 1), from, to, ms: to.atMs - from.atMs };
}

/** For how long spans of about `ms`, back from the latest one, have been such, ms. 0: that is not. */
export function lastingMs(
  samples: readonly Sample[],
  ms: number,
  isSuch: (span: SampleSpan) => boolean,
): number {
  let end = samples.length - 1;
  let forMs = 0;
  for (;;) {
    const span = spanOf(samples, ms, end);
    if (span === undefined || !isSuch(span)) return forMs;
    forMs += span.ms;
    end -= span.samples.length - 1;
  }
}

/** What happened to the jobs of each lane. */
export function lanesIn({ from, to, ms }: SampleSpan): readonly LaneSpan[] {
  return to.lanes.map((lane, index) => laneIn(from.lanes[index] ?? lane, lane, ms));
}

function laneIn(from: LaneSample, lane: LaneSample, ms: number): LaneSpan {
  const since = (count: (lane: LaneSample) => number): number => count(lane) - count(from);
  const { oldestWaitMs, targetWaitMs, ready } = lane;
  const isOverdue = targetWaitMs !== null && oldestWaitMs > targetWaitMs;
  const waiting = isOverdue ? ready : 0;
  const shed = since((one) => one.shed);
  const late = since((one) => one.late) + waiting;
  const all = since((one) => one.starts) + waiting + shed;
  const failures = since((one) => one.failures);
  const deferrals = since((one) => one.deferrals);
  const ended = since((one) => one.completions) + failures + deferrals;
  const serviceMs = ended > 0 ? since((one) => one.servedMs) / ended : lane.serviceMs;
  const came = since((one) => one.arrivals) + shed;
  const held = HOLD_CAUSES.map((cause) => since((one) => one.held[cause]));
  const heldMs = Math.max(...held);
  return {
    lane,
    came,
    late,
    shed,
    share: all > 0 ? (late + shed) / all : 0,
    ended,
    failures,
    deferrals,
    serviceMs,
    need: came * serviceMs / ms,
    cause: heldMs > HARDLY * ms ? HOLD_CAUSES[held.indexOf(heldMs)] : undefined,
    heldMs,
  };
}
