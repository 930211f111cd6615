/**
 * The states of a job, in the order of its life.
 *
 * @module
 */

import type { JobState } from "../contract/job.ts";

/** All states, in the order of a job's life. */
export const JOB_STATES = [
  "delayed",
  "ready",
  "blocked",
  "running",
  "done",
  "dead",
  "cancelled",
] as const satisfies readonly JobState[];

/** States of a job that waits for its start. A job moves through them in this order. */
export const WAITING_STATES = [
  "delayed",
  "blocked",
  "ready",
] as const satisfies readonly JobState[];

/** True for the name of a state. */
export function isState(state: string | undefined): state is JobState {
  return JOB_STATES.some((known) => known === state);
}

/** True for the state of a job that waits for its start. */
export function isWaiting(state: JobState): state is (typeof WAITING_STATES)[number] {
  return WAITING_STATES.some((waiting) => waiting === state);
}
