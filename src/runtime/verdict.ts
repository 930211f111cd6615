/**
 * Says how a throw ends an attempt.
 *
 * @module
 */

import { type AbortCause, Fatal, messageOf, RetryExactly, RetryLater } from "../errors.ts";
import { LONGEST_DELAY_MS } from "../job.ts";
import type { JobRun } from "./job_run.ts";

/** What a throw counts as. `ended`: asked for from outside, neither a failure nor a deferral. */
export type Verdict = "failure" | "deferral" | "ended";

/** Of a deferral, jitter adds at most this share, and at most so many ms: its time is somebody's word. */
const DEFERRAL_SPREAD = 0.2;
const DEFERRAL_SPREAD_MS = 10_000;

/** What a throw is judged by. */
export interface Throw {
  /** Anything at all. */
  readonly thrown: unknown;
  /** Why the handler was asked to end. `undefined`: it was not. */
  readonly aborted: AbortCause | undefined;
  /** When it was thrown. */
  readonly nowMs: number;
  /** Chance for jitter. */
  readonly random: () => number;
}

/** Fills in where the job goes: back, to a later attempt, or to its end. */
export function judge(run: JobRun, given: Throw): Verdict {
  const { thrown, aborted, nowMs, random } = given;
  run.error = messageOf(thrown);
  if (aborted === "drain" || aborted === "lease-lost") {
    run.to = "back";
    run.charged = false;
    return "ended";
  }
  if (aborted === "cancelled") {
    run.to = "cancelled";
    return "ended";
  }
  const { attempts, backoff } = run.lane.settings;
  const jitter = backoff.jitter * random();
  const laterMs = retryLaterMs(thrown);
  if (laterMs !== undefined) {
    run.to = "retry";
    run.charged = false;
    run.dueAtMs = nowMs + laterMs + (isExact(thrown) ? 0 : jitter * spreadMs(laterMs));
    return "deferral";
  }
  const fatal = isFatal(thrown);
  if (fatal || run.attempt >= attempts) {
    run.to = "dead";
    run.reason = fatal ? "fatal" : "attempts";
    return "failure";
  }
  run.to = "retry";
  const waitMs = Math.min(backoff.maxMs, backoff.baseMs * 2 ** (run.attempt - 1));
  run.dueAtMs = nowMs + waitMs * (1 + jitter);
  return "failure";
}

/** True for a `RetryLater`, also one of another copy of this package. Never throws. */
export function isRetryLater(thrown: unknown): boolean {
  return retryLaterMs(thrown) !== undefined;
}

function retryLaterMs(thrown: unknown): number | undefined {
  return readSafely(() => {
    const is = thrown instanceof RetryLater ||
      (thrown instanceof Error && thrown.name === "RetryLater" && "ms" in thrown);
    if (!is) return undefined;
    const { ms } = thrown; // another copy may not have checked it, and it may have been changed since
    return typeof ms === "number" && ms >= 0 ? Math.min(ms, LONGEST_DELAY_MS) : undefined;
  });
}

/** Up to how much later than asked a deferred job may become due, ms: many that were put off together spread. */
export function spreadMs(laterMs: number): number {
  return Math.min(DEFERRAL_SPREAD * laterMs, DEFERRAL_SPREAD_MS);
}

function isExact(thrown: unknown): boolean {
  return readSafely(() => thrown instanceof RetryExactly) ?? false;
}

function isFatal(thrown: unknown): boolean {
  return readSafely(() => thrown instanceof Fatal) ?? false;
}

/** A thrown value may throw again as soon as it is looked at. */
function readSafely<T>(read: () => T | undefined): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
