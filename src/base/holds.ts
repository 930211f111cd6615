/**
 * Counts that hold until a time each, and the highest of them.
 *
 * @module
 */

interface Hold {
  readonly workers: number;
  readonly untilMs: number;
}

/**
 * Keeps only what can still be the highest: what lasts longer is lower. Of whole counts these are at
 * most as many as there are workers.
 */
export class Holds {
  readonly #kept: Hold[] = [];

  /** Holds `workers`, whole, until then. */
  add(workers: number, untilMs: number): void {
    const kept = this.#kept;
    let end = kept.length;
    while (end > 0 && kept[end - 1]!.untilMs > untilMs) end--;
    if (end < kept.length && kept[end]!.workers >= workers) return;
    let first = end;
    while (first > 0 && kept[first - 1]!.workers <= workers) first--;
    kept.splice(first, end - first, { workers, untilMs });
  }

  /** The highest count that holds at `nowMs`, which never goes back. 0 if none does. */
  max(nowMs: number): number {
    const ended = this.#kept.findIndex(({ untilMs }) => untilMs >= nowMs);
    if (ended !== 0) this.#kept.splice(0, ended < 0 ? Infinity : ended);
    return this.#kept[0]?.workers ?? 0;
  }

  /** When the last count above `workers` ends. `undefined`: none is above it. */
  endAbove(workers: number): number | undefined {
    return this.#kept.findLast((hold) => hold.workers > workers)?.untilMs;
  }
}
