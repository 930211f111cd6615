/**
 * Chance in the terms of scenarios that are drawn.
 *
 * @module
 */

import { randomStream } from "../src/base/random.ts";

/** What a name and a seed come to, always the same. */
export class Dice {
  readonly #random: () => number;

  /** Another stream for each name. */
  constructor(seed: number, name: string) {
    this.#random = randomStream(seed, name);
  }

  /** Even between the two. */
  even(least: number, most: number): number {
    return least + (most - least) * this.#random();
  }

  /** Each doubling alike often. */
  log(least: number, most: number): number {
    return least * (most / least) ** this.#random();
  }

  /** A whole number, each doubling alike often. */
  whole(least: number, most: number): number {
    return Math.round(this.log(least, most));
  }

  /** One of them, each alike often. */
  one<Item>(...items: readonly Item[]): Item {
    return items[Math.floor(items.length * this.#random())]!;
  }
}
