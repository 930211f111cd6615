/**
 * How fast a count rises, over a short window.
 *
 * @module
 */

/** How many readings of a window are kept, roughly. */
const READINGS = 20;

/** A rate over a window whose length may differ from one reading to the next. */
export class WindowedRate {
  readonly #seen: { readonly atMs: number; readonly count: number }[] = [];

  /** Per second over the last `windowMs`, with this reading. `nowMs` never goes back. 0 until a whole window was seen. */
  update(nowMs: number, count: number, windowMs: number): number {
    const seen = this.#seen;
    if (nowMs - (seen.at(-1)?.atMs ?? -Infinity) >= windowMs / READINGS) {
      seen.push({ atMs: nowMs, count });
    }
    let first = 0;
    while (first + 1 < seen.length && seen[first + 1]!.atMs <= nowMs - windowMs) first++;
    seen.splice(0, first);
    const elapsedMs = nowMs - seen[0]!.atMs;
    return elapsedMs < windowMs ? 0 : Math.max(0, count - seen[0]!.count) * 1000 / elapsedMs;
  }
}
