/**
 * The store in memory: nothing outlives the process, and every call answers at once.
 *
 * @module
 */

import { defineStore, type Plugin } from "../../src/contract/plugin.ts";
import type { QueueOptions, StateEntry, Store } from "../../src/contract/store.ts";
import { MemoryPool } from "./pool.ts";
import { type Fences, MemoryQueue } from "./queue.ts";
import { MemoryState } from "./state.ts";

/** The store in memory. Takes no options. */
export const memory: Plugin<"store", Record<string, never>> = defineStore({
  name: "memory",
  durable: false,
  create: () => new MemoryStore(),
});

/** Jobs and shared state in memory. Pools that are opened under one name share their jobs. */
export class MemoryStore implements Store {
  readonly #pools = new Map<string, MemoryPool>();
  readonly #fences: Fences = { latest: 0 };
  readonly #state = new MemoryState();
  #epoch = "";

  /** Opens the queue of one pool and joins as a member. */
  open(options: QueueOptions): MemoryQueue {
    let pool = this.#pools.get(options.pool);
    if (pool === undefined) {
      if (this.#epoch === "") this.#epoch = makeEpoch(options);
      // Pools number their jobs on their own: the pool's number makes ids unique within the store.
      const prefix = `${this.#epoch}${this.#pools.size.toString(36)}-`;
      pool = new MemoryPool(options.pool, prefix, this.#state);
      this.#pools.set(options.pool, pool);
    }
    return new MemoryQueue(pool, options, this.#fences);
  }

  /** Reads shared state. */
  get(key: string): StateEntry | undefined {
    return this.#state.get(key);
  }

  /** Changes shared state if nothing changed under it. */
  commit(
    checks: Readonly<Record<string, string | undefined>>,
    sets: Readonly<Record<string, unknown>>,
  ): boolean {
    const done = this.#state.commit(checks, sets);
    if (done) { for (const pool of this.#pools.values()) pool.wakeAll(); }
    return done;
  }

  /** Forgets all jobs and state. Waiting outcomes become `unfinished`. */
  close(): void {
    for (const pool of this.#pools.values()) pool.forsake();
    this.#pools.clear();
    this.#state.clear();
  }
}

/** Tells the ids of one run of a process from those of another. */
function makeEpoch({ nowMs, random }: QueueOptions): string {
  const chance = Math.floor(random() * 36 ** 4).toString(36).padStart(4, "0");
  return Math.floor(nowMs).toString(36) + chance;
}
