/**
 * Jobs that have ended: how they are written, so that they can be looked up.
 *
 * @module
 */

import type { DeadReason, JobRecord, Outcome } from "../../../src/contract/job.ts";
import { messageOf } from "../../../src/contract/errors.ts";
import { outcomeOf } from "../../../src/contract/outcome.ts";
import { LARGEST_RESULT, resultTooLarge } from "../../../src/base/payload.ts";
import type { Settlement } from "../../../src/contract/store.ts";
import {
  byteLength,
  type Bytes,
  decode,
  isLine,
  type JobLine,
  parseLine,
} from "../record/codec.ts";
import { createdIn, formatId, type IdParts, parseId } from "../record/id.ts";
import { idOf, pastOf, payloadOf, type StoredJob } from "../record/job.ts";
import { numberAt, textAt } from "../record/keys.ts";

/** Longest message of a failure that is stored, characters. */
const LONGEST_ERROR = 1000;

/** How a job ended. */
export interface End {
  /** The state it has from now on. */
  readonly state: "done" | "dead" | "cancelled";
  /** Attempts charged. */
  readonly attempt: number;
  /** When its latest attempt started. */
  readonly startedAtMs: number | undefined;
  /** What the handler returned. */
  readonly result?: unknown;
  /** The same as JSON. */
  readonly resultText?: string | undefined;
  /** Why it is not kept. */
  readonly resultError?: string | undefined;
  /** Why it is dead. */
  readonly reason?: DeadReason | undefined;
  /** Message of the failure. `undefined`: the one before stays. */
  readonly error?: string | undefined;
  /** False: the pool does not know of it yet. */
  readonly told: boolean;
}

/** The end of a job that has waited for too long. */
export function expired({ line }: Pick<StoredJob, "line">): End {
  const [attempt, , , extra] = line;
  return { state: "dead", reason: "expired", attempt, startedAtMs: extra?.s, told: false };
}

/** Why a job is dead of which nothing can be read. */
export const UNREADABLE_JOB = "Its record cannot be read";

/** The end of a job of which nothing can be read. */
export const UNREADABLE_END: Pick<End, "state" | "reason" | "error" | "told"> = {
  state: "dead",
  reason: "payload",
  error: damaged(UNREADABLE_JOB),
  told: false,
};

/** Why a job has not run whose payload cannot be read. */
export function damaged(what: string): string {
  return `${what}: it was damaged in the database, so no handler has run with it`;
}

/** A record as it is stored. */
export type Row = readonly [
  id: string,
  state: End["state"],
  endedAtMs: number,
  startedAtMs: number | null,
  attempt: number,
  dueMs: number,
  line: JobLine,
  reason: DeadReason | null,
  error: string | null,
  result?: unknown,
  resultError?: string | undefined,
];

/** A job that has ended, read. */
export interface EndedJob {
  /** What its id says. */
  readonly id: IdParts;
  /** The record as it is stored. */
  readonly row: Row;
}

/** The record of a dead job, as it is stored. */
export function rowText(job: StoredJob, end: End, atMs: number): string {
  const { state, attempt, startedAtMs, reason } = end;
  const error = errorOf(job, end);
  return `["${idOf(job)}","${state}",${atMs},${startedAtMs ?? null},${attempt},${job.dueMs},` +
    `${job.text},${reason === undefined ? null : `"${reason}"`},${
      error === undefined ? null : JSON.stringify(error)
    }]`;
}

/** Reads a record that was just written. */
export function parseRow(text: string): EndedJob {
  const row: unknown = JSON.parse(text);
  const id = isRow(row) ? parseId(row[0]) : undefined;
  if (!isRow(row) || id === undefined) throw new TypeError(`Expected the record of a job: ${text}`);
  return { id, row };
}

/** The dead job of an entry of `x`. Where it cannot be read, its key tells which it is, but for its lane. */
export function readDead({ key, value }: Deno.KvEntry<Bytes>): EndedJob {
  const [atMs, segment, index] = [numberAt(key, 4), textAt(key, 5), numberAt(key, 6)];
  try {
    const ended = parseRow(decode(value));
    if (ended.id.segment === segment && ended.id.index === index) return ended;
  } catch {
    // As below.
  }
  return unreadable({ segment, index, ordinal: 0, delayMs: 0 }, atMs);
}

/** A dead job of which no more can be read than its id. */
export function unreadable(id: IdParts, atMs: number): EndedJob {
  const line = parseLine("");
  const why = "Its record was damaged in the database and cannot be read";
  const createdMs = createdIn(id.segment);
  return { id, row: [formatId(id), "dead", atMs, null, 0, createdMs, line, "payload", why] };
}

const STATES: readonly unknown[] = ["done", "dead", "cancelled"];

function isRow(row: unknown): row is Row {
  return Array.isArray(row) && typeof row[0] === "string" && STATES.includes(row[1]) &&
    [row[2], row[3] ?? 0, row[4], row[5]].every((part) => typeof part === "number") &&
    isLine(row[6]) && [row[7] ?? "", row[8] ?? ""].every((part) => typeof part === "string");
}

/** How a job ended, for those who wait. */
export function endingOf(job: StoredJob, end: End): Outcome {
  const { state, result, resultError, reason } = end;
  return outcomeOf({ state, result, resultError, reason, error: errorOf(job, end) });
}

/** Everything known about a job that has ended. `payload`: if that is stored apart. */
export function recordIn(
  { id, row }: EndedJob,
  pool: string,
  lane: string,
  payload?: unknown,
): JobRecord {
  const [text, state, endedAtMs, startedAtMs, attempt, dueMs, line, reason, error, result] = row;
  const extra = line[3];
  // What ended unstarted tells only if it was blocked before.
  const wasReady = extra?.v !== undefined || (startedAtMs !== null && startedAtMs >= dueMs);
  return {
    id: text,
    pool,
    lane,
    type: extra?.t ?? "",
    payload: payload ?? payloadOf(line[2], extra?.u),
    key: extra?.k,
    createdAtMs: createdIn(id.segment),
    attempt,
    traceparent: extra?.p,
    state,
    dueAtMs: extra?.v ?? dueMs,
    readyAtMs: wasReady ? dueMs : undefined,
    startedAtMs: startedAtMs ?? undefined,
    endedAtMs,
    result,
    resultError: row[10],
    reason: reason ?? undefined,
    error: state === "done" ? undefined : error ?? undefined, // that of an attempt before is none of its own
    ...pastOf({ segment: id.segment, line }),
    dedupeKey: extra?.d,
  };
}

/** A message that is not too long to be stored. */
export function shortened(error: string): string {
  return error.length <= LONGEST_ERROR ? error : `${error.slice(0, LONGEST_ERROR - 1)}…`;
}

/** Message of the latest failure. None of a job that is done: it is of an attempt before. */
export function errorOf(job: StoredJob, { error, state }: End): string | undefined {
  if (state === "done") return undefined;
  return error === undefined ? job.line[3]?.e : shortened(error);
}

/** The result of a job as it is stored, or why it is not: the job is done all the same. */
export function resultOf(
  { result, resultError }: Settlement,
): Pick<End, "result" | "resultText" | "resultError"> {
  if (result === undefined) return { resultError };
  let resultText: string | undefined;
  try {
    resultText = JSON.stringify(result);
  } catch (thrown) {
    return { resultError: `The result cannot be stored: ${messageOf(thrown)}` };
  }
  if (resultText === undefined) {
    return { resultError: `The result cannot be stored: it is a ${typeof result}` };
  }
  const bytes = byteLength(resultText);
  return bytes > LARGEST_RESULT
    ? { resultError: resultTooLarge(bytes) }
    : { result, resultText, resultError };
}

/** The same end without its result, for which there is no room. */
export function withoutResult({ resultText = "", ...end }: End): End {
  const resultError = end.resultError ?? resultTooLarge(byteLength(resultText));
  return { ...end, result: undefined, resultError };
}
