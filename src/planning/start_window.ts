/**
 * A start limit as whole starts in a window.
 *
 * @module
 */

import type { StartLimit } from "../contract/strategy.ts";

/** What a product of decimals may miss a whole number by. */
export const ROUNDING = 1e-9;

/** Times since 1970 in ms have no finer grain than this: windows are whole multiples, so that sums are exact. */
const GRAIN_MS = 2 ** -12;

/** What a process remembers by itself is gone with it: a window beyond this is held by a ledger in the store, ms. */
export const LONG_MS = 10_000;

/** At most `starts` in any half-open window of `perMs`. */
export interface StartWindow {
  /** Starts in each window, whole, at least 1. */
  readonly starts: number;
  /** Length of a window, ms. */
  readonly perMs: number;
}

/**
 * The window of a limit: N = ceil(`starts`) in N / `starts` times as long, so that a fraction is neither
 * lost nor exceeded: 2.5 a second are 3 in any 1.2 s.
 */
export function windowOf({ starts, perMs }: Pick<StartLimit, "starts" | "perMs">): StartWindow {
  const most = Math.max(1, Math.ceil(starts - ROUNDING));
  return { starts: most, perMs: grainsUp(Math.max(perMs, most * perMs / starts)) };
}

/** The next time that is a whole number of grains, ms. */
export function grainsUp(ms: number): number {
  return Math.ceil(ms / GRAIN_MS - 1e-6) * GRAIN_MS;
}

/** The last time that is a whole number of grains, ms. */
export function grainsDown(ms: number): number {
  return Math.floor(ms / GRAIN_MS + 1e-6) * GRAIN_MS;
}
