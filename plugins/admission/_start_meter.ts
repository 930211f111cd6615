/**
 * Measures how fast a pool starts jobs while a start rate binds it.
 *
 * @module
 */

import type { PoolView } from "../../src/view.ts";

/** A start rate is held over a second: a shorter span says nothing about it. */
const LEAST_SPAN_MS = 1000;

/** Length of a span while the rate binds, ms. */
const BOUND_SPAN_MS = 5000;

/** Starts per second, measured from one reading of the view to the next. */
export interface StartMeter {
  /** Takes a reading; needed at every submit, so that the pool's earlier, slower times do not count. */
  read(view: PoolView): void;
  /** Starts per second over the last seconds, > 0. */
  perSec(view: PoolView): number;
}

/**
 * Makes a meter that has no reading yet.
 *
 * The pool's own window is too long for this: after a quiet time it shows far less than the rate
 * that the pool is held to, and work would be refused that can be done in time.
 */
export function startMeter(): StartMeter {
  let olderAtMs = -Infinity;
  let olderStarts = 0;
  let newerAtMs = -Infinity;
  let newerStarts = 0;
  return {
    read: (view) => {
      const spanMs = view.rateBound ? BOUND_SPAN_MS : LEAST_SPAN_MS;
      const ageMs = view.nowMs - newerAtMs;
      if (ageMs < spanMs) return;
      const starts = view.totals.starts;
      const quiet = ageMs >= 2 * spanMs; // nobody enqueued: that time says nothing either
      olderAtMs = quiet ? view.nowMs : newerAtMs;
      olderStarts = quiet ? starts : newerStarts;
      newerAtMs = view.nowMs;
      newerStarts = starts;
    },
    perSec: (view) => {
      const spanMs = Math.max(LEAST_SPAN_MS, view.nowMs - olderAtMs);
      // At least one: of a rate below one start a span nothing can be seen.
      return Math.max(1, view.totals.starts - olderStarts) * 1000 / spanMs;
    },
  };
}
