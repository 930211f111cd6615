/**
 * Sums of the run times of a lane's attempts.
 *
 * @module
 */

/** Run times count as so long at least in the sum of their logarithms, ms: 0 has none. */
const LEAST_TIMED_MS = 0.01;

/** A product of run times beyond this, or below its inverse, is taken into the sum: one more would fit still. */
const LARGEST_PRODUCT = 1e200;

/** Adds run times up, a few ns each. */
export class TimedRuns {
  /** How many. */
  count = 0;
  /** Their sum, ms. */
  ms = 0;
  #log = 0;
  #product = 1; // of the run times since: one logarithm for many

  /** Sum of their natural logarithms. */
  get log(): number {
    return this.#log + Math.log(this.#product);
  }

  /** Adds one. */
  add(ms: number): void {
    this.count++;
    this.ms += ms;
    this.#product *= Math.max(ms, LEAST_TIMED_MS);
    if (this.#product < LARGEST_PRODUCT && this.#product > 1 / LARGEST_PRODUCT) return;
    this.#log += Math.log(this.#product);
    this.#product = 1;
  }
}
