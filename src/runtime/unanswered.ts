/**
 * Jobs on their way into a store that may never answer.
 *
 * @module
 */

import { Alarm } from "./alarm.ts";
import type { Clock } from "../time/clock.ts";
import { StoreError } from "../contract/errors.ts";
import type { PoolState } from "./pool_state.ts";
import type { Added } from "../contract/store.ts";

interface Open {
  readonly sinceMs: number;
  readonly giveUp: (error: Error) => void;
}

/** Owns the calls of `add` that have no answer yet: each is given up after `leaseMs`. */
export class Unanswered {
  readonly #state: PoolState;
  readonly #alarm: Alarm;
  readonly #open = new Set<Open>(); // oldest first

  /** Begins with none. */
  constructor(state: PoolState, clock: Clock) {
    this.#state = state;
    this.#alarm = new Alarm(clock, () => this.#enforce(clock.nowMs()));
  }

  /**
   * What the store answers to a call made at `nowMs`.
   *
   * @param late Gets an answer that comes after the call was given up.
   * @throws {StoreError} If it has not answered within `leaseMs`, or by `close`: it may be done all the same.
   */
  wait(
    answer: Promise<readonly Added[]>,
    nowMs: number,
    late: (added: readonly Added[]) => void,
  ): Promise<readonly Added[]> {
    return new Promise((resolve, reject) => {
      const open: Open = { sinceMs: nowMs, giveUp: reject };
      this.#open.add(open);
      this.#alarm.by(nowMs + this.#state.settings.leaseMs);
      answer.then((added) => {
        if (this.#open.delete(open)) resolve(added);
        else late(added);
      }, (thrown) => {
        if (this.#open.delete(open)) reject(thrown); // else it was given up, and reported then
      });
    });
  }

  /** Waits no longer: the pool has stopped. */
  close(): void {
    this.#alarm.cancel();
    for (const open of this.#open) this.#giveUp(open, "No answer before the pool stopped");
  }

  #enforce(nowMs: number): void {
    const { leaseMs } = this.#state.settings;
    for (const open of this.#open) {
      if (open.sinceMs + leaseMs > nowMs) return this.#alarm.by(open.sinceMs + leaseMs);
      this.#giveUp(open, `No answer to add within ${leaseMs} ms`);
    }
  }

  #giveUp(open: Open, why: string): void {
    this.#open.delete(open);
    const message =
      `The job could not be stored: ${why}; it may have been stored, so check before you try again`;
    open.giveUp(new StoreError(new Error(why), message, { mayBeDone: true, isLate: true }));
  }
}
