/**
 * What pages say of one job: its state as a mark, its attempts, what was wrong last.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import type { FC } from "hono/jsx";
import { duration, grouped } from "../../base/format.ts";
import type { DeadReason, JobRecord, JobState } from "../../contract/job.ts";
import type { PoolSettings } from "../../config/settings.ts";
import { visible } from "../../base/escape.ts";

const TONES: Readonly<Record<JobState, string>> = {
  delayed: "chip",
  ready: "chip",
  blocked: "chip",
  running: "mark plain",
  done: "mark good",
  dead: "mark bad",
  cancelled: "chip",
};

/** Why a job is dead, in words. */
export const REASONS: Readonly<Record<DeadReason, string>> = {
  attempts: "its attempts are used up",
  fatal: "its handler reported a fatal error",
  expired: "it was not started within its ttlMs",
  late: "it would have been late",
  payload: "its payload does not fit its handler",
};

/** The state of a job, as a mark. */
export function StateMark({ job }: { job: JobRecord }): ReturnType<FC> {
  return <span class={TONES[job.state]}>{job.cancelling === true ? "cancelling" : job.state}</span>;
}

/** How long ago a time was, or how far ahead it is. */
export function ago(atMs: number, nowMs: number): string {
  const ms = nowMs - atMs;
  return ms < 0 ? `in ${duration(-ms)}` : `${duration(ms)} ago`;
}

/** Attempts so far, and how many there may be: `1 of 3`. */
export function attemptsOf(job: JobRecord, settings: PoolSettings): string {
  const most = settings.lanes.find(({ name }) => name === job.lane)?.attempts;
  return most === undefined ? String(job.attempt) : `${job.attempt} of ${most}`;
}

/** Longest text of a payload in a list, characters. */
const LONGEST_IN_LIST = 2_000;

/** A text as a list shows it: a list is read again and again, so only its beginning. */
export function beginningOf(text: string): string {
  if (text.length <= LONGEST_IN_LIST) return text;
  return `${text.slice(0, LONGEST_IN_LIST)}… (${
    grouped(text.length)
  } characters, all on the page of the job)`;
}

/** A payload or a result as it is shown: JSON that people can read. */
export function textOf(value: unknown): string {
  return visible(JSON.stringify(value, undefined, 2) ?? "nothing");
}
