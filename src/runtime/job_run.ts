/**
 * One attempt: what a handler is given to run a job, and how it ends.
 *
 * @module
 */

import { type AbortCause, AbortedError } from "../contract/errors.ts";
import type {
  DeadReason,
  DownstreamCall,
  JobAttempt,
  JobContext,
  Logger,
  LogLine,
} from "../contract/job.ts";
import type { Lane } from "./lane.ts";
import type { Leased, Settlement } from "../contract/store.ts";

/** What an attempt needs of its pool. */
export interface RunOwner {
  /** Where the handler of a job logs. */
  logOf(run: JobRun): Logger;
  /** A handler said that its downstream is overloaded. */
  overloaded(run: JobRun, retryAfterMs: number | undefined): void;
  /** A handler has used a downstream. */
  used(downstream: string, call: DownstreamCall): void;
}

/** One attempt of one job. What is mutable says how it ended, for the store; `done` until judged. */
export class JobRun implements JobContext, Settlement {
  readonly job: Leased;
  readonly lane: Lane;
  readonly fence: number;
  readonly attempt: number;
  readonly startedAtMs: number;
  readonly resource: unknown;
  to: Settlement["to"] = "done";
  charged = true;
  dueAtMs = 0;
  /** How far the wall clock was ahead when `dueAtMs` was said, ms. `undefined`: it is not judged yet. */
  wallAheadMs: number | undefined = undefined;
  result: unknown = undefined;
  resultError: string | undefined = undefined;
  reason: DeadReason | undefined = undefined;
  error: string | undefined = undefined;
  /** Where that was thrown. */
  stack: string | undefined = undefined;
  /** What its handler logged. */
  lines: LogLine[] | undefined = undefined;
  history: readonly JobAttempt[] | undefined = undefined;
  /** How long it ran, ms: told to observers, and set only if there are any. */
  serviceMs = 0;
  /** The longest that the receiver asked for in `overloaded`, ms; 0 if no time. `undefined`: it was not called. */
  overloadedMs: number | undefined = undefined;
  /** The downstream that it said last was overloaded, or failed. `undefined`: it named none. */
  blames: string | undefined = undefined;
  /** True if it waits because the receiver is gone. */
  isGone = false;
  /** True if it keeps the slot of its key until it is due again. */
  keepsSlot = false;
  /** When it began, by the wall clock, if the store counts starts of its key. */
  beganAtMs: number | undefined = undefined;
  /** How many circuit breakers of the pool had opened when it began. */
  wave = 0;
  /** True if the store had taken its end by the time when that was given up. */
  stored = false;
  /** What the handler last reported by `progress`. */
  reported: unknown = undefined;
  readonly #owner: RunOwner;
  #controller: AbortController | undefined;
  #abortedBy: AbortedError | undefined;
  #log: Logger | undefined;

  /** Begins an attempt. */
  constructor(job: Leased, lane: Lane, resource: unknown, startedAtMs: number, owner: RunOwner) {
    this.job = job;
    this.lane = lane;
    this.fence = job.fence;
    this.attempt = job.attempt;
    this.startedAtMs = startedAtMs;
    this.resource = resource;
    this.#owner = owner;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortedBy !== undefined) this.#controller.abort(this.#abortedBy);
    }
    return this.#controller.signal;
  }

  get idempotencyKey(): string {
    return this.job.id;
  }

  get log(): Logger {
    return this.#log ??= this.#owner.logOf(this);
  }

  progress(value: unknown): Promise<void> {
    this.reported = value;
    return Promise.resolve();
  }

  overloaded(retryAfterMs?: number, downstream?: string): void {
    const askedMs = typeof retryAfterMs === "number" && retryAfterMs > 0 && retryAfterMs < Infinity
      ? retryAfterMs
      : 0;
    this.overloadedMs = Math.max(askedMs, this.overloadedMs ?? 0);
    if (typeof downstream === "string") this.blames = downstream;
    this.#owner.overloaded(this, retryAfterMs);
  }

  used(downstream: string, call: DownstreamCall = {}): void {
    if (call.ok === false) this.blames = String(downstream);
    this.#owner.used(String(downstream), call);
  }

  /** The wall clock may have been set since the attempt was judged: its retry stays as far ahead. */
  follow(wallAheadMs: number): void {
    this.dueAtMs += wallAheadMs - (this.wallAheadMs ?? wallAheadMs);
    this.wallAheadMs = wallAheadMs;
  }

  /** Asks the handler to end. */
  abort(why: AbortCause, message: string): void {
    if (this.#abortedBy !== undefined) return;
    this.#abortedBy = new AbortedError(why, message);
    this.#controller?.abort(this.#abortedBy);
  }
}
