/**
 * Drops ended jobs that have been kept long enough, oldest first.
 *
 * @module
 */

import { type Bytes, bytesOf } from "../record/codec.ts";
import type { QueueContext } from "../context.ts";
import { countIn } from "../read/counts.ts";
import { countDone, hasChunks, jobsDone, withoutJobs } from "./done.ts";
import { readDead } from "./ended.ts";
import { numberAt } from "../record/keys.ts";
import { Transaction } from "../transaction.ts";

/** Entries looked at by one commit, at most. */
const PAGE = 60;

/** Entries read at once. */
const BATCH = 12;

/** Most bytes of entries that are looked at by one commit. */
const MOST_BYTES = 200_000;

/** Commits of one call, at most: the rest is dropped by the next one. */
const MOST_COMMITS = 10;

/** How long a process leaves the work to others after it saw them drop the same, ms. */
const OTHERS_MS = 1000;

/** Drops done and dead jobs that are more, or older, than are kept. Reads nothing if there are none. */
export async function trim(context: QueueContext, nowMs: number): Promise<void> {
  const { keep, counts } = context;
  if (nowMs < counts.trimsAgainAtMs) return;
  const isDue = nowMs >= counts.nextTrimAtMs;
  let nextMs = isDue ? Infinity : counts.nextTrimAtMs;
  for (const [kind, most] of [["d", keep.done], ["x", keep.dead]] as const) {
    if (!isDue && counts.kept[kind] <= most) continue;
    nextMs = Math.min(nextMs, await trimKind(context, kind, most, nowMs));
  }
  counts.nextTrimAtMs = nextMs;
}

/** When the oldest that is left will have been kept long enough. */
async function trimKind(
  context: QueueContext,
  kind: "d" | "x",
  most: number,
  nowMs: number,
): Promise<number> {
  const { counts, keep, db } = context;
  const limit = Math.max(1, Math.min(PAGE, db.maxChecks - 1));
  for (let commits = 0; commits < MOST_COMMITS; commits++) {
    const { oldest, isAll } = await readOldest(context, kind, limit);
    const transaction = new Transaction(context, nowMs);
    let surplus = Math.max(0, await keptNow(context, kind) - most);
    let touched: number | undefined; // when the last was put there that is dropped, or some of it
    let stays: number | undefined; // when the first was, or earlier, that stays
    for (const entry of oldest) {
      const atMs = numberAt(entry.key, 4);
      const isOld = atMs + keep.forMs <= nowMs;
      if ((!isOld && surplus === 0) || transaction.isFull) {
        stays = touched ?? atMs;
        break;
      }
      const dropped = dropFrom(transaction, context, kind, entry, isOld ? Infinity : surplus);
      surplus = Math.max(0, surplus - dropped);
      touched = atMs;
    }
    if (transaction.checks > 0 && !await transaction.commit()) {
      counts.trimsAgainAtMs = nowMs + OTHERS_MS;
      break;
    }
    if (stays !== undefined) return stays + keep.forMs;
    if (isAll) return nowMs + keep.forMs;
  }
  return nowMs;
}

/** The entries that were put there first. An entry may hold many jobs: no more are read than one commit needs. */
async function readOldest(
  { db, keys }: QueueContext,
  kind: "d" | "x",
  limit: number,
): Promise<{ readonly oldest: readonly Deno.KvEntry<Bytes>[]; readonly isAll: boolean }> {
  const oldest: Deno.KvEntry<Bytes>[] = [];
  let bytes = 0;
  const read = { batchSize: Math.min(limit, BATCH) };
  for await (const entry of db.entries<Bytes>({ prefix: keys.of(kind) }, read)) {
    oldest.push(entry);
    bytes += bytesOf(entry.value).length;
    if (oldest.length === limit || bytes > MOST_BYTES) return { oldest, isAll: false };
  }
  return { oldest, isAll: true };
}

/**
 * How many are kept. Beside others, read after the oldest were: a process that drops some later drops
 * the same ones first, and one of the two is refused.
 */
async function keptNow(
  { member, counts, db, keys }: QueueContext,
  kind: "d" | "x",
): Promise<number> {
  if (member.alone) return counts.kept[kind];
  return countIn((await db.get(keys.of("c", -1, kind))).value);
}

/** Drops the first jobs of an entry. How many those were. */
function dropFrom(
  transaction: Transaction,
  { keys, counts }: QueueContext,
  kind: "d" | "x",
  entry: Deno.KvEntry<Bytes>,
  most: number,
): number {
  transaction.check(entry);
  if (kind === "x") {
    const { id, row } = readDead(entry);
    transaction.delete(entry.key);
    transaction.delete(keys.of("m", id.segment, id.index));
    transaction.forget({ segment: id.segment, index: id.index, line: row[6] });
    transaction.keep("x", -1);
    return 1;
  }
  const count = countDone(entry.value);
  if (count === 0) counts.doubt(-1); // it was damaged: how many it kept is not known
  const drops = Math.min(count, most);
  if (hasChunks(entry.key)) {
    for (const { id, row } of jobsDone(entry).slice(0, drops)) {
      transaction.forgetPayload({ segment: id.segment, index: id.index, line: row[6] });
    }
  }
  const left = drops === count ? undefined : withoutJobs(entry, (_, place) => place < drops);
  if (left === undefined) transaction.deleteDone(entry.key);
  else transaction.setBytes(entry.key, left);
  transaction.keep("d", -drops);
  return drops;
}
