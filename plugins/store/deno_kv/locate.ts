/**
 * Finds a job by its id, wherever it stands.
 *
 * @module
 */

import { type Bytes, decode, lineAt, parseLine } from "./codec.ts";
import { type DonePointer, jobsDone } from "./done.ts";
import { type EndedJob, parseRow } from "./ended.ts";
import { createdIn, type IdParts, parseId } from "./id.ts";
import { idOf, type StoredJob } from "./job.ts";
import { type LeasePlace, numberAt, type PoolKeys, type Space } from "./keys.ts";
import type { Readable } from "./reads.ts";

/** Pointers at done jobs of a segment that are read at once: the first is mostly the one. */
const POINTERS = 4;

/** A job that moves while it is looked for is looked for again. */
const MOST_TRIES = 3;

/** A job that waits. */
export interface Waiting {
  readonly kind: Space;
  /** The part that it stands in. */
  readonly entry: Deno.KvEntry<Bytes>;
  /** The job. */
  readonly job: StoredJob;
}

/** A job that runs. */
export interface Running {
  readonly kind: "l";
  /** The lease. */
  readonly entry: Deno.KvEntry<Bytes>;
  /** What has ended of it. */
  readonly progress: Deno.KvEntryMaybe<Uint8Array>;
  /** Where the lease is. */
  readonly place: LeasePlace;
  /** The job. */
  readonly job: StoredJob;
}

/** A job that has ended. */
export interface Found {
  readonly kind: "d" | "x";
  /** Where its record stands. */
  readonly entry: Deno.KvEntry<Bytes>;
  /** Its record. */
  readonly ended: EndedJob;
}

/** What it takes to look. */
export interface Look {
  /** The database. */
  readonly db: Readable;
  /** Keys of the pool. */
  readonly keys: PoolKeys;
}

/** Where a job is. */
export type Located = Waiting | Running | Found;

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
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const found = await findOnce(look, parts, id);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** State of a job that has not ended. */
export function stateOf(kind: Space | "l"): "ready" | "delayed" | "running" {
  return kind === "l" ? "running" : kind === "z" ? "delayed" : "ready";
}

/** Looks in each place that a job can have, in the order in which it gets there. */
async function findOnce(look: Look, parts: IdParts, id: string): Promise<Located | undefined> {
  const { db, keys } = look;
  const { segment, index, ordinal } = parts;
  const moved = (await db.get<Moved>(keys.of("m", segment, index))).value;
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

/** Workers that hold leases, dead ones included: one read each. */
export async function* leaseholders(
  { db, keys }: Look,
): AsyncGenerator<number> {
  for (let worker = -1;;) {
    const selector = { prefix: keys.of("l"), start: keys.of("l", worker + 1) };
    const [lease] = await db.list(selector, { limit: 1 });
    if (lease === undefined) return;
    worker = numberAt(lease.key, 4);
    yield worker;
  }
}

async function findWaiting(
  { db, keys }: Look,
  kind: Space,
  prefix: Deno.KvKey,
  { index }: IdParts,
  id: string,
): Promise<Waiting | undefined> {
  for (const entry of await db.list<Bytes>({ prefix })) {
    const { ordinal, segment, first, dueMs } = keys.placeIn(entry.key);
    const text = index < first ? "" : lineAt(entry.value, index - first);
    if (text === "") continue;
    const job = { ordinal, segment, index, dueMs, line: parseLine(text), text };
    if (idOf(job) === id) return { kind, entry, job };
  }
}

async function findLeased(
  { db, keys }: Look,
  { segment, index }: IdParts,
  id: string,
): Promise<Running | undefined> {
  for await (const worker of leaseholders({ db, keys })) {
    const prefix = keys.of("l", worker, segment);
    for (const entry of await db.list<Bytes>({ prefix })) {
      const place = keys.leaseIn(entry.key);
      const text = index < place.first ? "" : lineAt(entry.value, index - place.first);
      if (text === "") continue;
      const progress = await db.get<Uint8Array>(keys.progress(place));
      if (progress.value?.includes(index - place.first)) continue;
      const { ordinal, dueMs } = place;
      const job = { ordinal, segment, index, dueMs, line: parseLine(text), text };
      if (idOf(job) === id) return { kind: "l", entry, progress, place, job };
    }
  }
}

async function findDead(
  { db, keys }: Look,
  { segment, index }: IdParts,
  atMs: number,
  id: string,
): Promise<Found | undefined> {
  const entry = await db.get<Bytes>(keys.of("x", atMs, segment, index));
  if (entry.value === null) return undefined;
  const ended = parseRow(decode(entry.value));
  return ended.row[0] === id ? { kind: "x", entry, ended } : undefined;
}

/**
 * Finds a done or cancelled job that is not the first of its entry. Jobs of one part may have ended at
 * several times: it is mostly in the entry that begins last before it.
 */
async function findAmongDone(
  look: Look,
  { segment, index }: IdParts,
  id: string,
): Promise<Found | undefined> {
  const { db, keys } = look;
  const range = { start: keys.of("m", segment, 0), end: keys.of("m", segment, index) };
  const read = { batchSize: POINTERS, reverse: true };
  for await (const { key, value } of db.entries<Moved>(range, read)) {
    const [space, atMs, name, last = 0] = value;
    if (space !== "d" || last < index) continue;
    const prefix = keys.of("d", atMs, name, segment, numberAt(key, 5));
    const found = await findDone(look, prefix, id);
    if (found !== undefined) return found;
  }
}

async function findDone(
  { db }: Look,
  prefix: Deno.KvKey,
  id: string,
): Promise<Found | undefined> {
  const [entry] = await db.list<Bytes>({ prefix }, { limit: 1 });
  const ended = entry && jobsDone(entry).find(({ row }) => row[0] === id);
  return entry && ended && { kind: "d", entry, ended };
}
