/**
 * Finds a job by its id, wherever it stands.
 *
 * @module
 */

import { type Bytes, decodeLines, parseLine } from "./codec.ts";
import type { QueueContext } from "./context.ts";
import { jobsDone } from "./done.ts";
import { type EndedJob, parseRow } from "./ended.ts";
import { createdIn, type IdParts, parseId } from "./id.ts";
import { idOf, type StoredJob } from "./job.ts";
import { type LeasePlace, numberAt, type Space, textAt } from "./keys.ts";

/** How far clocks of processes may be apart for an ended job to be found at once, ms. */
const SKEW_MS = 600_000;

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

/** Where a job is. */
export type Located = Waiting | Running | Found;

/** What `m` says: where a job is that left its first place. */
export type Moved = readonly [space: Space | "d" | "x", atMs: number, key: string];

/** Finds a job. `undefined`: it is not known. */
export async function locate(context: QueueContext, id: string): Promise<Located | undefined> {
  const parts = parseId(id);
  if (parts === undefined) return undefined;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const found = await findOpen(context, parts, id) ?? await findEnded(context, parts, id);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Finds a job that has not ended. */
export async function findOpen(
  context: QueueContext,
  parts: IdParts,
  id: string,
): Promise<Located | undefined> {
  const { db, keys } = context;
  const { segment, index, ordinal } = parts;
  const moved = (await db.get<Moved>(keys.of("m", segment, index))).value;
  const homeMs = createdIn(segment) + parts.delayMs;
  const [space, dueMs, key] = moved ?? ["r", homeMs, ""];
  if (space === "x") return await findDead(context, parts, dueMs, id);
  if (space === "q") {
    const found = await findWaiting(context, "q", keys.of("q", ordinal, key, dueMs, segment), id);
    if (found !== undefined) return found;
  }
  for (const kind of ["r", "z"] as const) {
    const found = await findWaiting(context, kind, keys.of(kind, ordinal, dueMs, segment), id);
    if (found !== undefined) return found;
  }
  return await findLeased(context, parts, id);
}

/** Workers that hold leases, dead ones included: one read each. */
export async function* leaseholders(
  { db, keys }: Pick<QueueContext, "db" | "keys">,
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
  { db, keys }: QueueContext,
  kind: Space,
  prefix: Deno.KvKey,
  id: string,
): Promise<Waiting | undefined> {
  for (const entry of await db.list<Bytes>({ prefix })) {
    const { ordinal, segment, first, dueMs } = keys.placeIn(entry.key);
    for (const [line, text] of decodeLines(entry.value).entries()) {
      if (text === "") continue;
      const index = first + line;
      const job = { ordinal, segment, index, dueMs, line: parseLine(text), text };
      if (idOf(job) === id) return { kind, entry, job };
    }
  }
}

async function findLeased(
  { db, keys }: QueueContext,
  { segment, index }: IdParts,
  id: string,
): Promise<Running | undefined> {
  for await (const worker of leaseholders({ db, keys })) {
    const prefix = keys.of("l", worker, segment);
    for (const entry of await db.list<Bytes>({ prefix })) {
      const place = keys.leaseIn(entry.key);
      const text = decodeLines(entry.value)[index - place.first];
      if (text === undefined || text === "") continue;
      const progress = await db.get<Uint8Array>(keys.progress(place));
      if (progress.value?.includes(index - place.first)) continue;
      const { ordinal, dueMs } = place;
      const job = { ordinal, segment, index, dueMs, line: parseLine(text), text };
      if (idOf(job) === id) return { kind: "l", entry, progress, place, job };
    }
  }
}

async function findDead(
  { db, keys }: QueueContext,
  { segment, index }: IdParts,
  atMs: number,
  id: string,
): Promise<Found | undefined> {
  const entry = await db.get<Bytes>(keys.of("x", atMs, segment, index));
  if (entry.value === null) return undefined;
  const ended = parseRow(decodeLines(entry.value)[0] ?? "");
  return ended.row[0] === id ? { kind: "x", entry, ended } : undefined;
}

/** Finds a done or cancelled job: those are in the order of their ends, and no job ends before it is added. */
async function findEnded(
  { db, keys }: QueueContext,
  { segment }: IdParts,
  id: string,
): Promise<Found | undefined> {
  const prefix = keys.of("d");
  const start = keys.of("d", createdIn(segment) - SKEW_MS);
  for await (const entry of db.entries<Bytes>({ prefix, start }, { batchSize: 100 })) {
    if (textAt(entry.key, 6) !== segment) continue;
    const ended = jobsDone(entry).find(({ row }) => row[0] === id);
    if (ended !== undefined) return { kind: "d", entry, ended };
  }
}
