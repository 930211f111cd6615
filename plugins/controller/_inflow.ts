/**
 * How fast work becomes claimable, over a short window.
 *
 * @module
 */

import type { PoolView } from "../../src/contract/view.ts";

/** How many readings of a window are kept, roughly. */
const READINGS = 20;

/**
 * Inflow by conservation: what started, plus the growth of this process's share of what waits. That
 * counts retries and what other processes enqueue, and a delayed job when it is due.
 */
export class InflowMeter {
  readonly #seen: { readonly atMs: number; readonly count: number }[] = [];

  /** Jobs per second over the last `windowMs`, with this view's. `nowMs` never goes back. 0 until a whole window was seen. */
  update({ nowMs, totals, lanes, peers }: PoolView, windowMs: number): number {
    const seen = this.#seen;
    let ready = 0;
    for (const lane of lanes) ready += lane.ready;
    const count = totals.starts + ready / peers;
    if (nowMs - (seen.at(-1)?.atMs ?? -Infinity) >= windowMs / READINGS) {
      seen.push({ atMs: nowMs, count });
    }
    while (seen.length > 1 && seen[1]!.atMs <= nowMs - windowMs) seen.shift();
    const [first] = seen;
    const elapsedMs = nowMs - first!.atMs;
    return elapsedMs < windowMs ? 0 : Math.max(0, count - first!.count) * 1000 / elapsedMs;
  }
}
