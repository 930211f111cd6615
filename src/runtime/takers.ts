/**
 * The pools of one config that take jobs from each other.
 *
 * @module
 */

import type { Added, JobEntry, Precondition } from "../contract/store.ts";
import type { PoolState } from "./pool_state.ts";

/** A job that a lane is handed. */
export interface HandedJob {
  /** Name of the lane. */
  readonly lane: string;
  /** Which handler runs it. Empty: the only one. */
  readonly type: string;
  /** What to work on. */
  readonly payload: unknown;
  /** The key of the job that it comes from. */
  readonly key: string | undefined;
  /** Trace context of the one who enqueued that. */
  readonly traceparent: string | undefined;
  /** It is stored once for each of these. */
  readonly precondition: Precondition;
}

/** A pool that runs. */
export interface Taker {
  /** Its name. */
  readonly name: string;
  /**
   * Stores jobs, past admission: one answer a job.
   *
   * @throws {Error} If one of them is not stored.
   */
  take(jobs: readonly HandedJob[]): Promise<readonly Added[]>;
  /** Another pool takes jobs from now on. */
  takerCame(): void;
}

/** Owns who takes jobs. */
export class Takers {
  readonly #byName = new Map<string, Taker>();

  /** A pool takes jobs from now on, and the others know. */
  enter(taker: Taker): void {
    this.#byName.set(taker.name, taker);
    for (const one of this.#byName.values()) one.takerCame();
  }

  /** A pool takes none any more. */
  leave(taker: Taker): void {
    if (this.#byName.get(taker.name) === taker) this.#byName.delete(taker.name);
  }

  /** The pool of that name. `undefined`: none takes jobs. */
  get(name: string): Taker | undefined {
    return this.#byName.get(name);
  }
}

/** A job as the store takes it. */
export function handedEntry(job: HandedJob, state: PoolState, nowMs: number): JobEntry {
  const { lane: name, type, payload, key, traceparent, precondition } = job;
  const lane = state.lanes.find((lane) => lane.name === name)!; // the config was checked
  const wallMs = state.wall.at(nowMs);
  return {
    lane: lane.index,
    type,
    payload,
    key,
    dueAtMs: wallMs,
    expiresAtMs: wallMs + lane.settings.ttlMs,
    dedupeKey: undefined,
    traceparent,
    precondition,
  };
}
