/**
 * Takes jobs in: checks them, asks admission, holds the lane's depth.
 *
 * @module
 */

import { judgeVerdict } from "../base/answers.ts";
import { messageOf, RejectedError } from "../contract/errors.ts";
import type { PoolCore } from "./pool_core.ts";
import type { Cooldown } from "./cooldown.ts";
import { delayTooLong, LONGEST_DELAY_MS, type NewJob, type PlacedJob } from "../contract/job.ts";
import type { Lane } from "./lane.ts";
import { isoTime, NO_ISO_TIME } from "../base/iso_time.ts";
import { copyJson, Misfit } from "../base/payload.ts";
import { PayloadError } from "../contract/payload_error.ts";
import type { Handler } from "../contract/plugin.ts";
import type { PoolState } from "./pool_state.ts";
import { checkPayload } from "./job_input.ts";
import type { JobEntry } from "../contract/store.ts";
import type { Redaction } from "../config/redaction.ts";
import type { Rejected } from "./rejected.ts";
import type { StrategySlots } from "./strategy_slots.ts";
import { Routes } from "../config/routes.ts";
import { quoted, suggestion } from "../base/suggest.ts";
import type { Telemetry } from "./telemetry.ts";

/** When to come back if nothing is known of how fast the lane drains, ms. */
const UNKNOWN_RETRY_MS = 1000;

/** What intake needs of its pool. */
export interface IntakeContext extends PoolCore {
  /** Asked for a verdict. */
  readonly slots: StrategySlots;
  /** Knows when jobs start again that a circuit breaker holds. */
  readonly cooldown: Cooldown;
  /** Knows the trace of who enqueues. `undefined`: none. */
  readonly telemetry: Telemetry | undefined;
  /** What may be shown. */
  readonly redaction: Redaction;
}

/** Turns what a user gives into what a store takes. */
export class Intake {
  readonly #context: IntakeContext;
  readonly #state: PoolState;
  #lanes: ReadonlyMap<string, Lane> = new Map();
  #routes = new Routes([]);
  #handlers: ReadonlyMap<string, Handler> = new Map();
  #onlyHandler: Handler | undefined;
  #closedFor: string | undefined;

  /** Begins open. */
  constructor(context: IntakeContext, handlers: ReadonlyMap<string, Handler>) {
    this.#context = context;
    this.#state = context.state;
    this.adopt(handlers);
  }

  /** Takes handlers, and the lanes of the state, over. */
  adopt(handlers: ReadonlyMap<string, Handler>): void {
    this.#lanes = new Map(this.#state.lanes.map((lane) => [lane.name, lane]));
    this.#routes = new Routes(this.#state.settings.routes);
    this.#handlers = handlers;
    this.#onlyHandler = handlers.get("");
  }

  /** Rejects every job from now on. */
  close(reason: string): void {
    this.#closedFor = reason;
  }

  /** The lane of that name. @throws {TypeError} If there is none. */
  lane(name: string): Lane {
    const lane = this.#lanes.get(name);
    if (lane !== undefined) return lane;
    throw new TypeError(
      `No lane of pool "${this.#state.pool}" is named "${String(name)}"${
        suggestion(String(name), this.#lanes.keys())
      }`,
    );
  }

  /**
   * Checks a job. Whether it is admitted is another question.
   *
   * @throws {TypeError} If lane, type, payload or a key does not fit.
   * @throws {RangeError} If a number is out of range.
   */
  check(job: NewJob, nowMs: number): JobEntry {
    if (typeof job !== "object" || job === null) {
      throw new TypeError(`Expected a job such as { lane, payload } but received ${String(job)}`);
    }
    const lane = this.#lanes.get(job.lane ?? "") ?? this.#laneOf(job);
    const handler = this.#onlyHandler !== undefined && job.type === undefined
      ? this.#onlyHandler
      : this.#handlerOf(job);
    const payload = copyJson(job.payload);
    if (payload instanceof Misfit) throw this.#refused(payload, job);
    if (handler.payload !== undefined) {
      const checked = checkPayload(handler.payload, payload);
      if (checked instanceof Misfit) throw this.#refused(checked, job);
    }
    const { delayMs, runAt, ttlMs, key, dedupeKey, idempotency, traceparent } = job;
    if (delayMs !== undefined) checkDuration("delayMs", delayMs);
    if (ttlMs !== undefined) checkDuration("ttlMs", ttlMs);
    if (key !== undefined) checkKey("key", key);
    if (dedupeKey !== undefined) checkKey("dedupeKey", dedupeKey);
    if (idempotency !== undefined) {
      checkKey("idempotency.key", idempotency.key);
      checkKey("idempotency.fingerprint", idempotency.fingerprint);
    }
    if (traceparent !== undefined) checkKey("traceparent", traceparent);
    const wallMs = this.#state.wall.at(nowMs);
    const isDeduped = dedupeKey !== undefined && dedupeKey !== idempotency?.key;
    const dedupe = isDeduped ? lane.settings.dedupe : undefined;
    if (dedupe?.waitMs !== undefined) checkUndelayed(job, lane.name);
    const dueAtMs = wallMs + (delayMs ?? dedupe?.waitMs ?? 0);
    return {
      lane: lane.index,
      type: job.type ?? "",
      payload,
      key,
      dueAtMs: runAt === undefined ? dueAtMs : dueAt(job, wallMs),
      expiresAtMs: wallMs + (ttlMs ?? lane.settings.ttlMs),
      dedupeKey,
      dedupe,
      idempotency,
      traceparent: traceparent ?? this.#context.telemetry?.traceparent(),
    };
  }

  /** The lane of a job that names none, or none that there is. */
  #laneOf(job: NewJob): Lane {
    if (job.lane !== undefined) return this.lane(job.lane);
    const { pool } = this.#state;
    if (this.#routes.isEmpty) {
      throw new TypeError(
        `Pool "${pool}" has no routes: name the job's lane, one of ${quoted(this.#lanes.keys())}`,
      );
    }
    this.#handlerOf(job); // what is wrong with its type is said first
    if (job.key !== undefined) checkKey("key", job.key);
    const lane = this.#routes.laneOf(job);
    if (lane !== undefined) return this.lane(lane);
    throw new TypeError(this.#routes.faultOf(job, this.#lanes.keys()));
  }

  #handlerOf(job: NewJob): Handler {
    const type = job.type ?? "";
    const handler = this.#handlers.get(type);
    if (handler !== undefined) return handler;
    const { pool } = this.#state;
    if (this.#onlyHandler !== undefined) {
      throw new TypeError(`Pool "${pool}" has one handler: leave out the type "${type}"`);
    }
    const names = [...this.#handlers.keys()];
    throw new TypeError(
      job.type === undefined
        ? `Pool "${pool}" has several handlers: set a type, one of ${
          names.map((name) => `"${name}"`).join(", ")
        }`
        : `No handler of pool "${pool}" is named "${type}"${suggestion(type, names)}`,
    );
  }

  /** Why a job is to be rejected: the pool stops, its lane is full, or admission says so. `undefined`: it is accepted. */
  rejection(job: NewJob, entry: JobEntry): Rejected | undefined {
    const lane = this.#state.lanes[entry.lane]!;
    if (this.#closedFor !== undefined) {
      return { entry, lane, error: new RejectedError(this.#closedFor, Infinity) };
    }
    const { settings } = lane;
    if (lane.depth >= settings.maxDepth) {
      const reason = `lane "${lane.name}" is at its maxDepth of ${settings.maxDepth}`;
      return { entry, lane, error: this.#errorOf(entry, reason, drainMs(lane)) };
    }
    if (!this.#state.worked) return undefined; // admission goes by workers, and those are elsewhere
    const { slots } = this.#context;
    // The view is that of the pool's last turn: jobs that had no turn yet, because the caller
    // enqueues many in one go, have not waited for a worker.
    let verdict;
    try {
      verdict = judgeVerdict(slots.admission.run.submit(placed(job, lane), this.#state.face));
    } catch (thrown) {
      slots.fails("submit", slots.admission.name, messageOf(thrown));
      return undefined;
    }
    slots.works("submit", slots.admission.name);
    if (verdict.admit) return undefined;
    const reason = this.#hide(verdict.reason, job);
    return { entry, lane, error: this.#errorOf(entry, reason, verdict.retryAfterMs) };
  }

  #refused({ fault, faults }: Misfit, job: NewJob): PayloadError {
    const errors = faults.map(({ pointer, detail }) => ({
      pointer: `/payload${pointer}`,
      detail: this.#hide(detail, job),
    }));
    return new PayloadError(this.#hide(fault, job), errors);
  }

  #hide(text: string, { payload }: NewJob): string {
    return this.#context.redaction.hide(text, payload);
  }

  /** While a circuit breaker is open nothing starts: nobody is to come back before. */
  #errorOf({ key }: JobEntry, reason: string, hintMs: number): RejectedError {
    const { cooldown, state: { nowMs } } = this.#context;
    return new RejectedError(reason, Math.max(hintMs, cooldown.holdUntilMs(key) - nowMs));
  }

  /** Reports a job that was posted and is not stored: the one who posted it does not wait for that. */
  lost(job: NewJob, thrown: unknown): void {
    if (thrown instanceof RejectedError) return; // reported as such
    const lane = job.lane ?? this.#routes.laneOf(job) ?? "";
    const { state: { pool, nowMs: atMs }, hub, log } = this.#context;
    const error = messageOf(thrown);
    if (hub.active) hub.emit({ kind: "job-unstored", atMs, pool, lane, error });
    else log.error("A posted job could not be stored", { pool, lane, error });
  }

  /** Counts and reports a job that is rejected. Returns the error, for the one who enqueues. */
  reject({ error, lane, entry: { key } }: Rejected, atMs: number): RejectedError {
    const { reason, retryAfterMs } = error;
    if (reason === this.#closedFor) return error;
    lane.traffic.shed++;
    this.#state.traffic.shed++;
    const { hub } = this.#context;
    const { pool } = this.#state;
    if (hub.active) {
      hub.emit({ kind: "job-shed", atMs, pool, lane: lane.name, key, reason, retryAfterMs });
    }
    return error;
  }
}

/** The job as admission is asked about it. */
function placed(job: NewJob, { name }: Lane): PlacedJob {
  return job.lane === undefined ? { ...job, lane: name } : job as PlacedJob; // as looked at just now
}

/** How long one place in a full lane takes to get free. */
function drainMs(lane: Lane): number {
  const perSec = lane.window.completionsPerSec;
  return perSec > 0 ? Math.max(1, 1000 / perSec) : UNKNOWN_RETRY_MS;
}

/** When a job that names its time is due. */
function dueAt({ runAt, delayMs }: NewJob, wallMs: number): number {
  if (delayMs !== undefined) throw new TypeError("Expected either delayMs or runAt: received both");
  const atMs = isoTime(runAt);
  if (atMs === undefined) {
    throw new TypeError(`Expected runAt to be ${NO_ISO_TIME}, but received ${String(runAt)}`);
  }
  if (atMs - wallMs > LONGEST_DELAY_MS) throw new RangeError(delayTooLong("runAt", String(runAt)));
  return Math.max(atMs, wallMs);
}

/** A lane that debounces says itself when a job is due. */
function checkUndelayed({ delayMs, runAt }: NewJob, lane: string): void {
  const key = delayMs !== undefined ? "delayMs" : runAt !== undefined ? "runAt" : undefined;
  if (key === undefined) return;
  throw new TypeError(`Expected no ${key} beside a dedupeKey: lane "${lane}" debounces`);
}

function checkDuration(name: string, value: unknown): void {
  if (typeof value === "number" && value > LONGEST_DELAY_MS) {
    throw new RangeError(delayTooLong(name, String(value)));
  }
  if (typeof value === "number" && value >= 0) return;
  throw new RangeError(`Expected ${name} >= 0 ms but received ${String(value)}`);
}

function checkKey(name: string, value: unknown): void {
  if (typeof value === "string" && value.length > 0 && value.length <= 1024) return;
  throw new TypeError(
    `Expected ${name} to be a text of 1 to 1024 characters but received ${
      typeof value === "string" ? `${value.length} characters` : String(value)
    }`,
  );
}
