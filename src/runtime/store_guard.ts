/**
 * Calls to a store that may fail: backs off, and keeps the pool's view honest meanwhile.
 *
 * @module
 */

import { messageOf } from "../errors.ts";
import type { EventHub } from "./event_hub.ts";
import type { PoolState } from "./pool_state.ts";
import type { MaybePromise } from "../store.ts";

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5000;

/** True for what must be awaited. */
export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof value === "object" && value !== null && "then" in value &&
    typeof value.then === "function";
}

/** Stands between a pool and its store: while the store fails, calls wait ever longer, with jitter. */
export class StoreGuard {
  /** No call before then. */
  resumeAtMs = -Infinity;
  readonly #state: PoolState;
  readonly #hub: EventHub;
  readonly #random: () => number;
  readonly #now: () => number;
  #pauseMs = FIRST_PAUSE_MS;

  /** `now` reads the clock; `random` spreads the retries of several processes. */
  constructor(state: PoolState, hub: EventHub, random: () => number, now: () => number) {
    this.#state = state;
    this.#hub = hub;
    this.#random = random;
    this.#now = now;
  }

  /** True while calls have to wait. */
  closed(nowMs: number): boolean {
    return nowMs < this.resumeAtMs;
  }

  /** Calls the store; `ok` gets its answer, at once if it answers at once; `failed` is called after a fault. */
  call<T>(operation: () => MaybePromise<T>, ok: (value: T) => void, failed: () => void): void {
    let answer: MaybePromise<T>;
    try {
      answer = operation();
    } catch (thrown) {
      this.#fail(thrown);
      failed();
      return;
    }
    if (!isPromise(answer)) {
      if (this.#state.stale) this.#recover();
      ok(answer);
      return;
    }
    answer.then((value) => {
      if (this.#state.stale) this.#recover();
      ok(value);
    }, (thrown) => {
      this.#fail(thrown);
      failed();
    });
  }

  #fail(thrown: unknown): void {
    const nowMs = this.#now();
    if (!this.#state.stale) {
      this.#state.stale = true;
      if (this.#hub.active) {
        this.#hub.emit({
          kind: "store-failed",
          atMs: nowMs,
          pool: this.#state.pool,
          error: messageOf(thrown),
        });
      }
    }
    this.resumeAtMs = nowMs + this.#pauseMs * (1 + this.#random());
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, this.#pauseMs * 2);
  }

  #recover(): void {
    this.#state.stale = false;
    this.#pauseMs = FIRST_PAUSE_MS;
    this.resumeAtMs = -Infinity;
    if (this.#hub.active) {
      this.#hub.emit({ kind: "store-recovered", atMs: this.#now(), pool: this.#state.pool });
    }
  }
}
