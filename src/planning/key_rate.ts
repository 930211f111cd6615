/**
 * A rate of a key as a store holds it: whole starts in a window.
 *
 * @module
 */

import type { KeyRate } from "../base/key_starts.ts";
import { grainsUp } from "./start_window.ts";

/** Calls of one key, as a config says it. */
export interface CallsOfKey {
  /** In any window, a whole number >= 1. */
  readonly calls: number;
  /** Length of the window, ms. */
  readonly perMs: number;
  /** How many may start at once, >= 1. @default {calls} */
  readonly burst?: number | undefined;
}

/** Most starts of a window: a store keeps each of them for a key. */
const MOST_STARTS = 100;

/** Share of the calls that is used at least. */
const LEAST_USED = 0.99;

/**
 * As many starts at once as `burst` lets, in so short a part of `perMs` that no window of `perMs` has
 * more than `calls`: it has a whole number of such parts. One start at a time always uses all calls.
 */
export function keyRateOf({ calls, perMs, burst = calls }: CallsOfKey): KeyRate {
  let starts = Math.min(burst, calls, MOST_STARTS);
  while (starts * Math.floor(calls / starts) < LEAST_USED * calls) starts--;
  return { starts, perMs: grainsUp(perMs / Math.floor(calls / starts)) };
}
