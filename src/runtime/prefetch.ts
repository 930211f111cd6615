/**
 * Jobs that are leased ahead of their start, so that a start rate is used while leases take their time.
 *
 * @module
 */

import type { Lane } from "./lane.ts";
import type { PoolState } from "./pool_state.ts";
import type { StartRate } from "./start_rate.ts";
import type { Leased } from "../contract/store.ts";

/** Longest time ahead, ms: an urgent job waits for those that are leased already. */
const LONGEST_MS = 250;

/** What is left of a long wait for a lease after each shorter one. */
const FORGETS = 0.9;

/** A job whose start the rate puts off for longer goes back, ms. */
const MOST_HELD_MS = 1000;

/** A job that is leased and has not started. */
export interface HeldJob {
  readonly job: Leased;
  readonly lane: Lane;
}

/**
 * How far ahead of the rate jobs are leased, and those that wait for their start. As far as a lease
 * has taken lately: what is leased any later would start later than it may, and a start that comes
 * late is never made up for. A store that answers at once is asked when a job may start.
 */
export class Prefetch {
  readonly #state: PoolState;
  readonly #rate: StartRate;
  readonly #held: HeldJob[] = [];
  #ms = 0;

  /** Begins with nothing held. */
  constructor(state: PoolState, rate: StartRate) {
    this.#state = state;
    this.#rate = rate;
  }

  /** Jobs that wait for their start. */
  get size(): number {
    return this.#held.length;
  }

  /** A lease took so long, ms. 0: it was answered at once. */
  took(ms: number): void {
    this.#ms = Math.min(LONGEST_MS, Math.max(ms, this.#ms * FORGETS));
  }

  /** How many more jobs to lease now for `room` workers. With each request as many as for twice the lead. */
  due(nowMs: number, room: number): number {
    if (this.leaseAtMs() > nowMs) return 0;
    return this.#ahead(nowMs, this.size + room) - this.size;
  }

  /** When to lease more, as far as that is for the rate to say. */
  leaseAtMs(): number {
    return this.#rate.nextAtMs(this.size + 1) - this.#ms;
  }

  /** When the first of those that wait may start. `Infinity`: there are none. */
  startAtMs(): number {
    return this.size === 0 ? Infinity : this.#rate.nextAtMs();
  }

  /** Takes in a leased job. */
  hold(job: Leased, lane: Lane): void {
    this.#held.push({ job, lane });
    this.#count(lane, 1);
  }

  /** The first that waits, if it may start. */
  next(nowMs: number): HeldJob | undefined {
    if (this.size === 0 || this.#rate.allowed(nowMs, 1) === 0) return undefined;
    return this.#out(0);
  }

  /** The last that waits, if there are more than `most` or it could not start soon. */
  surplus(nowMs: number, most: number): HeldJob | undefined {
    const { size } = this;
    const isLate = size > 0 && this.#rate.nextAtMs(size) > nowMs + MOST_HELD_MS;
    return size > most || isLate ? this.#out(size - 1) : undefined;
  }

  /** One that waits, by its id. `undefined`: it does not. */
  take(id: string): HeldJob | undefined {
    const index = this.#held.findIndex(({ job }) => job.id === id);
    return index === -1 ? undefined : this.#out(index);
  }

  /** A store that answers at once is asked for what may start now. */
  #ahead(nowMs: number, most: number): number {
    return this.#ms === 0
      ? this.#rate.allowed(nowMs, most)
      : this.#rate.by(nowMs + 2 * this.#ms, most);
  }

  #out(index: number): HeldJob {
    const [held] = this.#held.splice(index, 1);
    this.#count(held!.lane, -1); // callers name one that is there
    return held!;
  }

  #count(lane: Lane, more: number): void {
    lane.held += more;
    this.#state.held += more;
  }
}
