/**
 * The highest of the latest values.
 *
 * @module
 */

/**
 * A sliding-window maximum: a value is dropped as soon as a later one is as high, so what is kept
 * falls from the oldest to the newest. Add and max are O(1) amortized.
 */
export class Peaks {
  readonly #times: number[] = [];
  readonly #values: number[] = [];
  #first = 0;

  /** Adds a value; `atMs` never goes back. */
  add(atMs: number, value: number): void {
    while (this.#values.length > this.#first && this.#values.at(-1)! <= value) {
      this.#values.pop();
      this.#times.pop();
    }
    this.#values.push(value);
    this.#times.push(atMs);
  }

  /** The highest value added at `sinceMs` or later; earlier ones are forgotten. 0 if there is none. */
  max(sinceMs: number): number {
    while (this.#first < this.#times.length && this.#times[this.#first]! < sinceMs) this.#first++;
    // A consumed prefix costs less than a shift a value, but must not grow forever.
    if (this.#first > 64 && this.#first * 2 > this.#times.length) {
      this.#times.splice(0, this.#first);
      this.#values.splice(0, this.#first);
      this.#first = 0;
    }
    return this.#values[this.#first] ?? 0;
  }

  /** When the last value above `level` was added. `undefined`: no value that is kept is above it. */
  lastAbove(level: number): number | undefined {
    let found: number | undefined;
    for (let index = this.#first; index < this.#values.length; index++) {
      if (this.#values[index]! <= level) break;
      found = this.#times[index];
    }
    return found;
  }
}
