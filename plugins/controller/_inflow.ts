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
  readonly #times: number[] = [];
  readonly #counts: number[] = [];

  /** Jobs per second over the last `windowMs`, with this view's. `nowMs` never goes back. 0 until a whole window was seen. */
  update({ nowMs, totals, lanes, peers }: PoolView, windowMs: number): number {
    const times = this.#times;
    let ready = 0;
    for (const lane of lanes) ready += lane.ready;
    const count = totals.starts + ready / peers;
    if (nowMs - (times.at(-1) ?? -Infinity) >= windowMs / READINGS) {
      times.push(nowMs);
      this.#counts.push(count);
    }
    let first = 0;
    while (first + 1 < times.length && times[first + 1]! <= nowMs - windowMs) first++;
    times.splice(0, first);
    this.#counts.splice(0, first);
    const elapsedMs = nowMs - times[0]!;
    return elapsedMs < windowMs ? 0 : Math.max(0, count - this.#counts[0]!) * 1000 / elapsedMs;
  }
}
