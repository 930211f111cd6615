/**
 * A job's life as spans of time, one after the other: when it was delayed, blocked, ready, and when it ran. Pure.
 *
 * @module
 */

import type { JobAttempt, JobRecord } from "../contract/job.ts";
import { counted } from "../base/format.ts";

/**
 * What a job did in a span. `waited`: it was ready, blocked or delayed, of which only the latest attempt
 * tells. `dead`: until someone retried it.
 */
export type StageKind = "delayed" | "blocked" | "ready" | "waited" | "dead" | JobAttempt["end"];

/** One span of a job's life. */
export interface JobStage {
  /** What it did. */
  readonly kind: StageKind;
  /** When it began. */
  readonly fromMs: number;
  /** When it ended; of one that goes on, when it will, or now. */
  readonly toMs: number;
  /** True: it goes on. */
  readonly isOpen: boolean;
  /** What it was, in words, such as `attempt 2 failed`. */
  readonly text: string;
}

/** The spans of a job up to `nowMs`, without gaps; of a delayed one up to when it is due. */
export function timelineOf(job: JobRecord, nowMs: number): readonly JobStage[] {
  const { createdAtMs, endedAtMs, revived } = job;
  const spans: JobStage[] = [];
  let atMs = createdAtMs;
  const until = (kind: StageKind, toMs: number, text: string, isOpen = false): void => {
    const isAttempt = kind !== "delayed" && kind !== "blocked" && kind !== "ready" &&
      kind !== "waited" && kind !== "dead";
    if (toMs <= atMs && !isOpen && !isAttempt) return;
    spans.push({ kind, fromMs: atMs, toMs: Math.max(atMs, toMs), isOpen, text });
    atMs = Math.max(atMs, toMs);
  };
  const attempts = attemptsOf(job, nowMs);
  const latest = attempts.at(-1);
  const isWaiting = endedAtMs === undefined && job.state !== "running";
  for (const attempt of attempts) {
    const { startedAtMs } = attempt;
    if (revived !== undefined && revived.atMs <= startedAtMs && revived.atMs > atMs) {
      if (spans.length > 0) until("dead", revived.atMs, "dead, until it was retried by hand");
    }
    if (attempt === latest && !isWaiting && job.dueAtMs <= startedAtMs) {
      waits(job, startedAtMs, until);
    } else {until(
        "waited",
        startedAtMs,
        spans.length === 0 ? "waited" : "waited for its next attempt",
      );}
    const isOpen = attempt.end === "running";
    until(attempt.end, isOpen ? nowMs : startedAtMs + attempt.ms, textOf(attempt), isOpen);
    atMs = Math.max(atMs, startedAtMs);
  }
  if (endedAtMs !== undefined) {
    const endedUnstarted = latest === undefined || latest.startedAtMs < job.dueAtMs;
    if (endedUnstarted) waits(job, endedAtMs, until);
  } else if (isWaiting) {
    if (revived !== undefined && spans.length > 0) {
      until("dead", revived.atMs, "dead, until it was retried by hand");
    }
    waits(job, nowMs, until, true);
  }
  return spans;
}

/** How long it waited for its latest attempt, up to when that began, or until now. */
function waits(
  { state, dueAtMs, readyAtMs }: JobRecord,
  toMs: number,
  until: (kind: StageKind, toMs: number, text: string, isOpen?: boolean) => void,
  isOpen = false,
): void {
  if (isOpen && state === "delayed") return until("delayed", dueAtMs, "delayed", true);
  until("delayed", Math.min(dueAtMs, toMs), "delayed");
  if (isOpen && state === "blocked") return until("blocked", toMs, "blocked by its key", true);
  if (readyAtMs !== undefined) until("blocked", Math.min(readyAtMs, toMs), "blocked by its key");
  if (isOpen || readyAtMs !== undefined) until("ready", toMs, "ready", isOpen);
  else until("waited", toMs, "waited");
}

/** The attempts that are known: those that are kept, and the latest, which is kept only if it has something to tell. */
function attemptsOf(job: JobRecord, nowMs: number): readonly JobAttempt[] {
  const { history = [], startedAtMs, endedAtMs, state, attempt } = job;
  const known = history.toSorted((a, b) => a.startedAtMs - b.startedAtMs);
  const last = known.at(-1);
  const isKnown = startedAtMs === undefined ||
    (last !== undefined && last.startedAtMs >= Math.floor(startedAtMs));
  if (isKnown) return known;
  // One that is over and was not the last: how long it ran is not kept.
  const end = state === "running" ? "running" : endedAtMs === undefined ? undefined : endOf(job);
  if (end === undefined) return known;
  const ms = Math.max(0, (endedAtMs ?? nowMs) - startedAtMs);
  return [...known, { attempt, startedAtMs, ms, worker: "", end }];
}

function endOf({ state }: JobRecord): JobAttempt["end"] {
  if (state === "dead") return "failed";
  return state === "cancelled" ? "cancelled" : "done";
}

function textOf({ attempt, end, times = 1 }: JobAttempt): string {
  const often = times === 1 ? "" : `, as ${counted(times - 1, "time")} before`;
  return end === "running" ? `attempt ${attempt} runs` : `attempt ${attempt} ${end}${often}`;
}
