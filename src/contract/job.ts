/**
 * Jobs, and what a handler is given to run one.
 *
 * @module
 */

/** Longest that a job may be deferred, or wait before it expires, ms: a date has to say until when. */
export const LONGEST_DELAY_MS = 100 * 365 * 86_400_000;

/** The sentence for what would have a job wait for longer. */
export function delayTooLong(name: string, given: string): string {
  return `Expected ${name} to be at most ${LONGEST_DELAY_MS} ms (100 years) but received ${given}`;
}

/** For so long after the end of its job an idempotency key still means it, ms. */
export const IDEMPOTENT_FOR_MS = 600_000;

/** What an enqueue that may be sent again is known by. */
export interface Idempotency {
  /** The same each time that it is sent: 1 to 1024 characters. */
  readonly key: string;
  /** Differs where what is sent under the same key does, such as a hash of it: 1 to 1024 characters. */
  readonly fingerprint: string;
}

/** A job to enqueue. */
export interface NewJob<Payload = unknown, Lane extends string = string> {
  /** Name of a lane of the pool. Left out: the pool's `routes` say which. */
  readonly lane?: Lane;
  /** Which of the pool's `handlers` runs it. Only for pools with several. */
  readonly type?: string;
  /** What the handler works on: any JSON value. */
  readonly payload: Payload;
  /** Jobs of one key share the lane's `maxRunningPerKey`. */
  readonly key?: string;
  /** Earliest start, ms from the enqueue; at most 100 years. @default {0} */
  readonly delayMs?: number;
  /**
   * Earliest start as ISO 8601 with a zone, in place of `delayMs`: at most in 100 years. One that is past
   * means now.
   */
  readonly runAt?: string;
  /**
   * While a job with this key has not ended, another with the same key is a duplicate of it, unless the
   * lane's `dedupe` says otherwise.
   */
  readonly dedupeKey?: string;
  /**
   * The same enqueue again is a duplicate of this job until ten minutes after its end; another one under
   * the same key is an `IdempotencyError`.
   */
  readonly idempotency?: Idempotency;
  /** Latest start, ms from the enqueue: dead after that; at most 100 years. @default {the lane's ttlMs} */
  readonly ttlMs?: number;
  /** W3C trace context of the enqueuer. */
  readonly traceparent?: string;
}

/**
 * A job to enqueue, with the lane that it goes to.
 *
 * @internal
 */
export interface PlacedJob extends NewJob {
  /** Name of a lane of the pool. */
  readonly lane: string;
}

/** A job as its handler sees it. */
export interface Job<Payload = unknown> {
  /** Unique within the store. */
  readonly id: string;
  /** Name of its lane. */
  readonly lane: string;
  /** Which handler runs it. Empty for a pool with one handler. */
  readonly type: string;
  /** What to work on. */
  readonly payload: Payload;
  /** Shared with the jobs that may not run beside it. `undefined`: none. */
  readonly key?: string | undefined;
  /** When it was enqueued. */
  readonly createdAtMs: number;
  /** 1 for the first run. Hand-backs and deferrals are not counted. */
  readonly attempt: number;
  /** Where an earlier run left off. `undefined`: at the start. */
  readonly cursor?: unknown;
  /** W3C trace context of the enqueuer. */
  readonly traceparent?: string | undefined;
}

/**
 * State of a job. `delayed`: due later. `ready`: may start now. `blocked`: due, but its lane already
 * runs `maxRunningPerKey` jobs of its key, or has them ready. A pause changes no job's state.
 */
export type JobState =
  | "delayed"
  | "ready"
  | "blocked"
  | "running"
  | "done"
  | "dead"
  | "cancelled";

/** Why a job is dead. */
export type DeadReason = "attempts" | "fatal" | "expired" | "late" | "payload";

/** Everything known about one job. */
export interface JobRecord extends Job {
  /** Name of its pool. */
  readonly pool: string;
  /** Its state. */
  readonly state: JobState;
  /** When it is, or was, due: its latest attempt, if it was put back. */
  readonly dueAtMs: number;
  /**
   * When it became claimable: later than `dueAtMs` if it was blocked until then. `undefined`: it has not,
   * or its store does not say.
   */
  readonly readyAtMs?: number | undefined;
  /** When its latest attempt started. `undefined`: none has. */
  readonly startedAtMs?: number | undefined;
  /** When it ended. `undefined`: it has not. */
  readonly endedAtMs?: number | undefined;
  /** What the handler returned. Only when done. */
  readonly result?: unknown;
  /** Why there is no `result` although the handler returned one: it is no JSON, or too large. */
  readonly resultError?: string | undefined;
  /** Why it is dead. */
  readonly reason?: DeadReason | undefined;
  /** Message of the latest failure. None once it is done: that is in `history`. */
  readonly error?: string | undefined;
  /**
   * Its last attempts, at most 5 and 12,000 bytes, the oldest first. Only where there is something to tell:
   * an attempt failed, was deferred, or wrote to its log.
   */
  readonly history?:
    | readonly {
      /** Its number: from 1, and from 1 again once the dead job was retried. */
      readonly attempt: number;
      /** When it started. */
      readonly startedAtMs: number;
      /** How long it ran, ms. */
      readonly ms: number;
      /** Name of the worker that ran it, in its process. */
      readonly worker: string;
      /** How it ended. `running`: it has not. */
      readonly end: "done" | "failed" | "deferred" | "cancelled" | "running";
      /** Message of what it threw, cut after 1,000 characters. What may not be shown is hidden. */
      readonly error?: string | undefined;
      /** Where it was thrown, and by what it was caused, cut after 2,000 characters. Only of failures. */
      readonly stack?: string | undefined;
      /** The last 100 lines of its log. Those of earlier attempts go first where there is no room. */
      readonly log?:
        | readonly {
          /** How long after the start of its attempt, ms. */
          readonly afterMs: number;
          /** How much it matters. */
          readonly level: "debug" | "info" | "warn" | "error";
          /** Message and fields in one line, cut after 500 characters. What may not be shown is hidden. */
          readonly text: string;
        }[]
        | undefined;
      /** What it reported last by `progress`, up to 1,000 characters of JSON. */
      readonly progress?: unknown;
      /** How many deferrals in a row had the same reason: this is the latest. Omitted: one. */
      readonly times?: number | undefined;
    }[]
    | undefined;
  /** That it was dead and someone retried it: its attempts count from 1 again. `undefined`: nobody has. */
  readonly revived?: {
    /** When it was retried last. */
    readonly atMs: number;
    /** Attempts that were charged before. */
    readonly attempts: number;
  } | undefined;
  /** What its handler last reported, while it runs in this process. */
  readonly progress?: unknown;
  /** True once a cancel has asked its handler to end, while it still runs in this process. */
  readonly cancelling?: boolean | undefined;
  /** The key that makes, or made, others its duplicates. */
  readonly dedupeKey?: string | undefined;
  /**
   * True while it is delayed and has a slot of its key: it waits for the rate of its key, or for its circuit
   * breaker. Omitted: it is not.
   */
  readonly keepsSlot?: boolean | undefined;
}

/** One attempt of a job, as it ended. */
export type JobAttempt = NonNullable<JobRecord["history"]>[number];

/** A line that a handler wrote to `context.log`. */
export type LogLine = NonNullable<JobAttempt["log"]>[number];

/** How a job ended. `Result` is what its handler returns. */
export interface Outcome<Result = unknown> {
  /** `unfinished`: the pool stopped before the job ended. */
  readonly state: "done" | "dead" | "cancelled" | "unfinished";
  /** What the handler returned. Only when done. */
  readonly result?: Result | undefined;
  /** Why there is no `result` although the handler returned one: it is no JSON, or too large. */
  readonly resultError?: string | undefined;
  /** Why it is dead. Only when dead. */
  readonly reason?: DeadReason | undefined;
  /** Message of the latest failure, if there was one. Only when dead. */
  readonly error?: string | undefined;
}

/** A place to write log lines to. */
export interface Logger {
  /** Details for those who look for a fault. */
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** What happened in the normal course. */
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** What goes on working but needs attention. */
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** What failed. */
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** What a handler may use while it runs a job. */
export interface JobContext<Resource = unknown> {
  /**
   * Aborts at the time limit, a lost lease, a cancel or the drain deadline: `signal.reason` is an
   * `AbortedError` that says which. Made when first read.
   */
  readonly signal: AbortSignal;
  /** Rises with each lease of the job: a downstream may refuse a lower one. */
  readonly fence: number;
  /** Same for every attempt of the job: give it to systems that must not act twice. */
  readonly idempotencyKey: string;
  /** What `start` returned for this worker. `undefined` without a `start`. */
  readonly resource: Resource;
  /** Writes with pool, lane and job id. */
  readonly log: Logger;
  /** Shows how far the job is, while it runs. */
  progress(value: unknown): Promise<void>;
  /**
   * Says that the downstream is overloaded (429, a wait for a pool): caps hear it, nothing is inferred.
   * Before a `RetryLater` it is the receiver's word: some such ends in a row, and the pool cools down.
   *
   * @param retryAfterMs How long the downstream asks to be left alone, ms. Unknown if omitted.
   * @param downstream Which one, by its name in `downstreams`. Omitted: the only one with a `cooldown`
   * that the pool uses, or none of them.
   */
  overloaded(retryAfterMs?: number, downstream?: string): void;
  /**
   * Says that the job has used a downstream: one call, or one connection for so long. What jobs use is
   * compared with what `uses` says; and if the job fails, that is the one that failed it last.
   *
   * @param downstream Its name in `downstreams`.
   */
  used(downstream: string, call?: DownstreamCall): void;
}

/** One use of a downstream. */
export interface DownstreamCall {
  /** How long it took, or was held, ms. @default {0} */
  readonly ms?: number | undefined;
  /** False: it failed. @default {true} */
  readonly ok?: boolean | undefined;
}
