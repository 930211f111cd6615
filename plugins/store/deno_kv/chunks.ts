/**
 * Large payloads: KV takes 64 KiB a value, so they are stored apart, in several.
 *
 * @module
 */

import { type Bytes, decode, encode } from "./codec.ts";
import type { QueueContext } from "./context.ts";
import { tagIn, tagOf } from "./id.ts";
import type { StoredJob } from "./job.ts";
import { numberAt, textAt } from "./keys.ts";
import { type Expected, Transaction } from "./transaction.ts";

/** Largest payload, bytes of its JSON. */
export const LARGEST_PAYLOAD = 1 << 20;

/** Largest payload that stands in its job's line, bytes. */
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
 * Stores a payload, in the name of a worker that lives: whoever declares it dead later finds what has no
 * job. What the commit that stores its job must depend on. `undefined`: the worker is dead.
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
    const transaction = new Transaction(db);
    transaction.check(fence);
    let to = from;
    for (; to < chunks.length && !transaction.isFull; to++) {
      const bytes = chunks[to]!;
      transaction.set(keyOf(to), bytes, bytes.length);
    }
    if (await transaction.commit(false) !== undefined) from = to;
    else if ((await db.get(fence.key)).versionstamp !== fence.versionstamp) return undefined;
  }
  const { key, versionstamp } = await db.get(keyOf(0));
  return versionstamp === null ? undefined : { key, versionstamp };
}

/** Reads a payload that is stored apart. `undefined`: it is not there. */
export async function readChunks(
  { db, keys }: QueueContext,
  segment: string,
  index: number,
): Promise<unknown> {
  const chunks = await db.list<Bytes>({ prefix: keys.of("b", tagIn(segment), segment, index) });
  if (chunks.length === 0) return undefined;
  const bytes = new Uint8Array(chunks.reduce((size, { value }) => size + value.length, 0));
  let at = 0;
  for (const { value } of chunks) {
    bytes.set(value, at);
    at += value.length;
  }
  return JSON.parse(decode(bytes));
}

/**
 * Deletes payloads whose jobs were never stored: their worker died in between, or the database failed.
 * One whose job is stored at this moment stays.
 */
export async function dropLostChunks(context: QueueContext, worker: number): Promise<void> {
  const { db, keys } = context;
  const prefix = keys.of("b", tagOf(worker));
  for (let start: Deno.KvKey = [...prefix, ""];;) {
    const [first] = await db.list({ prefix, start }, { limit: 1 });
    if (first === undefined) return;
    const [segment, index] = [textAt(first.key, 5), numberAt(first.key, 6)];
    const job = keys.of("b", tagOf(worker), segment, index);
    start = [...job, Number.MAX_SAFE_INTEGER];
    // A job with such a payload has an entry in `m` all its life.
    const pointer = await db.get(keys.of("m", segment, index));
    if (pointer.versionstamp !== null) continue;
    const atomic = db.kv.atomic().check(pointer);
    for (const { key } of await db.list({ prefix: job })) atomic.delete(key);
    await db.commit({ atomic, signals: false });
  }
}

/** Deletes payloads of jobs that this holder could not store, if there are any. */
export async function dropStrays(context: QueueContext): Promise<void> {
  const { gate, holder } = context;
  const { term } = holder;
  if (!term.strays) return;
  await gate.run(async () => { // no job is stored meanwhile
    term.strays = false;
    try {
      await dropLostChunks(context, term.worker);
    } catch {
      term.strays = true; // tried again; who comes after this worker does it at last
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
