/**
 * One job as the memory store holds it: what `add` answers and `lease` hands out are this very object.
 *
 * A backlog is made of these, so each field counts: what most jobs do not have is in `extra`, and an
 * id is only formatted when it is read.
 *
 * @module
 */

import type {
  Idempotency,
  JobAttempt,
  JobRecord,
  JobState,
  Outcome,
} from "../../src/contract/job.ts";
import { keyUntil } from "../../src/base/dedupe.ts";
import { outcomeOf } from "../../src/contract/outcome.ts";
import type { Added, JobEntry, Leased } from "../../src/contract/store.ts";
import { type EndWaiter, MemoryEnd } from "./end.ts";
import type { MemoryMember } from "./member.ts";
import type { MemoryLane } from "./lane.ts";

/** Claimable, in its lane's ring. */
export const READY = 0;
/** Due, held by the limit of its key. */
export const BLOCKED = 1;
/** Due later. */
export const DELAYED = 2;
/** Leased. */
export const RUNNING = 3;
/** Ended well. */
export const DONE = 4;
/** Ended for good without success. */
export const DEAD = 5;
/** Ended by request. */
export const CANCELLED = 6;

/** What is later than now by more was stamped by a clock that was ahead, ms. */
export const AHEAD_MS = 60_000;

const CODE_BITS = 3;
const CODE_MASK = (1 << CODE_BITS) - 1;

/** Where a job is, as one of the constants above: `DONE` and above have ended. */
export type Code =
  | typeof READY
  | typeof BLOCKED
  | typeof DELAYED
  | typeof RUNNING
  | typeof DONE
  | typeof DEAD
  | typeof CANCELLED;

const STATES: readonly JobState[] = [
  "ready",
  "blocked",
  "delayed",
  "running",
  "done",
  "dead",
  "cancelled",
];

/** What has become of a job before. */
export interface JobPast {
  /** Its last attempts. */
  readonly history?: readonly JobAttempt[] | undefined;
  /** That it was revived. */
  readonly revived?: JobRecord["revived"];
}

/** What few jobs have. */
export interface JobExtra {
  /** Name of the handler; empty for the only one. */
  type: string;
  /** Bound by the lane's `maxRunningPerKey`. */
  readonly key: string | undefined;
  /** Makes others with the same key duplicates. */
  readonly dedupeKey: string | undefined;
  /** Until when that is its own, as `keyUntil` says. `undefined`: until its end. */
  keyUntilMs: number | undefined;
  /** Makes the same enqueue again a duplicate, for a while after the end too. */
  readonly idempotency: Idempotency | undefined;
  /** Trace context of the enqueuer. */
  traceparent: string | undefined;
  /** Not started from then on. */
  expiresAtMs: number;
  /** When it was enqueued. `undefined`: when it became ready. */
  createdAtMs: number | undefined;
  /** When it was due for the first time. `undefined`: as `readyAtMs`. */
  firstReadyAtMs: number | undefined;
  /** When it was due, if it was blocked from then until `readyAtMs`. */
  dueAtMs: number | undefined;
  /** Message of the latest failure. */
  error: string | undefined;
  /** What has become of it before. */
  past: JobPast | undefined;
  /** Why what the handler returned is not kept. */
  resultError: string | undefined;
  /** True once a cancel was asked for while it ran. */
  cancelling: boolean;
  /** True while it is delayed and has the slot of its key. */
  keepsSlot: boolean;
  /** When it was deferred, where that is much later than the start of its attempt. */
  deferredAtMs: number | undefined;
}

/** One job. */
export class MemoryJob implements Leased, Added {
  /** Its lane. */
  readonly home: MemoryLane;
  /** Its number within the pool, in order of adding. */
  readonly sequence: number;
  /** What to work on: the very value that was given. */
  payload: unknown;
  /** When it became, or will become, claimable. */
  readyAtMs: number;
  /** Number of its latest lease, rising over the whole store. */
  fence = 0;
  /** Who has leased it. `undefined` with `RUNNING`: this lease was lost, another object is the job now. */
  holder: MemoryMember | undefined = undefined;
  /** While running its place in `holder.held`; once ended 0, or -1 when it is no longer kept. */
  slot = 0;
  /** When its latest attempt started. */
  startedAtMs: number | undefined = undefined;
  /** What few jobs have. */
  extra: JobExtra | undefined;
  /** Who waits for its end; once it has ended, the end itself. */
  fate: EndWaiter | MemoryEnd | undefined = undefined;
  #codeAndAttempt: number = READY; // in one field: a backlog holds a million of these

  /** Makes a job that has just been added. `readyAtMs` is when it is claimable. */
  constructor(home: MemoryLane, sequence: number, payload: unknown, readyAtMs: number) {
    this.home = home;
    this.sequence = sequence;
    this.payload = payload;
    this.readyAtMs = readyAtMs;
    this.extra = undefined;
  }

  /** Where it is. */
  get code(): Code {
    return (this.#codeAndAttempt & CODE_MASK) as Code; // only codes are put in there
  }
  set code(code: Code) {
    this.#codeAndAttempt = (this.#codeAndAttempt & ~CODE_MASK) | code;
  }

  /** Attempts charged so far, the running one included. */
  get attempt(): number {
    return this.#codeAndAttempt >> CODE_BITS;
  }
  set attempt(attempt: number) {
    this.#codeAndAttempt = (attempt << CODE_BITS) | (this.#codeAndAttempt & CODE_MASK);
  }

  /** Unique within the store. */
  get id(): string {
    return this.home.idPrefix + this.sequence;
  }

  /** Never: a duplicate is answered with another object. */
  get duplicate(): boolean {
    return false;
  }

  /** Name of its lane. */
  get lane(): string {
    return this.home.name;
  }

  /** Index of its lane, as its holder counts them. */
  get laneIndex(): number {
    return this.holder?.places[this.home.ordinal] ?? this.home.index;
  }

  /** Name of the handler; empty for the only one. */
  get type(): string {
    return this.extra === undefined ? "" : this.extra.type;
  }

  /** Bound by the lane's `maxRunningPerKey`. */
  get key(): string | undefined {
    return this.extra?.key;
  }

  /** Trace context of the enqueuer. */
  get traceparent(): string | undefined {
    return this.extra?.traceparent;
  }

  /** Its last attempts. */
  get history(): readonly JobAttempt[] | undefined {
    return this.extra?.past?.history;
  }

  /** When it was enqueued. */
  get createdAtMs(): number {
    return this.extra?.createdAtMs ?? this.readyAtMs;
  }

  /** When it was due, if it was blocked from then until `readyAtMs`. */
  get dueAtMs(): number | undefined {
    return this.extra?.dueAtMs;
  }

  /** When it was due for the first time. */
  get firstReadyAtMs(): number {
    return this.extra?.firstReadyAtMs ?? this.readyAtMs;
  }

  /** Its state. */
  get state(): JobState {
    return STATES[this.code]!;
  }

  /** When it is too late to start it. */
  get expiresAtMs(): number | undefined {
    return this.extra?.expiresAtMs;
  }

  /** True once it is too late to start it. */
  isExpired(nowMs: number): boolean {
    return this.extra !== undefined && this.extra.expiresAtMs <= nowMs;
  }

  /** Moves the time at which it is claimable; when it was enqueued stays. */
  restamp(readyAtMs: number): void {
    if (readyAtMs === this.readyAtMs) return;
    const extra = this.ownExtra();
    extra.createdAtMs ??= this.readyAtMs;
    extra.firstReadyAtMs ??= this.readyAtMs;
    this.readyAtMs = readyAtMs;
  }

  /** It is blocked until then. */
  unblock(atMs: number): void {
    this.ownExtra().dueAtMs ??= this.readyAtMs;
    this.restamp(atMs);
  }

  /** Notes that it is deferred: the clock may have gone ahead during its attempt, and it is due by that. */
  defer(nowMs: number): void {
    const isLate = nowMs > (this.startedAtMs ?? nowMs) + AHEAD_MS;
    if (isLate) this.ownExtra().deferredAtMs = nowMs;
    else if (this.extra !== undefined) this.extra.deferredAtMs = undefined;
  }

  /** Its `extra`, made if it has none. */
  ownExtra(): JobExtra {
    return this.extra ??= {
      type: "",
      key: undefined,
      dedupeKey: undefined,
      keyUntilMs: undefined,
      idempotency: undefined,
      traceparent: undefined,
      expiresAtMs: Infinity,
      createdAtMs: undefined,
      firstReadyAtMs: undefined,
      dueAtMs: undefined,
      error: undefined,
      past: undefined,
      resultError: undefined,
      cancelling: false,
      keepsSlot: false,
      deferredAtMs: undefined,
    };
  }

  /** The same job as another object: anyone who holds this one keeps it as it is. */
  clone(): MemoryJob {
    const job = new MemoryJob(this.home, this.sequence, this.payload, this.readyAtMs);
    job.attempt = this.attempt;
    job.fence = this.fence;
    job.startedAtMs = this.startedAtMs;
    job.extra = this.extra === undefined ? undefined : { ...this.extra };
    return job;
  }

  /** How it ended, for those who wait. Only once it has. */
  outcome(): Outcome {
    const end = this.fate instanceof MemoryEnd ? this.fate : undefined;
    const state = this.code === DONE ? "done" : this.code === DEAD ? "dead" : "cancelled";
    return outcomeOf({
      state,
      result: end?.result,
      resultError: this.extra?.resultError,
      reason: end?.reason,
      error: this.extra?.error,
    });
  }

  /** Everything known about it, as a plain object that changes no more. */
  record(): JobRecord {
    const end = this.fate instanceof MemoryEnd ? this.fate : undefined;
    return {
      id: this.id,
      pool: this.home.pool,
      lane: this.home.name,
      type: this.type,
      payload: this.payload,
      key: this.extra?.key,
      createdAtMs: this.createdAtMs,
      attempt: this.attempt,
      traceparent: this.extra?.traceparent,
      state: this.state,
      dueAtMs: this.code === DELAYED ? this.readyAtMs : this.dueAtMs ?? this.readyAtMs,
      readyAtMs: readyAtOf(this, end?.atMs),
      startedAtMs: this.startedAtMs,
      endedAtMs: end?.atMs,
      result: end?.result,
      resultError: this.extra?.resultError,
      reason: end?.reason,
      error: this.extra?.error,
      ...this.extra?.past,
      dedupeKey: this.extra?.dedupeKey,
      ...(this.code === DELAYED && this.extra?.keepsSlot === true && { keepsSlot: true }),
    };
  }

  /** What JSON shows of it. */
  toJSON(): JobRecord {
    return this.record();
  }

  /** What `console.log` shows of it. */
  [Symbol.for("Deno.customInspect")](
    inspect: (value: unknown, options: unknown) => string,
    options: unknown,
  ): string {
    return inspect(this.record(), options);
  }
}

/** The `extra` that an entry asks for. `undefined`: none. */
export function extraOf(entry: JobEntry, nowMs: number): JobExtra | undefined {
  if (
    entry.type === "" && entry.key === undefined && entry.dedupeKey === undefined &&
    entry.idempotency === undefined && entry.traceparent === undefined &&
    entry.expiresAtMs === Infinity
  ) return undefined;
  return {
    type: entry.type,
    key: entry.key,
    dedupeKey: entry.dedupeKey,
    keyUntilMs: keyUntil(entry, nowMs),
    idempotency: entry.idempotency,
    traceparent: entry.traceparent,
    expiresAtMs: entry.expiresAtMs,
    createdAtMs: undefined,
    firstReadyAtMs: undefined,
    dueAtMs: undefined,
    error: undefined,
    past: undefined,
    resultError: undefined,
    cancelling: false,
    keepsSlot: false,
    deferredAtMs: undefined,
  };
}

/** When it became claimable. `undefined`: it has not. What ended unstarted tells only if it was blocked before. */
function readyAtOf(job: MemoryJob, endedAtMs: number | undefined): number | undefined {
  const { code, readyAtMs, dueAtMs, startedAtMs = -Infinity } = job;
  if (endedAtMs === undefined) return code === READY || code === RUNNING ? readyAtMs : undefined;
  return dueAtMs !== undefined || startedAtMs >= readyAtMs ? readyAtMs : undefined;
}
