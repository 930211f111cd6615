/**
 * When jobs of the keys of one lane have started, as long as their rates ask for it.
 *
 * @module
 */

import { addStart, type KeyRate, longestMs, nextStartMs } from "../../src/base/key_starts.ts";

const NONE: readonly number[] = [];

/** A key, and when to look whether it may be forgotten. */
interface Known {
  readonly key: string;
  readonly lookAtMs: number;
}

/** Starts by key. A key without a start in the longest window leaves no trace. */
export class KeyStarts {
  #rates: readonly KeyRate[];
  readonly #byKey = new Map<string, number[]>();
  #known: Known[] = []; // each key once, from `#front` on
  #front = 0;

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
    if (starts === undefined) {
      this.#byKey.set(key, starts = []);
      this.#known.push({ key, lookAtMs: nowMs + longestMs(this.#rates) });
    }
    addStart(this.#rates, starts, atMs, nowMs);
  }

  /** Keys that are known. */
  get size(): number {
    return this.#byKey.size;
  }

  #forget(nowMs: number): void {
    const known = this.#known;
    for (let next = known[this.#front]; next !== undefined && next.lookAtMs <= nowMs;) {
      const { key } = next;
      const last = this.#byKey.get(key)?.at(-1) ?? -Infinity;
      const lookAtMs = last + longestMs(this.#rates);
      if (lookAtMs <= nowMs) this.#byKey.delete(key);
      else known.push({ key, lookAtMs });
      next = known[++this.#front];
    }
    if (this.#front * 2 <= known.length) return;
    this.#known = known.slice(this.#front);
    this.#front = 0;
  }
}
