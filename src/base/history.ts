/**
 * What is kept of a job's attempts: the last of them, in little room.
 *
 * @module
 */

import type { JobAttempt, LogLine } from "../contract/job.ts";
import { signatureOf } from "./signature.ts";

/** Most attempts that are kept. */
const MOST_ATTEMPTS = 5;

/** Most bytes of all, as JSON. */
const MOST_BYTES = 12_000;

/** Longest message that is kept of one, characters. */
const LONGEST_ERROR = 1_000;

/** Most lines of its log, and the longest of them, characters. */
const MOST_LINES = 100;
const LONGEST_LINE = 500;

const encoder = new TextEncoder();

/** The same with one more attempt. Deferrals in a row for the same reason are one. */
export function withAttempt(
  history: readonly JobAttempt[] = [],
  next: JobAttempt,
): readonly JobAttempt[] | undefined {
  const { error } = next;
  const cut = error === undefined ? next : { ...next, error: cutAt(error, LONGEST_ERROR) };
  const last = history.at(-1);
  const isSame = last?.end === "deferred" && next.end === "deferred" &&
    signatureOf(last.error ?? "") === signatureOf(cut.error ?? "");
  const all = isSame
    ? [...history.slice(0, -1), { ...cut, times: (last.times ?? 1) + 1 }]
    : [...history, cut];
  return fitHistory(all.slice(-MOST_ATTEMPTS), MOST_BYTES);
}

/**
 * As much of it as there is room for. Logs go first, those of the oldest attempts before others, then
 * stacks, then attempts. `undefined`: there is room for nothing.
 */
export function fitHistory(
  history: readonly JobAttempt[],
  bytes: number,
): readonly JobAttempt[] | undefined {
  let left = history;
  for (const without of [withoutOldest("log"), halfLog, withoutOldest("stack"), dropOldest]) {
    for (
      let less: readonly JobAttempt[] | undefined = left;
      less !== undefined;
      less = without(left)
    ) {
      left = less;
      if (left.length === 0) return undefined;
      if (encoder.encode(JSON.stringify(left)).length <= bytes) return left;
    }
  }
  return undefined;
}

/** What was read of a store, as far as it is one: a damaged part costs no more than itself. */
export function readHistory(value: unknown): readonly JobAttempt[] | undefined {
  const history = Array.isArray(value) ? value.filter(isAttempt) : [];
  return history.length === 0 ? undefined : history;
}

/** Adds a line to a log, of which the last are kept. */
export function addLine(log: LogLine[], line: LogLine): void {
  log.push({ ...line, text: cutAt(line.text, LONGEST_LINE) });
  if (log.length >= 2 * MOST_LINES) log.splice(0, log.length - MOST_LINES); // seldom: it moves all
}

/** The last lines of a log. */
export function lastLines(log: readonly LogLine[]): readonly LogLine[] {
  return log.slice(-MOST_LINES);
}

type Lessen = (history: readonly JobAttempt[]) => readonly JobAttempt[] | undefined;

/** Takes a part out of the oldest attempt that has it; of the latest its log is halved instead. */
function withoutOldest(part: "log" | "stack"): Lessen {
  return (history) => {
    const place = history.findIndex((attempt) => attempt[part] !== undefined);
    if (place === -1 || (part === "log" && place === history.length - 1)) return undefined;
    return history.with(place, { ...history[place]!, [part]: undefined });
  };
}

function halfLog(history: readonly JobAttempt[]): readonly JobAttempt[] | undefined {
  const last = history.at(-1);
  if (last?.log === undefined) return undefined;
  const half = Math.floor(last.log.length / 2);
  return history.with(-1, { ...last, log: half === 0 ? undefined : last.log.slice(-half) });
}

function dropOldest(history: readonly JobAttempt[]): readonly JobAttempt[] {
  return history.slice(1);
}

function isAttempt(value: unknown): value is JobAttempt {
  if (typeof value !== "object" || value === null) return false;
  const { attempt, startedAtMs, ms, worker, end, error, stack, log, times }: Partial<
    Record<keyof JobAttempt, unknown>
  > = value;
  return [attempt, startedAtMs, ms, times ?? 1].every((part) => typeof part === "number") &&
    [worker, end, error ?? "", stack ?? ""].every((part) => typeof part === "string") &&
    (log === undefined || (Array.isArray(log) && log.every(isLine)));
}

function isLine(value: unknown): boolean {
  const { afterMs, level, text }: Partial<Record<keyof LogLine, unknown>> = Object(value);
  return typeof afterMs === "number" && typeof level === "string" && typeof text === "string";
}

function cutAt(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}
