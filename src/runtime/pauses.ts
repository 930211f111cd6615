/**
 * Which lanes are paused: kept in the store, so that a pause holds for all processes and outlives
 * them.
 *
 * Two have a say in a lane: the config, and people who pause or resume it. The store remembers what
 * the config said when it was last put in effect. A config that says something else wins; one that
 * says the same as before leaves what people did since.
 *
 * @module
 */

import type { PoolCore } from "./pool_core.ts";
import type { PoolState } from "./pool_state.ts";
import type { LaneSettings } from "../config/settings.ts";
import type { MaybePromise, StateEntry, Store } from "../contract/store.ts";
import { isPromise } from "./store_guard.ts";

/** What the store keeps. */
interface Paused {
  /** True: someone has paused the whole pool. */
  readonly pool: boolean;
  /** Lanes that are paused. */
  readonly lanes: readonly string[];
  /** Lanes that were paused by the config that was last put in effect. */
  readonly configured?: readonly string[];
}

const NOTHING: Paused = { pool: false, lanes: [] };

/** What pauses need of their pool. Of its state pauses own `paused` of its lanes. */
export interface PausesContext extends Pick<PoolCore, "state" | "now"> {
  /** Where they are kept. */
  readonly store: Store;
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
  #heard = 0; // the latest of what was asked that has been followed, or set meanwhile
  readonly #unwritten = new Map<string, boolean>(); // what the config says, until the store has it

  /** Begins with what the lanes' settings say. */
  constructor({ store, state, now, changed }: PausesContext) {
    this.#store = store;
    this.#state = state;
    this.#key = `pause/${state.pool}`;
    this.#now = now;
    this.#changed = changed;
  }

  /** Takes over what is set already, and puts in effect what the config has changed since. */
  async load(): Promise<void> {
    await this.configure(this.#state.settings.lanes);
  }

  /** Puts in effect what the config says of lanes, where it said something else before. */
  async configure(lanes: readonly LaneSettings[]): Promise<void> {
    for (const { name, paused } of lanes) this.#unwritten.set(name, paused);
    await this.#change((before) => before);
  }

  /** Pauses or resumes a lane, or the pool, for all processes. */
  async set(lane: string | undefined, paused: boolean): Promise<void> {
    await this.#change((before) =>
      lane === undefined
        ? { ...before, pool: paused }
        : { ...before, lanes: toggled(before.lanes, lane, paused) }
    );
  }

  /** Takes over what holds for new lanes. */
  adopt(): void {
    for (const lane of this.#state.lanes) lane.pause(lane.paused || this.pool, this.#now());
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

  /** Changes what the store keeps; what it does not know of the config yet goes with it. */
  async #change(update: (before: Paused) => Paused): Promise<void> {
    for (;;) {
      const said = new Map(this.#unwritten);
      const entry = await this.#store.get(this.#key);
      const before = readPaused(entry);
      const after = update(withConfig(before, said));
      const sets = { [this.#key]: after };
      if (after === before || await this.#store.commit({ [this.#key]: entry?.version }, sets)) {
        this.#heard = this.#asked; // answers that are on their way are older
        for (const [lane, paused] of said) {
          if (this.#unwritten.get(lane) === paused) this.#unwritten.delete(lane);
        }
        this.#apply(after);
        return;
      }
    }
  }

  #take(entry: StateEntry | undefined): void {
    this.#apply(readPaused(entry));
  }

  #apply(stored: Paused): void {
    const paused = withConfig(stored, this.#unwritten);
    const lanes = new Set(paused.lanes);
    this.pool = paused.pool;
    for (const lane of this.#state.lanes) {
      lane.pause(paused.pool || lanes.has(lane.name), this.#now());
    }
  }
}

/** What is paused: nothing where what says so was damaged in the store. */
function readPaused(entry: StateEntry | undefined): Paused {
  const paused = entry?.value as Partial<Paused> | null | undefined; // only this file writes the key
  const { pool, lanes, configured = [] } = paused ?? {};
  const isWhole = typeof pool === "boolean" && Array.isArray(lanes) && Array.isArray(configured);
  return isWhole ? paused as Paused : NOTHING;
}

/** `stored` with what a config says of some lanes; itself if that is what was said before. */
function withConfig(stored: Paused, said: ReadonlyMap<string, boolean>): Paused {
  const lanes = new Set(stored.lanes);
  const configured = new Set(stored.configured);
  let isSame = true;
  for (const [lane, paused] of said) {
    if (configured.has(lane) === paused) continue;
    isSame = false;
    for (const names of [lanes, configured]) paused ? names.add(lane) : names.delete(lane);
  }
  return isSame ? stored : { ...stored, lanes: [...lanes], configured: [...configured] };
}

function toggled(lanes: readonly string[], lane: string, paused: boolean): readonly string[] {
  const others = lanes.filter((name) => name !== lane);
  return paused ? [...others, lane] : others;
}
