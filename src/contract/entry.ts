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

/** What a dedupe key holds its job and others with the same key to. */
export interface DedupeRule {
  /**
   * When the key is free again. `until-end`: once its job has ended. `until-start`: once it has been leased
   * for the first time. `window`: `windowMs` after it was added, whether it has ended or not. `replace`: as
   * `until-start`, and until then a job with the same key gives it its payload, `type`, `traceparent` and
   * `expiresAtMs`; id, lane, `key` and place stay. `debounce`: as `replace`, and while it is delayed its due
   * time becomes that of the other, if that is later, but no later than `maxMs` after it was added.
   */
  readonly mode: "until-end" | "until-start" | "window" | "replace" | "debounce";
  /** Of `window`, ms. */
  readonly windowMs?: number | undefined;
  /** Of `debounce`, ms. */
  readonly maxMs?: number | undefined;
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
  /** Makes others with the same key duplicates: until it ends, unless `dedupe` says otherwise. */
  readonly dedupeKey: string | undefined;
  /**
   * What holds for `dedupeKey`, unless that is the idempotency key too. Of another job with the same key its
   * own says what it does. Omitted: `until-end`.
   */
  readonly dedupe?: DedupeRule | undefined;
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
  /** True if no job was stored because another one has its `dedupeKey`, or its idempotency key. */
  readonly duplicate: boolean;
  /**
   * Why the store cannot take this entry, such as its size: `id` is empty then. A `StoreError`: it failed,
   * after it had taken others of the call. Omitted: it was taken.
   */
  readonly error?: Error | undefined;
}
