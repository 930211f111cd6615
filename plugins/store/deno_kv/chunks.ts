/**
 * Large payloads: KV takes 64 KiB a value, so they are stored apart, in several.
 *
 * @module
 */

import { type Bytes, decode, encode } from "./codec.ts";
import type { QueueContext } from "./context.ts";
import { tagIn } from "./id.ts";
import type { StoredJob } from "./job.ts";
import type { Expected } from "./step.ts";

/** Largest payload, bytes of its JSON. */
export const LARGEST_PAYLOAD = 1 << 20;

/** Largest payload that stands in its job's line, bytes. */
export const LARGEST_INLINE = 50_000;

const CHUNK = 60_000;

/** Chunks a commit: KV takes 819,200 bytes. */
const CHUNKS_A_COMMIT = 8;

/** How many chunks a payload takes. */
export function chunksOf(bytes: number): number {
  return Math.ceil(bytes / CHUNK);
}

/** Stores a payload. What the commit that stores its job must depend on. */
export async function writeChunks(
  { db, keys }: QueueContext,
  segment: string,
  payload: string,
): Promise<Expected> {
  const bytes = encode(payload);
  const keyOf = (chunk: number): Deno.KvKey => keys.of("b", tagIn(segment), segment, 0, chunk);
  const count = chunksOf(bytes.length);
  for (let from = 0; from < count; from += CHUNKS_A_COMMIT) {
    const atomic = db.kv.atomic();
    for (let chunk = from; chunk < Math.min(count, from + CHUNKS_A_COMMIT); chunk++) {
      atomic.set(keyOf(chunk), bytes.subarray(chunk * CHUNK, (chunk + 1) * CHUNK));
    }
    await db.commit({ atomic, signals: false });
  }
  const { key, versionstamp } = await db.get(keyOf(0));
  return { key, versionstamp };
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
