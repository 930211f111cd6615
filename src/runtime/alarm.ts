/**
 * A pool's one timer.
 *
 * @module
 */

import type { Clock, Timer } from "../time/clock.ts";

/** Calls back once, at the earliest of the times it was asked for. */
export class Alarm {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #timer: Timer | undefined;
  #atMs = Infinity;

  /** `ring` is called at each time set, and sets the next. */
  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** Rings at `atMs` unless it rings sooner anyway. */
  by(atMs: number): void {
    if (!(atMs < this.#atMs)) return;
    this.#timer?.cancel();
    this.#atMs = atMs;
    this.#timer = this.#clock.at(atMs, () => {
      this.#timer = undefined;
      this.#atMs = Infinity;
      this.#ring();
    });
  }

  /** Rings no more. */
  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#atMs = Infinity;
  }
}
