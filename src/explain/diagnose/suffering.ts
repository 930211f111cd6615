/**
 * Lanes whose jobs start late or are rejected, and what holds those jobs.
 *
 * @module
 */

import type { HoldCause } from "../../planning/hold_times.ts";
import type { History } from "../../planning/history.ts";
import type { Traits } from "./finding.ts";
import { lanesIn, type LaneSpan, lastingMs, type SampleSpan, spanOf } from "./span.ts";

/** A lane that suffers. */
export interface Suffering extends LaneSpan {
  /** What holds its jobs. */
  readonly cause: HoldCause;
  /** For how long it has been so, ms. */
  readonly forMs: number;
  /** The last minute. */
  readonly span: SampleSpan;
  /** Workers that would be busy if the jobs of all lanes were run as they come. */
  readonly needed: number;
  /** Idle workers, on average. */
  readonly idle: number;
}

/** Over how long jobs are counted. */
const COUNTED_MS = 60_000;

/** It is over once no job has been late or rejected for so long, ms. */
const OVER_AFTER_MS = 30_000;

/** Share of jobs that are late or rejected from which a lane suffers. */
const MANY = 0.05;

/** Fewer are chance. */
const LEAST = 3;

/** Idle workers by a split, as a share of all, that are too many even where all of them would be too few. */
const MOST_IDLE = 0.4;

/** In this share of the samples. */
const OFTEN = 0.2;

/** What holds jobs for a smaller share of the time holds them in bursts. */
const MOSTLY = 0.75;

/** A lease that takes so much of the target wait makes jobs late by itself. */
const LONG_LEASE = 0.5;

/** Workers that are needed for a larger share of the time are too few. */
const MOST_NEEDED = 0.95;

/** A job of a lane without a target that waits for so long waits for long, ms. */
const LONG_MS = 30_000;

/** The lanes that suffer, worst first. */
export function sufferingIn({ samples }: History): readonly Suffering[] {
  const span = spanOf(samples, COUNTED_MS);
  const recent = spanOf(samples, OVER_AFTER_MS);
  if (span === undefined || recent === undefined) return [];
  const lanes = lanesIn(span);
  const now = lanesIn(recent);
  const idle = idleIn(span);
  const needed = needIn(lanes);
  return lanes.flatMap((lane, index): readonly Suffering[] => {
    const cause = causeOf(lane, span, needed);
    const { late, shed } = now[index]!; // spans end with the same sample
    const isNow = late + shed > 0 || lane.lane.targetWaitMs === null || cause === "key";
    if (cause === undefined || !isNow) return [];
    const forMs = lastingMs(samples, COUNTED_MS, (earlier) => {
      const earlierLanes = lanesIn(earlier);
      const one = earlierLanes[index];
      return one !== undefined && causeOf(one, earlier, needIn(earlierLanes)) === cause;
    });
    return [{ ...lane, cause, forMs: Math.max(forMs, span.ms), span, needed, idle }];
  }).toSorted((a, b) => b.share - a.share);
}

/** What holds the jobs of a lane that suffers. `undefined`: it does not. */
function causeOf(lane: LaneSpan, span: SampleSpan, needed: number): HoldCause | undefined {
  const { late, shed, share, cause, lane: { targetWaitMs, oldestWaitMs } } = lane;
  const isHurt = share >= MANY && (late + shed >= LEAST || oldestWaitMs > span.ms);
  if ((cause === "key" || !isHurt) && waitsForKeys(lane, span)) return "key";
  if (isHurt && cause !== undefined) {
    const { leaseMs, live } = span.to;
    const isLong = leaseMs > LONG_LEASE * (targetWaitMs ?? Infinity);
    return isLong && needed < MOST_NEEDED * live ? "store" : cause;
  }
  return cause === "policy" && targetWaitMs === null && isLeft(lane, span) ? cause : undefined;
}

function needIn(lanes: readonly LaneSpan[]): number {
  return lanes.reduce((sum, { need }) => sum + need, 0);
}

/** Often the oldest job that waits for others of its key has been due for longer than the target. */
function waitsForKeys(
  { lane: { name, targetWaitMs } }: LaneSpan,
  { samples }: SampleSpan,
): boolean {
  const longMs = targetWaitMs ?? LONG_MS;
  const long = samples.filter(({ lanes }) =>
    lanes.some((lane) => lane.name === name && lane.oldestBlockedMs > longMs)
  );
  return long.length > OFTEN * samples.length;
}

/** Its jobs wait ever longer in front of idle workers. */
function isLeft({ lane }: LaneSpan, span: SampleSpan): boolean {
  const before = span.from.lanes.find(({ name }) => name === lane.name)?.oldestWaitMs ?? 0;
  const isLong = lane.oldestWaitMs > LONG_MS && lane.oldestWaitMs - before > span.ms / 2;
  return isLong && idleIn(span) >= MOST_IDLE * span.to.live;
}

/** Idle workers on average. */
function idleIn({ samples, from, to, ms }: SampleSpan): number {
  const live = samples.reduce((sum, sample) => sum + sample.live, 0) / samples.length;
  return Math.max(0, live - (to.busyMs - from.busyMs) / ms);
}

/** True if a lane waits for a split of the workers that would be enough for all, not just now and then. */
export function isSplitAtFault({ cause, heldMs, idle, needed, span }: Suffering): boolean {
  if (cause !== "policy") return false;
  const { to: { live }, ms } = span;
  return heldMs > MOSTLY * ms && (idle >= MOST_IDLE * live || needed < MOST_NEEDED * live);
}

/** What bounds the workers or starts of a pool. */
export interface Bottleneck {
  /** As `boundBy` names it, or `controller`. */
  readonly name: string;
  /** True: a cap that tries sizes, and found that more workers bring no more. */
  readonly isFound: boolean;
}

/** What bound the pool for the most part. A cap that tries sizes below `size.max` does not while it measures. */
export function binderIn(
  { samples, to }: SampleSpan,
  cause: HoldCause,
  { tries }: Traits,
): Bottleneck {
  if (cause === "growth") return { name: "controller", isFound: false };
  const isRate = cause === "rate";
  const counts = new Map<string, number>();
  for (const { boundBy, rateBound, limit, size } of samples) {
    if (rateBound !== isRate) continue;
    const name = !isRate && limit >= size.max ? "size.max" : boundBy;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const [name] = [...counts].toSorted((a, b) => b[1] - a[1])[0] ?? [to.boundBy];
  return { name, isFound: tries.some((cap) => name === `cap:${cap}`) };
}
