/**
 * Jobs on their way into a store that may never answer.
 *
 * @module
 */

import { Alarm } from "./alarm.ts";
import type { Clock } from "../time/clock.ts";
import { StoreError } from "../contract/errors.ts";
import type { PoolState } from "./pool_state.ts";
import { OpenList } from "../base/open_list.ts";
import type { Added } from "../contract/store.ts";

/** What follows from the answer to `add`. */
export interface AddCall<T> {
  /** Throws if the answer is none. */
  readonly judge: (added: readonly Added[]) => void;
  /** Gets the answer. What it throws rejects the wait. */
  readonly took: (added: readonly Added[]) => T;
  /** Makes an error of a fault of the store. */
  readonly failed: (thrown: unknown) => Error;
  /** Gets an answer that comes after the call was given up. */
  readonly late: (added: readonly Added[]) => void;
}

interface Call {
  readonly sinceMs: number;
  readonly giveUp: (error: Error) => void;
}

/** Owns the calls of `add` that have no answer yet: each is given up after `leaseMs`. */
export class Unanswered {
  readonly #state: PoolState;
  readonly #alarm: Alarm;
  readonly #open = new OpenList<Call>();

  /** Begins with none. */
  constructor(state: PoolState, clock: Clock) {
    this.#state = state;
    this.#alarm = new Alarm(clock, () => this.#enforce(clock.nowMs()));
  }

  /**
   * What comes of a call made at `nowMs`.
   *
   * @throws {Error} What `failed` makes of a fault, such as no answer within `leaseMs` or by `close`: the call
   * may be done all the same.
   */
  wait<T>(
    answer: Promise<readonly Added[]>,
    nowMs: number,
    { judge, took, failed, late }: AddCall<T>,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const fail = (thrown: unknown): void => reject(failed(thrown));
      const open = this.#open.add({ sinceMs: nowMs, giveUp: fail });
      this.#alarm.by(nowMs + this.#state.settings.leaseMs);
      answer.then((added) => {
        if (!this.#open.delete(open)) return late(added);
        try {
          judge(added);
        } catch (thrown) {
          return fail(thrown);
        }
        try {
          resolve(took(added));
        } catch (thrown) {
          reject(thrown);
        }
      }, (thrown) => {
        if (this.#open.delete(open)) fail(thrown); // else it was given up, and reported then
      });
    });
  }

  /** Waits no longer: the pool has stopped. */
  close(): void {
    this.#alarm.cancel();
    while (this.#open.first !== undefined) this.#giveUp("No answer before the pool stopped");
  }

  #enforce(nowMs: number): void {
    const { leaseMs } = this.#state.settings;
    for (let call = this.#open.first; call !== undefined; call = this.#open.first) {
      if (call.sinceMs + leaseMs > nowMs) return this.#alarm.by(call.sinceMs + leaseMs);
      this.#giveUp(`No answer to add within ${leaseMs} ms`);
    }
  }

  /** Gives the oldest up. */
  #giveUp(why: string): void {
    const message =
      `The job could not be stored: ${why}; it may have been stored, so check before you try again`;
    this.#open.shift()?.giveUp(
      new StoreError(new Error(why), message, { mayBeDone: true, isLate: true }),
    );
  }
}
