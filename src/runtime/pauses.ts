/**
 * Which lanes are paused: kept in the store, so that a pause holds for all processes.
 *
 * @module
 */

import type { PoolState } from "./pool_state.ts";
import type { MaybePromise, StateEntry, Store } from "../store.ts";
import { isPromise } from "./store_guard.ts";

interface Paused {
  readonly pool: boolean;
  readonly lanes: readonly string[];
}

/** What pauses need of their pool. */
export interface PausesContext {
  /** Where they are kept. */
  readonly store: Store;
  /** Its state; pauses own `paused` of its lanes. */
  readonly state: PoolState;
  /** Reads the clock. */
  readonly now: () => number;
  /** Jobs may have become claimable, or not, since it was asked. */
  readonly changed: () => void;
}

/** Owns the pauses of one pool. */
export class Pauses {
  /** True while the whole pool is paused. */
  pool = false;
  readonly #store: Store;
  readonly #state: PoolState;
  readonly #key: string;
  readonly #now: () => number;
  readonly #changed: () => void;
  #asked = 0;
  #heard = 0; // the latest of what was asked that has been heeded, or set meanwhile

  /** Begins with what the lanes' settings say. */
  constructor({ store, state, now, changed }: PausesContext) {
    this.#store = store;
    this.#state = state;
    this.#key = `pause/${state.pool}`;
    this.#now = now;
    this.#changed = changed;
  }

  /** Takes over what is set already. */
  async load(): Promise<void> {
    this.#take(await this.#store.get(this.#key));
  }

  /** Pauses or resumes a lane, or the pool, for all processes. */
  async set(lane: string | undefined, paused: boolean): Promise<void> {
    for (;;) {
      const entry = await this.#store.get(this.#key);
      const before = readPaused(entry) ?? this.#local();
      const after = lane === undefined
        ? { ...before, pool: paused }
        : { ...before, lanes: toggled(before.lanes, lane, paused) };
      if (await this.#store.commit({ [this.#key]: entry?.version }, { [this.#key]: after })) {
        this.#heard = this.#asked; // answers that are on their way are older
        this.#apply(after);
        return;
      }
    }
  }

  /** Takes over what holds for new lanes. */
  adopt(): void {
    for (const lane of this.#state.lanes) lane.paused ||= this.pool;
    this.refresh();
  }

  /** Takes over what another process set. A store that fails is seen by the next renewal. */
  refresh(): void {
    let answer: MaybePromise<StateEntry | undefined>;
    try {
      answer = this.#store.get(this.#key);
    } catch {
      return; // the guard of the queue's calls tells of a failing store
    }
    if (!isPromise(answer)) return this.#take(answer);
    const number = ++this.#asked;
    answer.then((entry) => {
      if (number <= this.#heard) return;
      this.#heard = number;
      this.#take(entry);
      this.#changed();
    }, () => {});
  }

  #take(entry: StateEntry | undefined): void {
    const paused = readPaused(entry);
    if (paused !== undefined) this.#apply(paused);
  }

  #local(): Paused {
    const lanes = this.#state.lanes.filter((lane) => lane.paused).map((lane) => lane.name);
    return { pool: false, lanes };
  }

  #apply(paused: Paused): void {
    this.pool = paused.pool;
    for (const lane of this.#state.lanes) {
      const now = paused.pool || paused.lanes.includes(lane.name);
      if (lane.paused && !now) lane.resumedAtMs = this.#now();
      lane.paused = now;
    }
  }
}

function readPaused(entry: StateEntry | undefined): Paused | undefined {
  return entry?.value as Paused | undefined; // only this file writes the key
}

function toggled(lanes: readonly string[], lane: string, paused: boolean): readonly string[] {
  const others = lanes.filter((name) => name !== lane);
  return paused ? [...others, lane] : others;
}
