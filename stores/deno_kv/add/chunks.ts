/**
 * Large payloads: KV takes 64 KiB a value, so they are stored apart, in several.
 *
 * @module
 */

import { type Bytes, changeLine, decode, encode, type LineExtra } from "../record/codec.ts";
import type { QueueContext } from "../context.ts";
import { tagIn, tagOf } from "../record/id.ts";
import { delayOf, type StoredJob } from "../record/job.ts";
import { numberAt, type PoolKeys, textAt } from "../record/keys.ts";
import type { Transaction } from "../transaction.ts";
import { AtomicOperation, type Expected, isAsItWas } from "../io/atomic_operation.ts";

/** Largest payload, bytes of its JSON. */
export const LARGEST_PAYLOAD = 1 << 20;

/** Largest payload that is part of its job's line, bytes. */
export const LARGEST_INLINE = 50_000;

const CHUNK = 60_000;

/** How many chunks a payload takes. */
export function chunksOf(bytes: number): number {
  return Math.ceil(bytes / CHUNK);
}

/** The chunks of a payload. */
export function chunksIn(payload: Bytes): readonly Bytes[] {
  const count = chunksOf(payload.length);
  return Array.from(
    { length: count },
    (_, chunk) => payload.subarray(chunk * CHUNK, (chunk + 1) * CHUNK),
  );
}

/**
 * Stores a payload in the name of a live member: once that is declared dead, chunks without a job are
 * found by it. Returns what the commit that stores the job must depend on. `undefined`: the member is dead.
 */
export async function writeChunks(
  { db, keys }: QueueContext,
  fence: Expected,
  segment: string,
  payload: string,
): Promise<Expected | undefined> {
  const chunks = chunksIn(encode(payload));
  const keyOf = (chunk: number): Deno.KvKey => keys.of("b", tagIn(segment), segment, 0, chunk);
  for (let from = 0; from < chunks.length;) {
    const transaction = new AtomicOperation(db);
    transaction.check(fence);
    let to = from;
    for (; to < chunks.length && !transaction.isFull; to++) {
      const bytes = chunks[to]!;
      transaction.set(keyOf(to), bytes, bytes.length);
    }
    if (await transaction.commit(false) !== undefined) from = to;
    else if (!await isAsItWas(db, fence)) return undefined;
  }
  const { key, versionstamp } = await db.get(keyOf(0));
  return versionstamp === null ? undefined : { key, versionstamp };
}

/**
 * Stores the payload of a job apart, with the commit that ends it: beside it and a large result there is no
 * room in one value. The job as it is written from then on.
 */
export function setApart(transaction: Transaction, keys: PoolKeys, job: StoredJob): StoredJob {
  const { ordinal, segment, index, dueMs } = job;
  const [attempts, leases, payload, extra = {}] = job.line;
  const chunks = chunksIn(encode(JSON.stringify(payload)));
  for (const [chunk, bytes] of chunks.entries()) {
    transaction.setBytes(keys.of("b", tagIn(segment), segment, index, chunk), bytes);
  }
  const apart = { b: chunks.length, o: delayOf(job) };
  const line = changeLine([attempts, leases, null, extra], {}, apart);
  return { ordinal, segment, index, dueMs, line, text: JSON.stringify(line) };
}

/** A payload as it was read. */
export interface ReadPayload {
  /** The payload. `undefined` where it cannot be read. */
  readonly value?: unknown;
  /** Why it cannot be read. `undefined`: it can. */
  readonly fault?: string;
}

/** A job whose payload is stored apart. */
export type ChunkedJob = Pick<StoredJob, "segment" | "index" | "line">;

/** Reads a payload that is stored apart. */
export async function readChunks(
  { db, keys }: QueueContext,
  job: ChunkedJob,
): Promise<ReadPayload> {
  const { segment, index, line: [, , , extra] } = job;
  const prefix = keys.of("b", tagIn(segment), segment, index);
  const chunks = await db.list<unknown>({ prefix });
  const parts: unknown[] = [];
  for (const { key, value } of chunks) if (typeof key[7] === "number") parts[key[7]] = value;
  return joinChunks(parts, extra ?? {});
}

/** Puts a payload together again. No part may be missing, cut, or another's: it would be a payload that nobody gave. */
export function joinChunks(
  parts: readonly unknown[],
  { b: count = 0, c: sum }: Pick<LineExtra, "b" | "c">,
): ReadPayload {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let part = 0; part < count; part++) { // what there is more of is none of it
    const chunk = parts[part];
    const isLast = part === count - 1;
    const fits = chunk instanceof Uint8Array &&
      (isLast ? chunk.length <= CHUNK : chunk.length === CHUNK);
    if (!fits) {
      const what = chunk === undefined ? "is missing" : "is not whole";
      return { fault: `Part ${part + 1} of the ${count} parts of its payload ${what}` };
    }
    chunks.push(chunk);
    size += chunk.length;
  }
  const bytes = new Uint8Array(size);
  for (let part = 0; part < count; part++) bytes.set(chunks[part]!, part * CHUNK);
  try {
    const isSame = sum === undefined || sum === checksum(bytes);
    if (isSame) return { value: JSON.parse(decode(bytes)) };
  } catch {
    // Then it is no JSON.
  }
  return { fault: "Its payload is not the one that was stored" };
}

/** FNV-1a, 32 bits: tells parts that were cut, swapped or doubled. */
export function checksum(bytes: Uint8Array): number {
  let sum = 0x811c9dc5;
  for (let at = 0; at < bytes.length; at++) sum = Math.imul(sum ^ bytes[at]!, 0x01000193);
  return sum >>> 0;
}

/**
 * Deletes payloads whose jobs were never stored: their member died in between, or the database failed.
 * One whose job is stored at this moment stays.
 */
export async function dropLostChunks(context: QueueContext, memberId: number): Promise<void> {
  const { db, keys } = context;
  const prefix = keys.of("b", tagOf(memberId));
  for (let start: Deno.KvKey = [...prefix, ""];;) {
    const [first] = await db.list({ prefix, start }, { limit: 1 });
    if (first === undefined) return;
    const [segment, index] = [textAt(first.key, 5), numberAt(first.key, 6)];
    const job = keys.of("b", tagOf(memberId), segment, index);
    start = [...job, Number.MAX_SAFE_INTEGER];
    // A job with such a payload has an entry in `m` all its life.
    const pointer = await db.get(keys.of("m", segment, index));
    if (pointer.versionstamp !== null) continue;
    const atomic = db.kv.atomic().check(pointer);
    for (const { key } of await db.list({ prefix: job })) atomic.delete(key);
    await db.commit({ atomic, signals: false });
  }
}

/** Deletes payloads of jobs that this member could not store, if there are any. */
export async function dropStrays(context: QueueContext): Promise<void> {
  const { mutex, member } = context;
  const { membership } = member;
  if (!membership.strays) return;
  await mutex.run(async () => { // no job is stored meanwhile
    membership.strays = false;
    try {
      await dropLostChunks(context, membership.memberId);
    } catch {
      membership.strays = true; // tried again; who comes after this member does it at last
    }
  });
}

/** Deletes a payload whose job was not stored after all. */
export async function dropChunks(
  { db, keys }: QueueContext,
  { segment, index, line }: StoredJob,
): Promise<void> {
  const atomic = db.kv.atomic();
  for (let chunk = 0; chunk < (line[3]?.b ?? 0); chunk++) {
    atomic.delete(keys.of("b", tagIn(segment), segment, index, chunk));
  }
  await db.commit({ atomic, signals: false });
}
