/**
 * Finds a job by its id, wherever it is, and says what is known of it.
 *
 * @module
 */

import type { JobRecord } from "../../../src/contract/job.ts";
import { readChunks } from "../add/chunks.ts";
import type { QueueContext } from "../context.ts";
import { type Bytes, isUnreadable, lineAt, parseLine } from "../record/codec.ts";
import { type DonePointer, jobsDone } from "../end/done.ts";
import { type EndedJob, readDead, recordIn } from "../end/ended.ts";
import { createdIn, type IdParts, parseId } from "../record/id.ts";
import { idOf, recordOf, type StoredJob } from "../record/job.ts";
import { type LeasePlace, numberAt, type PoolKeys, type Space } from "../record/keys.ts";
import { endedLines } from "../end/part_ends.ts";
import type { Readable } from "./reads.ts";

/** Pointers at done jobs of a segment that are read at once: the first is mostly the one. */
const POINTERS = 4;

/** A job that is nowhere may have moved while it was looked for: it is looked for so often. */
const LOOKS = 3;

const STATES = { r: "ready", z: "delayed", q: "blocked", l: "running" } as const;

/** A job that waits. */
export interface WaitingAt {
  readonly kind: Space;
  /** The part that it is in. */
  readonly entry: Deno.KvEntry<Bytes>;
  /** The job. */
  readonly job: StoredJob;
}

/** A job that runs. */
export interface RunningAt {
  readonly kind: "l";
  /** The lease. */
  readonly entry: Deno.KvEntry<Bytes>;
  /** What has ended of it. */
  readonly progress: Deno.KvEntryMaybe<unknown>;
  /** Where the lease is. */
  readonly place: LeasePlace;
  /** The job. */
  readonly job: StoredJob;
}

/** A job that has ended. */
export interface EndedAt {
  readonly kind: "d" | "x";
  /** Where its record is. */
  readonly entry: Deno.KvEntry<Bytes>;
  /** Its record. */
  readonly ended: EndedJob;
}

/** True for the job with an id. Of one that cannot be read, its place tells. */
function isSame(
  { id: { segment, index }, row: [name, , , , , , line] }: EndedJob,
  id: string,
): boolean {
  return name === id ||
    (isUnreadable(line) && id.startsWith(`${segment}-`) && parseId(id)?.index === index);
}

/** What it takes to look. */
export interface Look {
  /** The database. */
  readonly db: Readable;
  /** Keys of the pool. */
  readonly keys: PoolKeys;
}

/** Where a job is. */
export type Located = WaitingAt | RunningAt | EndedAt;

/**
 * What `m` says: where a job is that left its first place. Of a done one, the name of the entry that
 * begins with it, and the index of the last job in that.
 */
export type Moved =
  | readonly [space: Space | "x", atMs: number, key: string, last?: undefined]
  | DonePointer;

/** Finds a job. `undefined`: it is not known. */
export async function locate(look: Look, id: string): Promise<Located | undefined> {
  const parts = parseId(id);
  if (parts === undefined) return undefined;
  for (let looks = 0; looks < LOOKS; looks++) {
    const found = await findOnce(look, parts, id);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** State of a job that has not ended. */
export function stateOf(kind: Space | "l"): "ready" | "delayed" | "blocked" | "running" {
  return STATES[kind];
}

/** Looks in each place that a job can have, in the order in which it gets there. */
async function findOnce(look: Look, parts: IdParts, id: string): Promise<Located | undefined> {
  const { db, keys } = look;
  const { segment, index, ordinal } = parts;
  const pointer = await db.get<unknown>(keys.of("m", segment, index));
  const moved = movedIn(pointer.value);
  if (moved === undefined && pointer.versionstamp !== null) return await search(look, parts, id);
  const homeMs = createdIn(segment) + parts.delayMs;
  const [space, dueMs, key] = moved ?? ["r", homeMs, ""];
  if (space === "x") return await findDead(look, parts, dueMs, id);
  if (space === "d") return await findDone(look, keys.of("d", dueMs, key, segment, index), id);
  if (space === "q") {
    const prefix = keys.of("q", ordinal, key, dueMs, segment);
    const found = await findWaiting(look, "q", prefix, parts, id);
    if (found !== undefined) return found;
  }
  for (const kind of ["r", "z"] as const) {
    const prefix = keys.of(kind, ordinal, dueMs, segment);
    const found = await findWaiting(look, kind, prefix, parts, id);
    if (found !== undefined) return found;
  }
  return await findLeased(look, parts, id) ?? await findAmongDone(look, parts, id);
}

/** Members that hold leases, dead ones included: one read each. */
export async function* leaseholders(
  { db, keys }: Look,
): AsyncGenerator<number> {
  for (let memberId = -1;;) {
    const selector = { prefix: keys.of("l"), start: keys.of("l", memberId + 1) };
    const [lease] = await db.list(selector, { limit: 1 });
    if (lease === undefined) return;
    memberId = numberAt(lease.key, 4);
    yield memberId;
  }
}

async function findWaiting(
  { db, keys }: Look,
  kind: Space,
  prefix: Deno.KvKey,
  { index }: IdParts,
  id: string,
): Promise<WaitingAt | undefined> {
  for (const entry of await db.list<Bytes>({ prefix })) {
    const { ordinal, segment, first, dueMs } = keys.placeIn(entry.key);
    const text = index < first ? "" : lineAt(entry.value, index - first);
    if (text === "") continue;
    const job = { ordinal, segment, index, dueMs, line: parseLine(text), text };
    if (idOf(job) === id || isUnreadable(job.line)) return { kind, entry, job };
  }
}

async function findLeased(
  { db, keys }: Look,
  { segment, index }: IdParts,
  id: string,
): Promise<RunningAt | undefined> {
  for await (const memberId of leaseholders({ db, keys })) {
    const prefix = keys.of("l", memberId, segment);
    for (const entry of await db.list<Bytes>({ prefix })) {
      const place = keys.leaseIn(entry.key);
      const text = index < place.first ? "" : lineAt(entry.value, index - place.first);
      if (text === "") continue;
      const progress = await db.get<unknown>(keys.progress(place));
      if (endedLines(progress.value).has(index - place.first)) continue;
      const { ordinal, dueMs } = place;
      const job = { ordinal, segment, index, dueMs, line: parseLine(text), text };
      const isIt = idOf(job) === id || isUnreadable(job.line);
      if (isIt) return { kind: "l", entry, progress, place, job };
    }
  }
}

async function findDead(
  { db, keys }: Look,
  { segment, index }: IdParts,
  atMs: number,
  id: string,
): Promise<EndedAt | undefined> {
  const entry = await db.get<Bytes>(keys.of("x", atMs, segment, index));
  if (entry.versionstamp === null) return undefined;
  const ended = readDead(entry);
  return isSame(ended, id) ? { kind: "x", entry, ended } : undefined;
}

/**
 * Finds a done or cancelled job that is not the first of its entry. Jobs of one part may have ended at
 * several times: it is mostly in the entry that begins last before it.
 */
async function findAmongDone(
  look: Look,
  { segment, index }: IdParts,
  id: string,
): Promise<EndedAt | undefined> {
  const { db, keys } = look;
  const range = { start: keys.of("m", segment, 0), end: keys.of("m", segment, index) };
  const read = { batchSize: POINTERS, reverse: true };
  for await (const { key, value } of db.entries<unknown>(range, read)) {
    const [space, atMs, name, last = 0] = movedIn(value) ?? [];
    if (space !== "d" || last < index) continue;
    const prefix = keys.of("d", atMs, name, segment, numberAt(key, 5));
    const found = await findDone(look, prefix, id);
    if (found !== undefined) return found;
  }
}

const MOVED_TO: readonly unknown[] = ["r", "z", "q", "x", "d"];

/** What a pointer says. `undefined`: it cannot be read. */
export function movedIn(value: unknown): Moved | undefined {
  if (!Array.isArray(value)) return undefined;
  const [space, atMs, name, last] = value;
  const isMoved = MOVED_TO.includes(space) && typeof atMs === "number" &&
    typeof name === "string" && (last === undefined || typeof last === "number");
  return isMoved ? [space, atMs, name, last] as unknown as Moved : undefined; // it was just looked at
}

/** Looks everywhere for a job whose pointer was damaged. */
async function search(look: Look, parts: IdParts, id: string): Promise<Located | undefined> {
  const { db, keys } = look;
  const { segment, index, ordinal } = parts;
  for (const space of ["r", "z", "q"] as const) {
    for await (const { key } of db.entries<Bytes>({ prefix: keys.of(space, ordinal) })) {
      if (keys.placeIn(key).segment !== segment) continue;
      const prefix = key.slice(0, key.indexOf(segment, 4) + 1);
      const found = await findWaiting(look, space, prefix, parts, id);
      if (found !== undefined) return found;
    }
  }
  for await (const { key } of db.entries<Bytes>({ prefix: keys.of("x") })) {
    const isIt = key[5] === segment && key[6] === index;
    if (isIt) return await findDead(look, parts, numberAt(key, 4), id);
  }
  const found = await findLeased(look, parts, id);
  if (found !== undefined) return found;
  for await (const { key } of db.entries<Bytes>({ prefix: keys.of("d") })) {
    const ended = key[6] === segment ? await findDone(look, key, id) : undefined;
    if (ended !== undefined) return ended;
  }
}

async function findDone(
  { db }: Look,
  where: Deno.KvKey,
  id: string,
): Promise<EndedAt | undefined> {
  const range = { start: where, end: [...where, true] }; // the key itself, or what begins with it
  const [entry] = await db.list<Bytes>(range, { limit: 1 });
  const ended = entry && jobsDone(entry).find((job) => isSame(job, id));
  return entry && ended && { kind: "d", entry, ended };
}

/** Looks a job up. `undefined`: it is not known. */
export async function findRecord(
  context: QueueContext,
  id: string,
): Promise<JobRecord | undefined> {
  const found = await locate(context, id);
  if (found === undefined) return undefined;
  const { pool, lanes, db, keys } = context;
  const job = "ended" in found ? { ...found.ended.id, line: found.ended.row[6] } : found.job;
  if (lanes.nameOf(job.ordinal) === "") await lanes.refresh(db, keys);
  const lane = lanes.nameOf(job.ordinal);
  const isApart = job.line[3]?.b !== undefined;
  const payload = isApart ? (await readChunks(context, job)).value : undefined;
  if ("ended" in found) return recordIn(found.ended, pool, lane, payload);
  const startedAtMs = found.kind === "l" ? found.place.startedAtMs : undefined;
  return recordOf(found.job, { pool, lane, payload, state: stateOf(found.kind), startedAtMs });
}
