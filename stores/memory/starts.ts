/**
 * When jobs of the keys of one lane have started, as long as their rates ask for it.
 *
 * @module
 */

import { addStart, type KeyRate, longestMs, nextStartMs } from "../../src/base/key_starts.ts";

const NONE: readonly number[] = [];

/** Keys without jobs are forgotten one after the other, in the order in which they became so. */
interface Resting {
  readonly key: string;
  readonly untilMs: number;
}

/** Starts by key. A key without a start in the longest window leaves no trace. */
export class KeyStarts {
  #rates: readonly KeyRate[];
  readonly #byKey = new Map<string, number[]>();
  #resting: Resting[] = [];
  #forgotten = 0; // of `#resting`, from its beginning

  /** Begins with none. */
  constructor(rates: readonly KeyRate[]) {
    this.#rates = rates;
  }

  /** Goes by other rates from now on. */
  adopt(rates: readonly KeyRate[]): void {
    this.#rates = rates;
  }

  /** When another job of a key may start, where `held` were let start and have not ended. */
  nextMs(key: string, held: number, nowMs: number): number {
    return nextStartMs(this.#rates, held, this.#byKey.get(key) ?? NONE, nowMs);
  }

  /** A job of a key started at `atMs`, and has ended. */
  add(key: string, atMs: number, nowMs: number): void {
    this.#forget(nowMs);
    let starts = this.#byKey.get(key);
    if (starts === undefined) this.#byKey.set(key, starts = []);
    addStart(this.#rates, starts, atMs, nowMs);
    this.#resting.push({ key, untilMs: nowMs + longestMs(this.#rates) });
  }

  /** Keys that are known. */
  get size(): number {
    return this.#byKey.size;
  }

  #forget(nowMs: number): void {
    const resting = this.#resting;
    for (let next = resting[this.#forgotten]; next !== undefined && next.untilMs <= nowMs;) {
      const last = this.#byKey.get(next.key)?.at(-1) ?? -Infinity;
      if (last + longestMs(this.#rates) <= nowMs) this.#byKey.delete(next.key);
      next = resting[++this.#forgotten];
    }
    if (this.#forgotten * 2 <= resting.length) return;
    this.#resting = resting.slice(this.#forgotten);
    this.#forgotten = 0;
  }
}
