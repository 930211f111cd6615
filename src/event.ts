/**
 * Events: everything a pool tells its observers. Log, metrics and the event stream are users of it.
 *
 * @module
 */

import type { Decision } from "./decision.ts";
import type { DeadReason } from "./job.ts";

/** What every event says. */
export interface EventBase {
  /** When it happened. */
  readonly atMs: number;
  /** Name of the pool. */
  readonly pool: string;
}

/** Something happened to a job. */
export interface JobEventBase extends EventBase {
  /** Name of its lane. */
  readonly lane: string;
  /** Its id. */
  readonly id: string;
}

/** Something happened in a pool. */
export type PoolEvent =
  /** The target changed, or what binds it. */
  | (EventBase & { readonly kind: "decided"; readonly decision: Decision })
  /** A job was stored. */
  | (JobEventBase & { readonly kind: "job-added" })
  /** A job was turned away. */
  | (EventBase & {
    readonly kind: "job-shed";
    readonly lane: string;
    readonly reason: string;
    readonly retryAfterMs: number;
  })
  /** An attempt started. */
  | (JobEventBase & {
    readonly kind: "job-started";
    readonly attempt: number;
    readonly waitMs: number;
    readonly worker: string;
  })
  /** A job is done. */
  | (JobEventBase & {
    readonly kind: "job-done";
    readonly attempt: number;
    readonly serviceMs: number;
  })
  /** An attempt failed and will be repeated. */
  | (JobEventBase & {
    readonly kind: "job-failed";
    readonly attempt: number;
    readonly error: string;
    readonly retryInMs: number;
  })
  /** A handler asked for a later retry. */
  | (JobEventBase & {
    readonly kind: "job-deferred";
    readonly reason: string;
    readonly retryInMs: number;
  })
  /** A job is dead. */
  | (JobEventBase & {
    readonly kind: "job-dead";
    readonly reason: DeadReason;
    readonly error: string | undefined;
  })
  /** A job was cancelled. */
  | (JobEventBase & { readonly kind: "job-cancelled" })
  /** A job went back to its lane, uncharged, at the drain deadline. */
  | (JobEventBase & { readonly kind: "job-handed-back" })
  /** The end of a job was refused: its lease was lost, and someone else runs it. */
  | (JobEventBase & { readonly kind: "lease-lost" })
  /** Jobs of dead holders went back to their lanes. */
  | (EventBase & { readonly kind: "jobs-reaped"; readonly count: number })
  /** A handler ignores its abort. */
  | (JobEventBase & { readonly kind: "worker-stuck"; readonly worker: string })
  /** A worker could not be started. */
  | (EventBase & { readonly kind: "worker-failed"; readonly error: string })
  /** A strategy threw or answered nonsense: the last good plan stands. */
  | (EventBase & {
    readonly kind: "plugin-failed";
    readonly plugin: string;
    readonly error: string;
  })
  /** A strategy that failed works again. */
  | (EventBase & { readonly kind: "plugin-recovered"; readonly plugin: string })
  /** The store could not be read or written. */
  | (EventBase & { readonly kind: "store-failed"; readonly error: string })
  /** The store answers again. */
  | (EventBase & { readonly kind: "store-recovered" })
  /** A pool or lane was paused. `lane` undefined: the pool. */
  | (EventBase & { readonly kind: "paused" | "resumed"; readonly lane: string | undefined })
  /** The bounds were overridden, or are the config's again. */
  | (EventBase & { readonly kind: "override-set" | "override-ended" })
  /** The pool stopped claiming. */
  | (EventBase & { readonly kind: "draining" })
  /** The pool has stopped. */
  | (EventBase & { readonly kind: "stopped" });

/** Told of each event as it happens. It may not throw and may not wait. */
export type Observer = (event: PoolEvent) => void;
