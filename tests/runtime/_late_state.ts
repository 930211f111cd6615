/**
 * The store in memory, whose shared state is as far away as that of a database.
 *
 * @module
 */

import { MemoryStore } from "../../stores/memory/mod.ts";
import type { QueueOptions, StateEntry, Store } from "../../src/contract/store.ts";
import type { VirtualClock } from "../../src/time/virtual_clock.ts";

/** The store in memory, whose shared state answers late, or not at all. */
export class LateState implements Store {
  readonly store = new MemoryStore();
  /** True: each call hears of an error. */
  fails = false;
  readonly #clock: () => VirtualClock;
  latencyMs: number;

  /** Each way takes this many ms of the clock. */
  constructor(clock: () => VirtualClock, latencyMs: number) {
    this.#clock = clock;
    this.latencyMs = latencyMs;
  }

  open(options: QueueOptions): ReturnType<MemoryStore["open"]> {
    return this.store.open(options);
  }

  async get(key: string): Promise<StateEntry | undefined> {
    await this.#way();
    return this.store.get(key);
  }

  async commit(...given: Parameters<MemoryStore["commit"]>): Promise<boolean> {
    await this.#way();
    const done = this.store.commit(...given);
    await this.#way();
    return done;
  }

  close(): void {
    this.store.close();
  }

  async #way(): Promise<void> {
    await new Promise<void>((resolve) => {
      const clock = this.#clock();
      clock.at(clock.nowMs() + this.latencyMs, resolve);
    });
    if (this.fails) throw new Error("The state cannot be reached");
  }
}

/** A promise that is awaited later: its rejection is nobody's fault meanwhile. */
export function starting<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
