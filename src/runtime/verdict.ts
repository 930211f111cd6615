/**
 * Says how a throw ends an attempt.
 *
 * @module
 */

import { type AbortCause, Fatal, messageOf, RetryLater } from "../errors.ts";
import type { JobRun } from "./job_run.ts";
import type { Ending } from "./settler.ts";

/** What a throw counts as. `ended`: asked for from outside, neither a failure nor a deferral. */
export type Verdict = "failure" | "deferral" | "ended";

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
export function judge(ending: Ending, run: JobRun, given: Throw): Verdict {
  const { thrown, aborted, nowMs, random } = given;
  ending.error = messageOf(thrown);
  if (aborted === "drain" || aborted === "lease-lost") {
    ending.to = "back";
    ending.charged = false;
    return "ended";
  }
  if (aborted === "cancelled") {
    ending.to = "cancelled";
    return "ended";
  }
  const { attempts, backoff } = run.lane.settings;
  const spread = 1 + backoff.jitter * random();
  const laterMs = retryLaterMs(thrown);
  if (laterMs !== undefined) {
    ending.to = "retry";
    ending.charged = false;
    ending.dueAtMs = nowMs + laterMs * spread;
    return "deferral";
  }
  const fatal = isFatal(thrown);
  if (fatal || run.job.attempt >= attempts) {
    ending.to = "dead";
    ending.reason = fatal ? "fatal" : "attempts";
    return "failure";
  }
  ending.to = "retry";
  const waitMs = Math.min(backoff.maxMs, backoff.baseMs * 2 ** (run.job.attempt - 1));
  ending.dueAtMs = nowMs + waitMs * spread;
  return "failure";
}

/** True for a `RetryLater`, also one of another copy of this package. Never throws. */
export function isRetryLater(thrown: unknown): boolean {
  return retryLaterMs(thrown) !== undefined;
}

function retryLaterMs(thrown: unknown): number | undefined {
  return readSafely(() => {
    if (thrown instanceof RetryLater) return thrown.ms;
    const is = thrown instanceof Error && thrown.name === "RetryLater" && "ms" in thrown;
    return is && typeof thrown.ms === "number" ? thrown.ms : undefined;
  });
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
