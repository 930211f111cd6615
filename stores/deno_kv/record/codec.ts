/**
 * How jobs are written: one a line, as JSON. A line that is empty is a job that has left.
 *
 * Lines make parts of a segment easy to cut: what is leased and what stays are slices of the same bytes.
 *
 * @module
 */

import type { JobAttempt } from "../../../src/contract/job.ts";
import type { JobEntry } from "../../../src/contract/store.ts";

/** What few jobs have. Short names: a backlog is made of these. */
export interface LineExtra {
  /** Name of the handler. */
  t?: string;
  /** Bound by the lane's limit. */
  k?: string;
  /** Holds a place of its key. */
  h?: 1;
  /** Makes others its duplicates. */
  d?: string;
  /** Until when `d` is its own, as `keyUntil` says: omitted, until its end. */
  i?: number;
  /** What is sent under its idempotency key: that is `n`, or else `d`. */
  f?: string;
  /** Its idempotency key, where that is not its dedupe key. */
  n?: string;
  /** Trace context. */
  p?: string;
  /** Not started from then on. */
  x?: number;
  /** Message of the latest failure. */
  e?: string;
  /** When its latest attempt started. */
  s?: number;
  /** When it was deferred, where that is much later than the start of its attempt. */
  g?: number;
  /** When it was stamped again, because it was added by a clock that was ahead. */
  a?: number;
  /** When it was due, if it was blocked from then until it is claimable. */
  v?: number;
  /** How long after its adding it was first due: set once it has left its first place. */
  o?: number;
  /** How long after its adding it was first due since it was revived. */
  r?: number;
  /** Attempts that were charged before that. */
  y?: number;
  /** Its last attempts. */
  l?: readonly JobAttempt[];
  /** Its payload is in this many parts of its own. */
  b?: number;
  /** Checksum of those parts. */
  c?: number;
  /** Its payload is `undefined`. */
  u?: 1;
  /** What was stored of it cannot be read. */
  w?: 1;
}

/** A job: attempts charged, leases so far, payload, the rest. */
export type JobLine = readonly [
  attempts: number,
  leases: number,
  payload: unknown,
  extra?: Readonly<LineExtra>,
];

/** Bytes of a part. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** What `takeLines` cut. */
export interface Cut {
  /** The first lines. */
  readonly head: Bytes;
  /** How many lines those are, empty ones included. */
  readonly lines: number;
  /** The other lines, from the first that is a job. `undefined`: there are none. */
  readonly rest: Bytes | undefined;
  /** How many lines come before those. */
  readonly skipped: number;
}

/** Most texts are plain: each of their characters takes one byte. */
const PLAIN = /^[\n -~]*$/;

/** Takes the place of a line that cannot be read. */
const UNREADABLE: JobLine = [0, 0, null, { w: 1 }];

/** What is read where there are no bytes: one line that cannot be read. */
const NO_BYTES: Bytes = new Uint8Array([63]);

/** Most parts of a payload that any release has stored, and more. */
const MOST_CHUNKS = 1000;

const NEWLINE = 10;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Bytes of a text. */
export function encode(text: string): Bytes {
  return encoder.encode(text);
}

/** How many bytes a text takes. */
export function byteLength(text: string): number {
  return PLAIN.test(text) ? text.length : encode(text).length;
}

/** Text of bytes. */
export function decode(bytes: Uint8Array): string {
  return decoder.decode(bytesOf(bytes));
}

/** The bytes that a value is. One that is none is a line that cannot be read. */
export function bytesOf(value: unknown): Bytes {
  return value instanceof Uint8Array ? value as Bytes : NO_BYTES; // the database shares no memory
}

/** What is apart of a job that is added. */
export interface ChunkNote {
  /** Its payload is stored in this many parts. */
  readonly chunks: number;
  /** Checksum of those. */
  readonly sum: number;
  /** How long after its adding it is due, ms. */
  readonly delayMs: number;
}

/** The line of a job that is added. `payload`: its JSON. `keyUntilMs`: until when its dedupe key is its own. */
export function lineOf(
  entry: JobEntry,
  payload: string | undefined,
  apart?: ChunkNote,
  keyUntilMs?: number,
): string {
  const { type, key, dedupeKey, idempotency, traceparent, expiresAtMs } = entry;
  const extra: LineExtra = {};
  if (type !== "") extra.t = type;
  if (key !== undefined) extra.k = key;
  if (dedupeKey !== undefined) extra.d = dedupeKey;
  if (keyUntilMs !== undefined) extra.i = keyUntilMs;
  if (idempotency !== undefined) {
    extra.f = idempotency.fingerprint;
    if (idempotency.key !== dedupeKey) extra.n = idempotency.key;
  }
  if (traceparent !== undefined) extra.p = traceparent;
  if (expiresAtMs < Infinity) extra.x = expiresAtMs;
  if (apart !== undefined) {
    extra.b = apart.chunks;
    extra.c = apart.sum;
    extra.o = apart.delayMs;
  }
  if (payload === undefined) extra.u = 1;
  const start = `[0,0,${apart !== undefined ? "null" : payload ?? "null"}`;
  for (const _ in extra) return `${start},${JSON.stringify(extra)}]`;
  return `${start}]`;
}

/** Reads a line. One that cannot be read says so. */
export function parseLine(text: string): JobLine {
  try {
    const line: unknown = JSON.parse(text);
    return isLine(line) ? line : UNREADABLE;
  } catch {
    return UNREADABLE;
  }
}

/** True if what is stored of a job cannot be read. */
export function isUnreadable([, , , extra]: JobLine): boolean {
  return extra?.w === 1;
}

/** True for a line that was damaged, and not known to be so yet. */
export function isDamagedLine(line: JobLine): boolean {
  return line === UNREADABLE;
}

/** True for a line of a job. */
export function isLine(line: unknown): line is JobLine {
  return Array.isArray(line) && line.length > 2 && Number.isSafeInteger(line[0]) &&
    Number.isSafeInteger(line[1]) && (line[3] === undefined || isExtra(line[3]));
}

const TEXTS = ["t", "k", "d", "f", "n", "p", "e"];
const NUMBERS = ["x", "s", "g", "a", "v", "o", "r", "y", "b", "c", "i"];

function isExtra(extra: unknown): boolean {
  if (typeof extra !== "object" || extra === null || Array.isArray(extra)) return false;
  for (const [name, value] of Object.entries(extra)) {
    if (TEXTS.includes(name) && typeof value !== "string") return false;
    if (NUMBERS.includes(name) && !(typeof value === "number" && value < 1e16)) return false;
  }
  const { b = 1 } = extra as LineExtra; // it was just looked at
  return Number.isInteger(b) && b > 0 && b <= MOST_CHUNKS;
}

/** The same job with other figures. `undefined` in `extra` takes away. */
export function changeLine(
  [attempts, leases, payload, extra]: JobLine,
  by: { readonly attempts?: number; readonly leases?: number },
  change: { readonly [Name in keyof LineExtra]?: LineExtra[Name] | undefined } = {},
): JobLine {
  const next: Record<string, unknown> = { ...extra, ...change };
  for (const name in next) if (next[name] === undefined) delete next[name];
  const head = [attempts + (by.attempts ?? 0), leases + (by.leases ?? 0), payload] as const;
  for (const _ in next) return [...head, next];
  return head;
}

/** Bytes of lines. `undefined`: the job of that line has left. */
export function encodeLines(lines: readonly (string | undefined)[]): Bytes {
  return encode(lines.join("\n"));
}

/** The lines of a part; empty ones are jobs that have left. */
export function decodeLines(bytes: Uint8Array): string[] {
  return decode(bytes).split("\n");
}

/** One line of a part. Empty: the job has left, or there is none. */
export function lineAt(value: Uint8Array, line: number): string {
  const bytes = bytesOf(value);
  let start = 0;
  for (let before = 0; before < line; before++) {
    const end = bytes.indexOf(NEWLINE, start);
    if (end === -1) return "";
    start = end + 1;
  }
  const end = bytes.indexOf(NEWLINE, start);
  return decode(bytes.subarray(start, end === -1 ? bytes.length : end));
}

/** Cuts off the first lines, as many as have `count` jobs. */
export function takeLines(value: Bytes, count: number): Cut {
  const bytes = bytesOf(value);
  let lines = 0;
  let jobs = 0;
  for (let start = 0;;) {
    const end = bytes.indexOf(NEWLINE, start);
    lines++;
    if (end !== start && start < bytes.length) jobs++;
    if (end === -1) return { head: bytes, lines, rest: undefined, skipped: lines };
    start = end + 1;
    if (jobs < count) continue;
    let skipped = lines;
    for (; bytes[start] === NEWLINE; start++) skipped++;
    return { head: bytes.subarray(0, end), lines, rest: bytes.subarray(start), skipped };
  }
}

/** How many jobs a part has. */
export function countJobs(bytes: Bytes): number {
  let jobs = 0;
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(NEWLINE, start);
    if (end !== start) jobs++;
    if (end === -1) break;
    start = end + 1;
  }
  return jobs;
}

/** When the first of the jobs expires. 0: none does. */
export function earliestExpiry(lines: readonly JobLine[]): number {
  let earliest = Infinity;
  for (const [, , , extra] of lines) {
    if (extra?.x !== undefined && extra.x < earliest) earliest = extra.x;
  }
  return earliest === Infinity ? 0 : Math.ceil(earliest);
}
