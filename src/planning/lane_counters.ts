/**
 * What metrics need of a lane beside its view: counts and distributions since the pool began.
 *
 * @module
 */

import type { DeadReason } from "../contract/job.ts";

/** Upper bounds of the buckets of a distribution, ms; each bucket holds its bound. What is longer has one more. */
export const BUCKETS_MS: readonly number[] = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1_000, 2_000, 5_000, 10_000, 30_000],
  ...[60_000, 300_000, 900_000, 3_600_000],
];

/** How long many things took. */
export interface Distribution {
  /** How many. */
  readonly count: number;
  /** Sum of all, ms. */
  readonly sumMs: number;
  /** How many fell into each bucket: one a bound of `BUCKETS_MS`, then what is longer. */
  readonly buckets: readonly number[];
}

/** What has come of the jobs of one lane in this process since the pool began. */
export interface LaneCounters {
  /** Name of the lane. */
  readonly lane: string;
  /** Jobs accepted. */
  readonly accepted: number;
  /** Jobs rejected, or dropped as late. */
  readonly shed: number;
  /** Attempts that started later than the target wait. */
  readonly late: number;
  /** Attempts that ended done. */
  readonly done: number;
  /** Attempts that failed. Deferrals are not failures. */
  readonly failed: number;
  /** Attempts that ended with `RetryLater`. */
  readonly deferred: number;
  /** Jobs that ended as cancelled. */
  readonly cancelled: number;
  /** Jobs that died, by the reason. */
  readonly dead: Readonly<Record<DeadReason, number>>;
  /** From due to started, of every attempt that started and had not been blocked. */
  readonly waits: Distribution;
  /** The same of those that had been. `undefined`: the lane has no limit by key. */
  readonly blockedWaits: Distribution | undefined;
  /** Run times of attempts that ended done or failed. */
  readonly runs: Distribution;
}

/** The bounds with one that ends every scan. */
const BOUNDS = Float64Array.of(...BUCKETS_MS, Infinity);

/** Where the sum is, behind the buckets. */
const SUM = BOUNDS.length;

/** Counts durations into buckets. */
export class Histogram {
  readonly #figures = new Float64Array(SUM + 1);

  /** Adds a duration, twice with every job: a scan from below takes a few ns where most are short. */
  add(ms: number): void {
    const figures = this.#figures;
    let bucket = 0;
    while (ms > BOUNDS[bucket]!) bucket++;
    figures[bucket]!++;
    figures[SUM]! += ms;
  }

  /** How many there are. */
  get count(): number {
    let count = 0;
    for (let bucket = 0; bucket < SUM; bucket++) count += this.#figures[bucket]!;
    return count;
  }

  /** Sum of all, ms. */
  get sumMs(): number {
    return this.#figures[SUM]!;
  }

  /** A frozen copy. */
  read(): Distribution {
    const buckets = Object.freeze([...this.#figures.subarray(0, SUM)]);
    return Object.freeze({ count: this.count, sumMs: this.sumMs, buckets });
  }
}
