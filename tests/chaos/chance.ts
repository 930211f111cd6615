/**
 * Draws of a seed.
 *
 * @module
 */

/** What a schedule is drawn with. */
export class Chance {
  readonly #random: () => number;
  readonly #skewed: boolean;

  /** `skewed`: the clocks of processes differ. */
  constructor(random: () => number, skewed = false) {
    this.#random = random;
    this.#skewed = skewed;
  }

  /** True in this share of draws. */
  is(share: number): boolean {
    return this.#random() < share;
  }

  /** A whole number from `least` to `most`. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.#random() * (most - least + 1));
  }

  /** One of these. */
  of<const T>(...these: readonly T[]): T {
    return these[this.whole(0, these.length - 1)]!; // never called with none
  }

  /** This many draws. */
  many<T>(count: number, make: () => T): T[] {
    return Array.from({ length: count }, make);
  }

  /** How far ahead a clock is, ms. */
  offsetMs(): number {
    return this.#skewed ? this.of(0, -700, 40, 3000, -60_000) : 0;
  }

  /** One of these, as often as its weight says. */
  weighted<const T>(these: readonly (readonly [T, weight: number])[]): T {
    let left = this.whole(0, these.reduce((sum, [, weight]) => sum + weight, 0) - 1);
    for (const [one, weight] of these) {
      if (left < weight) return one;
      left -= weight;
    }
    throw new RangeError("Expected weights above 0");
  }
}
