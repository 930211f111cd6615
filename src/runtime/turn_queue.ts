/**
 * When a turn that was asked for is taken: in this turn of the event loop, unless turns have followed each
 * other for long. Then the event loop runs first: timers and sockets are not starved.
 *
 * @module
 */

import type { Clock } from "../time/clock.ts";
import type { PoolState } from "./pool_state.ts";

/** After this many starts it looks whether the event loop still runs between turns. */
const STARTS_PER_LOOK = 64;

/** If it has not for so long, ms, the next turn lets it run first. */
const HOP_AFTER_MS = 10;

/** Puts turns into the event loop. */
export class TurnQueue {
  readonly #clock: Clock;
  readonly #state: PoolState;
  #startsAtLook = 0;
  #lookedAtMs: number | undefined; // when it began to look; until the event loop has run

  /** `state` counts the starts. */
  constructor(clock: Clock, state: PoolState) {
    this.#clock = clock;
    this.#state = state;
  }

  /** Takes a turn after what runs now. */
  push(turn: () => void): void {
    if (this.#starves()) this.#clock.hop?.(turn);
    else queueMicrotask(turn);
  }

  /** True if turns have followed each other for long without the event loop running in between. */
  #starves(): boolean {
    const { starts } = this.#state.totals;
    if (this.#clock.hop === undefined || starts - this.#startsAtLook < STARTS_PER_LOOK) {
      return false;
    }
    const nowMs = this.#clock.nowMs();
    if (this.#lookedAtMs !== undefined) return nowMs - this.#lookedAtMs >= HOP_AFTER_MS;
    this.#lookedAtMs = nowMs;
    this.#clock.hop(() => {
      this.#lookedAtMs = undefined;
      this.#startsAtLook = this.#state.totals.starts;
    });
    return false;
  }
}
