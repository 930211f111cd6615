/**
 * Says how a throw ends an attempt.
 *
 * @module
 */

import {
  type AbortCause,
  AbortedError,
  Fatal,
  messageOf,
  RetryExactly,
  RetryLater,
  stackOf,
} from "../contract/errors.ts";
import { backoffMs } from "../base/backoff.ts";
import { LONGEST_DELAY_MS } from "../contract/job.ts";
import type { JobRun } from "./job_run.ts";

/** What a throw counts as. `ended`: asked for from outside, neither a failure nor a deferral. */
export type ThrowKind = "failure" | "deferral" | "ended";

/** Of a deferral, jitter adds at most this share, and at most this many ms: its time is someone's word. */
const DEFERRAL_SPREAD = 0.2;
const DEFERRAL_SPREAD_MS = 10_000;

/** What a throw is judged by. */
export interface Throw {
  /** Anything at all. */
  readonly thrown: unknown;
  /** Why the handler was asked to stop. `undefined`: it was not. */
  readonly aborted: AbortCause | undefined;
  /** When it was thrown, by the wall clock. */
  readonly wallMs: number;
  /** Takes out of its message what may not be shown. */
  readonly hide: (text: string) => string;
  /** Chance for jitter. */
  readonly random: () => number;
  /** True if a job whose receiver is gone waits for it. Asked only for such a one. */
  readonly waitsForGone: () => boolean;
}

/** What becomes of a job by a throw. */
export type Fate = "back" | "cancelled" | "deferred" | "retried" | "dead";

/** Says what becomes of a job. */
export function fateOf(
  run: Pick<JobRun, "lane" | "attempt" | "job">,
  { aborted, thrown, waitsForGone, wallMs }: Pick<
    Throw,
    "aborted" | "thrown" | "waitsForGone" | "wallMs"
  >,
): Fate {
  if (aborted === "drain" || aborted === "lease-lost") return "back";
  if (aborted === "cancelled") return "cancelled";
  if (retryLaterMs(thrown) !== undefined || (isGone(thrown) && waitsForGone())) return "deferred";
  return isFatal(thrown) || isLast(run, wallMs) ? "dead" : "retried";
}

/** True if no attempt is left, or the next one would be too late for its back-off. */
function isLast(
  { lane, attempt, job }: Pick<JobRun, "lane" | "attempt" | "job">,
  wallMs: number,
): boolean {
  const { attempts, backoff } = lane.settings;
  if (attempt >= attempts) return true;
  if (backoff.forMs === undefined) return false;
  const firstDueMs = job.firstReadyAtMs ?? job.dueAtMs ?? job.readyAtMs;
  return wallMs + backoffMs(backoff, attempt) > firstDueMs + backoff.forMs;
}

/** Fills in where the job goes: back, to a later attempt, or to its end. */
export function judge(run: JobRun, given: Throw): ThrowKind {
  const { thrown, wallMs, random, hide } = given;
  run.error = messageOf(thrown, hide);
  const fate = fateOf(run, given);
  if (fate === "back" || fate === "cancelled") {
    run.to = fate;
    if (fate === "back") run.charged = false;
    return "ended";
  }
  // A deferral is no fault, and that of an abort is always the same.
  if (fate !== "deferred" && !isAbort(thrown)) run.stack = stackOf(thrown, hide);
  const { backoff } = run.lane.settings;
  const jitter = backoff.jitter * random(); // drawn for each: runs of one seed stay the same
  if (fate === "dead") {
    run.to = "dead";
    run.reason = isFatal(thrown) ? "fatal" : "attempts";
    return "failure";
  }
  run.to = "retry";
  if (fate === "deferred") {
    const laterMs = retryLaterMs(thrown) ?? 0;
    run.charged = false;
    run.isGone = isGone(thrown);
    run.dueAtMs = wallMs + laterMs + (isExact(thrown) ? 0 : jitter * spreadMs(laterMs));
    return "deferral";
  }
  run.dueAtMs = wallMs + backoffMs(backoff, run.attempt) * (1 + jitter);
  return "failure";
}

/**
 * True for a job whose result is not kept though the next lane needs it: it is dead, since a retry would
 * return the same.
 */
export function isStranded(run: JobRun): boolean {
  if (run.resultError === undefined || run.lane.settings.then === undefined) return false;
  run.to = "dead";
  run.reason = "fatal";
  run.error = run.resultError;
  run.resultError = undefined;
  run.lane.dead.fatal++;
  return true;
}

/** How long a `RetryLater` puts off, also one of another copy of this package. Never throws. */
function retryLaterMs(thrown: unknown): number | undefined {
  return readSafely(() => {
    const is = thrown instanceof RetryLater ||
      (thrown instanceof Error && thrown.name === "RetryLater" && "ms" in thrown);
    if (!is) return undefined;
    const { ms } = thrown; // another copy may not have checked it, and it may have been changed since
    return typeof ms === "number" && ms >= 0 ? Math.min(ms, LONGEST_DELAY_MS) : undefined;
  });
}

/** Up to how much later than asked a deferred job may become due, ms: many that were deferred together spread. */
export function spreadMs(laterMs: number): number {
  return Math.min(DEFERRAL_SPREAD * laterMs, DEFERRAL_SPREAD_MS);
}

function isAbort(thrown: unknown): boolean {
  return readSafely(() => thrown instanceof AbortedError) ?? false;
}

function isExact(thrown: unknown): boolean {
  return readSafely(() => thrown instanceof RetryExactly) ?? false;
}

function isFatal(thrown: unknown): boolean {
  return readSafely(() => thrown instanceof Fatal) ?? false;
}

/** True if it says that the receiver is gone. */
function isGone(thrown: unknown): boolean {
  return isFatal(thrown) && readSafely(() => (thrown as Fatal).gone === true) === true;
}

/** A thrown value may throw again as soon as it is looked at. */
function readSafely<T>(read: () => T | undefined): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
