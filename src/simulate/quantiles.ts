/**
 * Quantiles of any number of durations in bounded memory.
 *
 * @module
 */

import { quantile } from "../base/stats.ts";

/** Quantiles of durations, ms. */
export interface Quantiles {
  /** Median. */
  readonly p50: number;
  /** 95th percentile. */
  readonly p95: number;
  /** 99th percentile. */
  readonly p99: number;
  /** The longest. */
  readonly max: number;
}

/** Up to this many are kept as they are: quantiles (nearest rank) are exact. */
const EXACT = 2 ** 17;

/** Beyond, they are counted in buckets, each so much wider than the one before it. */
const STEP = Math.log(1.002);

/** The first bucket holds what is not longer, ms. */
const LEAST_MS = 0.001;

/** The last bucket begins at some 30 years. */
const BUCKETS = 17_500;

/** Takes durations in; quantiles are exact at first, then within 0.1 %. */
export class Durations {
  #values: Float64Array = new Float64Array(256);
  #buckets: Float64Array | undefined;
  #count = 0;
  #maxMs = 0;

  /** Adds a duration, >= 0. */
  add(ms: number): void {
    if (ms > this.#maxMs) this.#maxMs = ms;
    if (this.#buckets !== undefined) this.#buckets[bucketOf(ms)]!++;
    else if (this.#count < EXACT) this.#keep(ms);
    else this.#toBuckets(ms);
    this.#count++;
  }

  /** Their quantiles. `undefined`: none was added. */
  quantiles(): Quantiles | undefined {
    if (this.#count === 0) return undefined;
    const at = this.#buckets === undefined ? this.#exactly() : this.#roughly(this.#buckets);
    return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: this.#maxMs };
  }

  #keep(ms: number): void {
    if (this.#count === this.#values.length) {
      const values = new Float64Array(this.#count * 2);
      values.set(this.#values);
      this.#values = values;
    }
    this.#values[this.#count] = ms;
  }

  #toBuckets(ms: number): void {
    const buckets = new Float64Array(BUCKETS);
    for (const value of this.#values) buckets[bucketOf(value)]!++;
    buckets[bucketOf(ms)]!++;
    this.#buckets = buckets;
    this.#values = new Float64Array(0);
  }

  #exactly(): (share: number) => number {
    const sorted = this.#values.slice(0, this.#count).sort();
    return (share) => quantile(sorted, share);
  }

  #roughly(buckets: Float64Array): (share: number) => number {
    return (share) => {
      const rank = Math.max(1, Math.ceil(share * this.#count - 1e-9));
      let seen = 0;
      const bucket = buckets.findIndex((count) => (seen += count) >= rank);
      const ms = bucket === 0 ? 0 : LEAST_MS * Math.exp((bucket - 0.5) * STEP);
      return Math.min(ms, this.#maxMs);
    };
  }
}

function bucketOf(ms: number): number {
  if (ms <= LEAST_MS) return 0;
  return Math.min(BUCKETS - 1, 1 + Math.floor(Math.log(ms / LEAST_MS) / STEP));
}
