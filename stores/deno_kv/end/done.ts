/**
 * Done and cancelled jobs that are kept: the very lines of the lease, behind one that tells what is
 * special about them.
 *
 * @module
 */

import {
  byteLength,
  type Bytes,
  bytesOf,
  decodeLines,
  encode,
  parseLine,
} from "../record/codec.ts";
import { type End, type EndedJob, errorOf, type Row } from "./ended.ts";
import { formatId } from "../record/id.ts";
import { delayOf, type StoredJob } from "../record/job.ts";
import { numberAt, textAt } from "../record/keys.ts";

/** Jobs of one part that end together. */
export interface DoneGroup {
  /** When they were leased. `undefined`: they were not. */
  readonly startedAtMs: number | undefined;
  /** The jobs, in the order of their indexes. */
  readonly jobs: readonly StoredJob[];
  /** How each ended. `undefined`: done, charged, without a result. */
  readonly ends: readonly (End | undefined)[];
  /** Their lines, if they are all of a part. */
  readonly bytes: Bytes | undefined;
}

/** What is special about a line: its number, then what its record says. */
type Special = readonly [
  line: number,
  state: End["state"],
  attempt: number,
  error: string | null,
  result?: unknown,
  resultError?: string,
];

/** An entry to be written. */
export interface DoneEntry {
  /** The end of its key, after the time and a name. */
  readonly key: DoneTail;
  /** Index of the last job in it. */
  readonly last: number;
  /** Its value. */
  readonly bytes: Bytes;
}

/** The end of the key of an entry. */
type DoneTail = readonly [segment: string, first: number, ...rest: Deno.KvKeyPart[]];

/**
 * What `m` says at the first job of an entry: where the entry is, so that a job in it is found without
 * a scan of all that has ended.
 */
export type DonePointer = readonly [space: "d", atMs: number, name: string, last: number];

/** Most characters of a value with several lines: no more than 60,000 bytes. */
const MOST_CHARACTERS = 20_000;

/** An entry and the first job of the next one are more than a whole one: fewer bytes begin no second one. */
const HALF_ENTRY = MOST_CHARACTERS / 2;

/** Most bytes of a job and of what is special about its end: KV allows 65,536 a value. */
export const LARGEST_RECORD = 65_000;

/** What is special about the end of a job takes so much besides texts. */
const SPECIAL_BYTES = 64;

/** Each line takes so much more. */
const LINE_BYTES = 2;

const NEWLINE = 10;
const NEVER = -1;

/** Bytes of a job and of what is special about its end, no fewer than there are. */
export function recordSize(job: StoredJob, end: End | undefined, isAscii = false): number {
  const bytes = isAscii ? job.text.length : byteLength(job.text);
  if (end === undefined) return bytes + LINE_BYTES;
  const error = errorOf(job, end);
  const errorBytes = error === undefined ? 0 : byteLength(JSON.stringify(error));
  return bytes + LINE_BYTES + SPECIAL_BYTES + errorBytes + byteLength(end.resultText ?? "") +
    byteLength(JSON.stringify(end.resultError ?? ""));
}

/** How many more entries jobs of a part take at most, of which `before` bytes are written, by `bytes` more. */
export function moreEntries(before: number, bytes: number): number {
  return Math.ceil((before + bytes) / HALF_ENTRY) - Math.ceil(before / HALF_ENTRY);
}

/** The entries that keep a group of jobs. */
export function entriesOf({ jobs, ends, bytes, startedAtMs }: DoneGroup): readonly DoneEntry[] {
  if (bytes !== undefined && ends.every((end) => end === undefined)) {
    const value = new Uint8Array(bytes.length + 1);
    value[0] = NEWLINE;
    value.set(bytes, 1);
    return [{ key: keyOf(jobs, startedAtMs), last: jobs.at(-1)!.index, bytes: value }];
  }
  const entries: DoneEntry[] = [];
  for (let from = 0; from < jobs.length;) {
    const { first, specials, lines, to } = gather(jobs, ends, from);
    const head = specials.length === 0 ? "" : `[${specials.join(",")}]`;
    const key = keyOf(jobs.slice(from, to), startedAtMs, first);
    const last = first + lines.length - 1;
    entries.push({ key, last, bytes: encode(`${head}\n${lines.join("\n")}`) });
    from = to;
  }
  return entries;
}

/** The jobs of an entry. */
export function jobsDone({ key, value }: Deno.KvEntry<Bytes>): readonly EndedJob[] {
  const endedAtMs = numberAt(key, 4);
  const segment = textAt(key, 6);
  const first = numberAt(key, 7);
  const ordinal = numberAt(key, 8);
  const dueMs = numberAt(key, 9);
  const startedAtMs = numberAt(key, 10);
  const [head = "", ...lines] = decodeLines(value);
  const specials = new Map<number, Special>();
  for (const special of readSpecials(head)) specials.set(special[0], special);
  return lines.flatMap((text, place): EndedJob[] => {
    if (text === "") return [];
    const line = parseLine(text);
    const index = first + place;
    const delayMs = delayOf({ ordinal, segment, index, dueMs, line, text });
    const id = { segment, ordinal, index, delayMs };
    const special: Special = specials.get(place) ??
      [place, "done", line[0] + 1, line[3]?.e ?? null];
    const [, state, attempt, error, result, resultError] = special;
    const started = startedAtMs === NEVER ? null : startedAtMs;
    const row: Row = [
      formatId(id),
      state,
      endedAtMs,
      started,
      attempt,
      dueMs,
      line,
      null,
      error,
      resultError === undefined ? result : undefined,
      resultError,
    ];
    return [{ id, row }];
  });
}

/** What is special about the lines of an entry. Empty where that cannot be read: they are done jobs then. */
function readSpecials(head: string): readonly Special[] {
  try {
    const specials: unknown = head === "" ? [] : JSON.parse(head);
    return Array.isArray(specials) ? specials.filter(isSpecial) : [];
  } catch {
    return [];
  }
}

function isSpecial(special: unknown): special is Special {
  return Array.isArray(special) && typeof special[0] === "number" &&
    (special[1] === "done" || special[1] === "cancelled") && typeof special[2] === "number" &&
    typeof (special[3] ?? "") === "string";
}

/** Where an entry is to be pointed at from, and how. */
export function pointerAt(
  { key, value }: Deno.KvEntry<Bytes>,
): { readonly segment: string; readonly first: number; readonly pointer: DonePointer } {
  const first = numberAt(key, 7);
  const last = first + decodeLines(value).length - 2; // the first line is none of a job
  return { segment: textAt(key, 6), first, pointer: ["d", numberAt(key, 4), textAt(key, 5), last] };
}

/** True if payloads of its jobs are stored apart. */
export function hasChunks(key: Deno.KvKey): boolean {
  return key[11] === 1;
}

/** How many jobs an entry keeps. */
export function countDone(value: Uint8Array): number {
  const bytes = bytesOf(value);
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) {
    if (at + 1 < bytes.length && bytes[at + 1] !== NEWLINE) count++;
  }
  return count;
}

/** An entry without some of its jobs. `undefined`: none is left. */
export function withoutJobs(
  entry: Deno.KvEntry<Bytes>,
  drops: (job: EndedJob, place: number) => boolean,
): Bytes | undefined {
  const [head = "", ...lines] = decodeLines(entry.value);
  const first = numberAt(entry.key, 7);
  let left = 0;
  for (const [place, job] of jobsDone(entry).entries()) {
    if (drops(job, place)) lines[job.id.index - first] = "";
    else left++;
  }
  while (lines.at(-1) === "") lines.pop();
  return left === 0 ? undefined : encode([head, ...lines].join("\n"));
}

interface Gathered {
  readonly first: number;
  readonly specials: readonly string[];
  readonly lines: readonly string[];
  readonly to: number;
}

/** As many jobs as one value takes. */
function gather(
  jobs: readonly StoredJob[],
  ends: readonly (End | undefined)[],
  from: number,
): Gathered {
  const first = jobs[from]!.index;
  const specials: string[] = [];
  const lines: string[] = [];
  let size = 0;
  let to = from;
  for (; to < jobs.length; to++) {
    const job = jobs[to]!;
    const end = ends[to];
    const place = job.index - first;
    const special = end === undefined ? "" : specialOf(place, job, end);
    const more = job.text.length + special.length;
    if (to > from && size + more > MOST_CHARACTERS) break;
    size += more + 2;
    if (special !== "") specials.push(special);
    while (lines.length < place) lines.push("");
    lines.push(job.text);
  }
  return { first, specials, lines, to };
}

function specialOf(place: number, job: StoredJob, end: End): string {
  const { state, attempt, resultText, resultError } = end;
  const error = errorOf(job, end);
  const parts = [place, `"${state}"`, attempt, JSON.stringify(error ?? null)];
  if (resultText !== undefined) parts.push(resultText);
  if (resultError !== undefined) parts.push("null", JSON.stringify(resultError));
  return `[${parts.join(",")}]`;
}

function keyOf(
  jobs: readonly StoredJob[],
  startedAtMs: number | undefined,
  first?: number,
): DoneTail {
  const { segment, ordinal, dueMs, index } = jobs[0]!;
  const chunks = jobs.some(({ line }) => line[3]?.b !== undefined) ? 1 : 0;
  return [segment, first ?? index, ordinal, dueMs, startedAtMs ?? NEVER, chunks];
}
