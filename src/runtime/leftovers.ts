/**
 * Handlers that run on in this process although their store counts them no more: their pool has ended,
 * or their lease was lost. What bounds runs still counts them here.
 *
 * @module
 */

import type { Store } from "../contract/store.ts";

/** A handler that runs on. */
export interface Leftover {
  /** Name of its lane. */
  readonly lane: string;
  /** Key of its job. `undefined`: it has none. */
  readonly key: string | undefined;
  /** True if its pool has ended: else its worker is counted there. */
  readonly isOrphan: boolean;
}

/** Those of one pool's jobs, over all pools of that name and store that this process has had. */
export class Leftovers {
  readonly #all = new Set<Leftover>();
  readonly #listeners = new Set<() => void>();

  /** How many there are. */
  get size(): number {
    return this.#all.size;
  }

  /** Workers whose pool has ended, of all lanes or of one. */
  workers(lane?: string): number {
    let count = 0;
    for (const one of this.#all) {
      if (one.isOrphan && (lane === undefined || one.lane === lane)) count++;
    }
    return count;
  }

  /** Those that run jobs of a key. */
  ofKey(lane: string, key: string): number {
    let count = 0;
    for (const one of this.#all) if (one.lane === lane && one.key === key) count++;
    return count;
  }

  /** Takes one in, until the function that it returns is called. */
  add(leftover: Leftover): () => void {
    this.#all.add(leftover);
    this.#tell();
    return () => {
      if (this.#all.delete(leftover)) this.#tell();
    };
  }

  /** Calls back on each change, until the function that it returns is called. */
  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

// One for each place and pool, for the life of the process: a start may come after the stop of another.
const byPlace = new Map<string, Map<string, Leftovers>>();
const byStore = new WeakMap<Store, Map<string, Leftovers>>();

/** Those of the pools of that name whose jobs are in the same place. */
export function leftoversOf(store: Store, pool: string): Leftovers {
  const { place } = store;
  let pools = place === undefined ? byStore.get(store) : byPlace.get(place);
  if (pools === undefined) {
    pools = new Map();
    if (place === undefined) byStore.set(store, pools);
    else byPlace.set(place, pools);
  }
  let leftovers = pools.get(pool);
  if (leftovers === undefined) pools.set(pool, leftovers = new Leftovers());
  return leftovers;
}
