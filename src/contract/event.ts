/**
 * Events: everything a pool tells its observers. Log, metrics and the event stream are users of it.
 *
 * @module
 */

import type { Decision } from "./decision.ts";
import type { DeadReason } from "./job.ts";
import type { BreakerCause } from "./view.ts";

/**
 * What every event says.
 *
 * @internal
 */
export interface EventBase {
  /** When it happened. */
  readonly atMs: number;
  /** Name of the pool. */
  readonly pool: string;
}

/**
 * Something happened to a job.
 *
 * @internal
 */
export interface JobEventBase extends EventBase {
  /** Name of its lane. */
  readonly lane: string;
  /** Its id. */
  readonly id: string;
}

/** What someone did from outside: through the admin API. Secrets and redacted fields are not in it. */
export interface AuditEntry {
  /** Name of the pool. Empty: it is about no single one. */
  readonly pool: string;
  /** Role and how it was shown, such as `admin by token` or `local 127.0.0.1`. */
  readonly who: string;
  /** What was done, such as `pause`. */
  readonly action: string;
  /** The lane, job or operation it was done to. `undefined`: the pool, or the whole. */
  readonly target?: string | undefined;
  /** How it was before. `undefined`: nothing was there. */
  readonly before?: unknown;
  /** How it is now. `undefined`: nothing is there. */
  readonly after?: unknown;
}

/** One thing that a reload changes. */
export interface ConfigChange {
  /** JSON Pointer to it: into the new config; into the old one if it was removed. */
  readonly pointer: string;
  /** `renewed`: configured as before, but recreated because what it was made for has changed. */
  readonly change: "added" | "removed" | "changed" | "moved" | "renewed";
  /** Name of the lane that it is about. `undefined`: about none. */
  readonly lane?: string | undefined;
  /** What stood there, secrets as `{ "env": … }`. `undefined`: nothing, or no bound. */
  readonly from?: unknown;
  /** What is there now. `undefined`: nothing, or no bound. */
  readonly to?: unknown;
  /** True: it cannot change while pools run, so the whole reload is refused. */
  readonly refused: boolean;
  /** How it takes hold; why not, if it is refused. */
  readonly effect: string;
}

/** Something happened in a pool. */
export type PoolEvent =
  /** The target changed, or what binds it. */
  | (EventBase & { readonly kind: "decided"; readonly decision: Decision })
  /** A job was stored. */
  | (JobEventBase & {
    readonly kind: "job-added";
    /** When it becomes claimable. */
    readonly dueAtMs: number;
    /** Its key. `undefined`: none. */
    readonly key: string | undefined;
  })
  /** A job that was posted could not be stored: the one that posted it does not wait for that. */
  | (EventBase & { readonly kind: "job-unstored"; readonly lane: string; readonly error: string })
  /** A job was rejected. */
  | (EventBase & {
    readonly kind: "job-shed";
    readonly lane: string;
    /** Key of the job. `undefined`: none. */
    readonly key: string | undefined;
    readonly reason: string;
    readonly retryAfterMs: number;
  })
  /** An attempt started. */
  | (JobEventBase & {
    readonly kind: "job-started";
    readonly attempt: number;
    /** From due to started, ms. */
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
    /** Where it was thrown: in this process only, no event stream has it. */
    readonly stack?: string | undefined;
    readonly retryInMs: number;
    readonly serviceMs: number;
  })
  /** A handler asked for a later retry. */
  | (JobEventBase & {
    readonly kind: "job-deferred";
    readonly reason: string;
    readonly retryInMs: number;
    readonly serviceMs: number;
  })
  /** A job is dead. */
  | (JobEventBase & {
    readonly kind: "job-dead";
    readonly reason: DeadReason;
    readonly error: string | undefined;
    /** Where it was thrown: in this process only, no event stream has it. */
    readonly stack?: string | undefined;
    /** How long its last attempt ran, ms. `undefined`: none was running. */
    readonly serviceMs: number | undefined;
  })
  /** A job was cancelled. */
  | (JobEventBase & { readonly kind: "job-cancelled" })
  /** A job was returned to its lane, uncharged: at the drain deadline, or before it had started. */
  | (JobEventBase & {
    readonly kind: "job-handed-back";
    /** Why its handler was given up. `undefined`: it had not started, for the pool had shrunk meanwhile. */
    readonly error: string | undefined;
  })
  /** The end of a job was refused: its lease was lost, and someone else runs it. */
  | (JobEventBase & { readonly kind: "lease-lost" })
  /** Jobs of dead members went back to their lanes. */
  | (EventBase & { readonly kind: "jobs-reaped"; readonly count: number })
  /** A handler ignores its abort. */
  | (JobEventBase & { readonly kind: "worker-stuck"; readonly worker: string })
  /** A circuit breaker has opened: no job of the pool, or of the key, starts until then. */
  | (EventBase & {
    readonly kind: "cooldown-began";
    /** Whose jobs wait. Empty: those without a key. `undefined`: all of the pool. */
    readonly key: string | undefined;
    /** The named downstream whose breaker it is. `undefined`: the pool's own, or the key's. */
    readonly downstream?: string | undefined;
    /** Why: refusals in a row, failures in a row, or the receiver is gone. */
    readonly cause: BreakerCause;
    /** Refusals and failures in a row. */
    readonly count: number;
    /** When one job tries again. */
    readonly untilMs: number;
  })
  /** A circuit breaker has closed. */
  | (EventBase & {
    readonly kind: "cooldown-ended";
    /** Whose jobs start again. Empty: those without a key. `undefined`: all of the pool. */
    readonly key: string | undefined;
    /** The named downstream whose breaker it is. `undefined`: the pool's own, or the key's. */
    readonly downstream?: string | undefined;
    /** How long it was not closed, ms. */
    readonly forMs: number;
    /**
     * What closed it: the receiver took a job, someone did it, a reload has switched it off, or no job of the
     * key came any more.
     */
    readonly by: "success" | "hand" | "reload" | "unused";
  })
  /** A worker could not be started. */
  | (EventBase & { readonly kind: "worker-failed"; readonly error: string })
  /** A strategy threw or answered nonsense: the last good plan stays in use. */
  | (EventBase & {
    readonly kind: "plugin-failed";
    readonly plugin: string;
    readonly error: string;
  })
  /** A strategy that failed works again. */
  | (EventBase & { readonly kind: "plugin-recovered"; readonly plugin: string })
  /** A shadow and the live controller begin, or end, to want different numbers of workers. */
  | (EventBase & {
    readonly kind: "shadow-differs" | "shadow-agrees";
    /** Name of the shadow. */
    readonly controller: string;
    /** Workers it wants, within size and caps. */
    readonly workers?: number | undefined;
    /** Workers that the live one wants. */
    readonly liveWorkers?: number | undefined;
    /** What it wants and why. */
    readonly sentence?: string | undefined;
    /** What the live one wants and why. */
    readonly liveSentence?: string | undefined;
  })
  /** The store could not be read or written. */
  | (EventBase & { readonly kind: "store-failed"; readonly error: string })
  /** A kind of call to the store has failed again and again: what waits for it waits on. */
  | (EventBase & {
    readonly kind: "store-failing";
    /** `settle`: ends of jobs are not stored. `lease`: no job starts. `count`, `renew`: counts, signs of life. */
    readonly call: "count" | "lease" | "settle" | "renew";
    /** How often in a row. */
    readonly failures: number;
    /** What the store said last. */
    readonly error: string;
  })
  /** The store answers again. */
  | (EventBase & { readonly kind: "store-recovered" })
  /** The wall clock was set, or the machine slept: due times and schedules follow. Of no single pool. */
  | (EventBase & {
    readonly kind: "clock-stepped";
    /** How far it is ahead of where it would have been, ms. Below 0: it was set back. */
    readonly byMs: number;
  })
  /** A pool or lane was paused. `lane` undefined: the pool. */
  | (EventBase & { readonly kind: "paused" | "resumed"; readonly lane: string | undefined })
  /** The bounds were overridden, or are the config's again. */
  | (EventBase & { readonly kind: "override-set" | "override-ended" })
  /** The config was reloaded. `pool`: the one that has changed; empty for what is of no pool. */
  | (EventBase & { readonly kind: "reloaded"; readonly changes: readonly ConfigChange[] })
  /** The pool stopped claiming. */
  | (EventBase & { readonly kind: "draining" })
  /** The pool has stopped. */
  | (EventBase & { readonly kind: "stopped" })
  /** Someone changed something from outside. */
  | (EventBase & AuditEntry & { readonly kind: "audit" });

/** Told of each event as it happens. It may not throw and may not wait. */
export type Observer = (event: PoolEvent) => void;
