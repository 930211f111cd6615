/**
 * A job on its way into a store, and what became of it.
 *
 * @module
 */

import type { Idempotency } from "./job.ts";

/** Shared state that a job depends on: it is stored only where that has not changed, and changes it. */
export interface Precondition {
  /** Key of the shared state. */
  readonly key: string;
  /** Its version as it was read; `undefined`: no such key. */
  readonly version: string | undefined;
  /** What it becomes in the same commit. `undefined`: it is gone. */
  readonly value: unknown;
}

/** A job to store: checked, with its times resolved. */
export interface JobEntry {
  /** Index of the lane. */
  readonly lane: number;
  /** Name of the handler; empty for the only one. */
  readonly type: string;
  /** What to work on. A store in memory keeps the very value. */
  readonly payload: unknown;
  /** Bound by the lane's `maxRunningPerKey`. */
  readonly key: string | undefined;
  /** When it becomes claimable; at once if not after now. */
  readonly dueAtMs: number;
  /** Not started from then on. `Infinity`: never expires. */
  readonly expiresAtMs: number;
  /** Makes others with the same key duplicates until it ends. */
  readonly dedupeKey: string | undefined;
  /**
   * Another entry with the same `key` is a duplicate until `IDEMPOTENT_FOR_MS` after the job's end, or has
   * an `IdempotencyError` if its `fingerprint` differs. Keys are names as dedupe keys are: until the end
   * an entry with one of them as the other's is a duplicate too. Omitted: none.
   */
  readonly idempotency?: Idempotency | undefined;
  /** Trace context of the enqueuer. */
  readonly traceparent: string | undefined;
  /**
   * What it depends on, together with its addition or not at all: of all entries with the same
   * precondition one is stored; the others are duplicates with an empty id. Omitted: nothing.
   */
  readonly precondition?: Precondition | undefined;
}

/** What became of one entry of `add`. */
export interface Added {
  /** Id of the job, or of the owner of its `dedupeKey`. May be formatted when read. */
  readonly id: string;
  /** True if nothing was stored because another job has its `dedupeKey`, or its idempotency key. */
  readonly duplicate: boolean;
  /**
   * Why the store cannot take this entry, such as its size: `id` is empty then. A `StoreError`: it failed,
   * after it had taken others of the call. Omitted: it was taken.
   */
  readonly error?: Error | undefined;
}
