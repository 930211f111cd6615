/**
 * What time brings: delayed jobs that are due become ready, ready ones expire. A claim or a count does
 * it when it matters: no process has to be there at the time.
 *
 * @module
 */

import { type Bytes, bytesOf, decodeLines, parseLine, takeLines } from "../record/codec.ts";
import type { QueueContext } from "../context.ts";
import { expired } from "../end/ended.ts";
import type { StoredJob } from "../record/job.ts";
import type { PartPlace } from "../record/keys.ts";
import type { KvLane } from "../record/lanes.ts";
import { Transaction } from "../transaction.ts";

/** Parts moved by one commit, at most. */
const MOST_PARTS = 90;

/** Most parts whose expired jobs end with one commit: other commits wait no longer than for those. */
const HEADS = 2;

/** Commits of one call, at most: the rest is moved by the next one. */
const MOST_COMMITS = 20;

/** Moves the due jobs of a lane to where they are claimable. */
export function promote(context: QueueContext, lane: KvLane, nowMs: number): Promise<void> {
  const isLimited = lane.maxRunningPerKey < Infinity;
  const move = (): Promise<void> => moveDue(context, lane, nowMs);
  return isLimited ? context.mutex.run(move) : move();
}

/**
 * Ends the expired jobs at the head of a lane, as many as one commit takes, so that it is not as old as
 * they are. False: there are none, or someone else has changed them.
 */
export async function expireHead(
  context: QueueContext,
  ordinal: number,
  nowMs: number,
): Promise<boolean> {
  const { db, keys } = context;
  const transaction = new Transaction(context, nowMs);
  const read = { limit: HEADS, batchSize: HEADS };
  for (const entry of await db.list<Bytes>({ prefix: keys.of("r", ordinal) }, read)) {
    if (transaction.isFull || transaction.checksLeft < 3 || !hasExpired(context, entry, nowMs)) {
      break;
    }
    if (await expireIn(context, transaction, entry) > 0) break;
  }
  return transaction.checks > 0 && await transaction.commit();
}

/** True if a part has jobs that have expired. */
export function hasExpired(
  { keys }: QueueContext,
  { key }: Pick<Deno.KvEntry<Bytes>, "key">,
  nowMs: number,
): boolean {
  const { expiresAtMs } = keys.placeIn(key);
  return expiresAtMs !== 0 && expiresAtMs <= nowMs;
}

/** Ends the jobs of a part that have expired, as many as fit. How many jobs stay. */
export async function expireIn(
  context: QueueContext,
  transaction: Transaction,
  entry: Deno.KvEntry<Bytes>,
): Promise<number> {
  const { place, jobs } = takeOut(transaction, context, entry);
  const staying: StoredJob[] = [];
  for (const [index, job] of jobs.entries()) {
    const extra = job.line[3];
    const isMuch = index > 0 && (transaction.isFull || transaction.checksLeft < 3); // the others end next time
    if (isMuch || (extra?.x ?? Infinity) > transaction.nowMs) {
      staying.push(job);
      continue;
    }
    await transaction.slots.release(job);
    transaction.end(job, expired(job));
  }
  transaction.putPart("r", staying);
  transaction.count(place.ordinal, "r", staying.length - jobs.length);
  return staying.length;
}

/** Deletes a part with the commit, unless it has changed. What it is, for its jobs to go elsewhere. */
function takeOut(
  transaction: Transaction,
  { keys }: QueueContext,
  entry: Deno.KvEntry<Bytes>,
): { readonly place: PartPlace; readonly jobs: readonly StoredJob[] } {
  const place = keys.placeIn(entry.key);
  transaction.check(entry);
  transaction.delete(entry.key);
  return { place, jobs: jobsIn(place, entry.value) };
}

/** The jobs of a part. */
export function jobsIn(place: Omit<PartPlace, "expiresAtMs">, bytes: Uint8Array): StoredJob[] {
  const { ordinal, segment, first, dueMs } = place;
  return decodeLines(bytes).flatMap((text, line) =>
    text === ""
      ? []
      : [{ ordinal, segment, index: first + line, dueMs, line: parseLine(text), text }]
  );
}

async function moveDue(context: QueueContext, lane: KvLane, nowMs: number): Promise<void> {
  const { db, keys, counts } = context;
  const prefix = keys.of("z", lane.ordinal);
  const end = keys.of("z", lane.ordinal, Math.floor(nowMs) + 1);
  const limit = Math.max(1, Math.min(MOST_PARTS, Math.floor(db.maxChecks / 2)));
  const some = async (): Promise<"all" | "some" | undefined> => {
    const due = await db.list<Bytes>({ prefix, end }, { limit });
    if (due.length === 0) return "all";
    const transaction = new Transaction(context, nowMs);
    for (const entry of due) {
      if (transaction.isFull || transaction.checksLeft < 3) break;
      await movePart(transaction, context, lane, entry);
    }
    return await transaction.commit() ? "some" : undefined;
  };
  for (let commits = 0; commits < MOST_COMMITS && await db.retry(some) === "some"; commits++);
  const live = counts.of(lane.ordinal);
  if (live === undefined) return;
  const before = live.nextDueAtMs;
  live.nextDueAtMs = Infinity; // what own commits put down from now on is noted besides
  try {
    const [next] = await db.list({ prefix }, { limit: 1 });
    if (next !== undefined) live.sees("z", keys.placeIn(next.key).dueMs);
  } catch (thrown) {
    live.sees("z", before); // not known: to be looked at again
    throw thrown;
  }
}

async function movePart(
  transaction: Transaction,
  context: QueueContext,
  lane: KvLane,
  entry: Deno.KvEntry<Bytes>,
): Promise<void> {
  const { keys } = context;
  const { place, jobs } = takeOut(transaction, context, entry);
  const isLimited = lane.maxRunningPerKey < Infinity && jobs.some(({ line }) => line[3]?.k);
  if (!isLimited) {
    // What is put down becomes claimable when it was due, and has left its first place only if it had.
    transaction.setBytes(keys.part("r", place), bytesOf(entry.value));
    transaction.count(place.ordinal, "z", -jobs.length);
    transaction.count(place.ordinal, "r", jobs.length, place.dueMs);
    return;
  }
  let moved = 0;
  for (const job of jobs) {
    if (moved > 0 && (transaction.isFull || transaction.checksLeft < 3)) break;
    await transaction.slots.enter(job, job.dueMs);
    moved++;
  }
  transaction.count(place.ordinal, "z", -moved);
  const { rest, skipped } = takeLines(entry.value, moved);
  if (rest !== undefined) {
    transaction.setBytes(keys.part("z", { ...place, first: place.first + skipped }), rest);
  }
}
