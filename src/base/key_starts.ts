/**
 * When jobs of one key may start under its rates.
 *
 * @module
 */

import type { LaneRules } from "../contract/store.ts";

/** Starts of one key's jobs: no more than `starts` in any `perMs`. */
export type KeyRate = NonNullable<LaneRules["keyRates"]>[number];

/**
 * When another job of a key may start, at the earliest. `Infinity`: not before one of those that may
 * start at any time has ended.
 *
 * Of the jobs that may start at any time, and of those that have started, no more than `starts` count
 * in a window that ends with this one. So no window ever has more, whenever each of them starts.
 *
 * @param held Jobs that were let start and have not ended: they run, or start when they like.
 * @param startedAtMs When the others started, in order.
 */
export function nextStartMs(
  rates: readonly KeyRate[],
  held: number,
  startedAtMs: readonly number[],
  nowMs: number,
): number {
  let atMs = nowMs;
  for (const { starts, perMs } of rates) {
    const most = starts - held - 1; // started ones in its window
    if (most < 0) return Infinity;
    const last = startedAtMs[startedAtMs.length - most - 1];
    // A clock that was set back: what started later than now has done so by now.
    if (last !== undefined) atMs = Math.max(atMs, Math.min(last, nowMs) + perMs);
  }
  return atMs;
}

/** Adds a start to those of a key, which stay in order, and drops what counts no more. */
export function addStart(
  rates: readonly KeyRate[],
  startedAtMs: number[],
  atMs: number,
  nowMs: number,
): void {
  const start = Math.min(atMs, nowMs);
  let place = startedAtMs.length;
  while (place > 0 && startedAtMs[place - 1]! > start) place--;
  startedAtMs.splice(place, 0, start);
  dropOld(rates, startedAtMs, nowMs);
}

/** Drops the starts that count no more: of earlier windows, or more than any window may have. */
export function dropOld(
  rates: readonly KeyRate[],
  startedAtMs: number[],
  nowMs: number,
): void {
  let most = 0;
  for (const { starts } of rates) most = Math.max(most, starts);
  const fromMs = nowMs - longestMs(rates);
  let old = Math.max(0, startedAtMs.length - most);
  while (old < startedAtMs.length && startedAtMs[old]! <= fromMs) old++;
  startedAtMs.splice(0, old);
}

/** The longest window, ms. */
export function longestMs(rates: readonly KeyRate[]): number {
  let longest = 0;
  for (const { perMs } of rates) longest = Math.max(longest, perMs);
  return longest;
}

/** How many jobs of a key may run at once in a lane. `Infinity`: no bound. */
export function slotsOf(
  maxRunningPerKey: number,
  keyRates: readonly KeyRate[] = [],
): number {
  return Math.min(maxRunningPerKey, ...keyRates.map(({ starts }) => starts));
}
