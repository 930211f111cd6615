/**
 * Parts of a history, and figures over them.
 *
 * @module
 */

import type { History, LaneSample, Sample } from "../../planning/history.ts";
import { quantile } from "../../base/stats.ts";

/** The latest samples over a span of time, at least two. */
export interface Window {
  /** Oldest first. */
  readonly samples: readonly Sample[];
  /** The oldest. */
  readonly first: Sample;
  /** The latest. */
  readonly last: Sample;
  /** Time from the oldest to the latest, ms. */
  readonly spanMs: number;
}

/** A history has a sample a second for so long, and one in this many ms before. */
const DENSE_MS = 115_000;
const THIN_MS = 61_000;

/**
 * The last `ms`. `undefined`: the history is shorter, or has a gap of more than a quarter of it; a
 * longer one has samples a minute apart.
 */
export function latest({ samples }: History, ms: number): Window | undefined {
  const last = samples.at(-1);
  if (last === undefined) return undefined;
  const from = samples.findLastIndex(({ atMs }) => atMs <= last.atMs - ms);
  const first = samples[from];
  if (first === undefined) return undefined;
  const part = samples.slice(from);
  const widestMs = ms > DENSE_MS ? Math.max(ms / 4, THIN_MS) : ms / 4;
  const isDense = part.every((sample, index) =>
    index === 0 || sample.atMs - (part[index - 1]?.atMs ?? 0) <= widestMs
  );
  return isDense ? { samples: part, first, last, spanMs: last.atMs - first.atMs } : undefined;
}

/** Share of samples of which something is true, 0 to 1. The first is left out: it is where the window begins. */
export function shareOf(
  { samples }: Window,
  holds: (sample: Sample, before: Sample) => boolean,
): number {
  let count = 0;
  for (let index = 1; index < samples.length; index++) {
    if (holds(samples[index]!, samples[index - 1]!)) count++;
  }
  return count / (samples.length - 1);
}

/** Median over samples (nearest rank). 0 for none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted.length === 0 ? 0 : quantile(sorted, 0.5);
}

/** Mean over samples. 0 for none. */
export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The samples of one lane. */
export function laneOf({ samples }: Window, index: number): readonly LaneSample[] {
  return samples.flatMap((sample) => sample.lanes[index] ?? []);
}

/** Events per second of a count that only rises. */
export function perSec({ first, last, spanMs }: Window, count: (sample: Sample) => number): number {
  return (count(last) - count(first)) * 1000 / spanMs;
}
