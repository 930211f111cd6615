/**
 * What a call throws whose job does not end with a result.
 *
 * @module
 */

import type { DeadReason, Outcome } from "./job.ts";

/** What is known of a job that has no result. */
export interface JobFailure {
  /** Its id. */
  readonly id: string;
  /** How it ended. */
  readonly outcome: Outcome;
  /** Attempts that were charged. `undefined`: the store does not keep the job any more. */
  readonly attempts: number | undefined;
  /** What its last attempt threw. */
  readonly cause: unknown;
}

/** A job has ended, and there is no result. */
export class JobError extends Error {
  /** Id of the job. */
  readonly id: string;
  /**
   * How it ended. `unfinished`: the pool stopped before; a durable store keeps the job for the next start.
   * `done`: what the handler returned is no JSON, or too large.
   */
  readonly state: Outcome["state"];
  /** Why it is dead. `undefined`: it is not. */
  readonly reason: DeadReason | undefined;
  /** Attempts that were charged. `undefined`: the store does not keep the job any more. */
  readonly attempts: number | undefined;

  /**
   * Says how the job ended. `cause` is what its last attempt threw where it ran in this process, elsewhere
   * an `Error` with that message; `undefined` where nothing was thrown.
   */
  constructor({ id, outcome, attempts, cause }: JobFailure) {
    super(sentenceOf(id, outcome, attempts), { cause });
    this.name = "JobError";
    this.id = id;
    this.state = outcome.state;
    this.reason = outcome.reason;
    this.attempts = attempts;
  }
}

function sentenceOf(id: string, outcome: Outcome, attempts: number | undefined): string {
  const { state, reason, error, resultError } = outcome;
  const job = `The job "${id}"`;
  if (state === "done") return `${job} is done, but: ${resultError}`;
  if (state === "cancelled") return `${job} was cancelled`;
  if (state === "unfinished") return `${job} has not ended: its pool stopped before`;
  const after = attempts ? ` after ${attempts} ${attempts === 1 ? "attempt" : "attempts"}` : "";
  return `${job} is dead${after}, reason ${reason}${error === undefined ? "" : `: ${error}`}`;
}
