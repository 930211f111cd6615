/**
 * How a job ended, the same by whatever way it is asked for.
 *
 * @module
 */

import type { DeadReason, Outcome } from "./job.ts";

/** What is known of a job that has ended, or that nobody runs any more. */
export interface Ended {
  /** How it ended. */
  readonly state: Outcome["state"];
  /** What the handler returned. */
  readonly result?: unknown;
  /** Why what it returned is not kept. */
  readonly resultError?: string | undefined;
  /** Why it is dead. */
  readonly reason?: DeadReason | undefined;
  /** Message of the latest failure, of an attempt before the last one too. */
  readonly error?: string | undefined;
}

/** How a job ended. One that is done has no error, whatever became of its attempts before. */
export function outcomeOf({ state, result, resultError, reason, error }: Ended): Outcome {
  if (state === "done") {
    return resultError === undefined ? { state, result } : { state, result, resultError };
  }
  return state === "dead" ? { state, reason, error } : { state };
}
