/**
 * What follows from another limit on how many jobs of one key run at once.
 *
 * @module
 */

import { type Bytes, decodeLines, encodeLines } from "../record/codec.ts";
import type { QueueContext } from "../context.ts";
import type { HeldPart, KvJob, StoredJob } from "../record/job.ts";
import { numberAt, textAt } from "../record/keys.ts";
import type { KvLane } from "../record/lanes.ts";
import { jobsIn } from "../claim/promote.ts";
import { unblocked } from "./key_slots.ts";
import { Transaction } from "../transaction.ts";

/** Records of keys read at once. */
const PAGE = 100;

/** Makes all jobs of a lane claimable that waited for places, of which there is no limit any more. */
export async function unblock(context: QueueContext, lane: KvLane, nowMs: number): Promise<void> {
  const { db, keys } = context;
  const prefix = keys.of("q", lane.ordinal);
  const limit = Math.max(1, Math.floor(db.maxChecks / 3));
  const some = async (): Promise<"all" | "some" | undefined> => {
    const waiting = await db.list<Bytes>({ prefix }, { limit });
    if (waiting.length === 0) return "all";
    const transaction = new Transaction(context, nowMs);
    for (const entry of waiting) {
      if (transaction.isFull) break;
      const [job] = jobsIn(keys.placeIn(entry.key), entry.value);
      if (job === undefined) continue;
      transaction.check(entry);
      transaction.delete(entry.key);
      await transaction.slots.leave(job);
      transaction.put("r", unblocked(job), transaction.atMs);
      transaction.count(lane.ordinal, "q", -1);
    }
    transaction.signals = true;
    return await transaction.commit() ? "some" : undefined;
  };
  while (await db.retry(some) === "some");
}

/**
 * Counts a place for each job of a lane that this member runs and that had none, since its lane had no
 * limit. While no end is on its way: what is stored of those jobs changes.
 */
export async function placeRunning(
  context: QueueContext,
  lane: KvLane,
  nowMs: number,
): Promise<void> {
  const { membership } = context.member;
  for (const part of membership.parts) {
    if (part.ordinal !== lane.ordinal || membership.lost) continue;
    const jobs = part.jobs.filter((job) => !part.ended.includes(job.index - part.first));
    const some = async (): Promise<true | undefined> => {
      const isPlaced = await placeJobs(context, part, jobs, nowMs);
      return isPlaced || !await membership.isAlive(context.db) || undefined;
    };
    while (!membership.lost && !jobs.every(hasPlace)) {
      if (!await context.db.retry(some)) break;
    }
  }
}

/** Gives the jobs of a lane that wait for places those that there are more of now. */
export async function raise(context: QueueContext, lane: KvLane, nowMs: number): Promise<void> {
  const { db, keys } = context;
  const prefix = keys.of("k", lane.ordinal);
  let start: Deno.KvKey = prefix;
  const some = async (): Promise<"all" | "some" | undefined> => {
    const page = await db.list<readonly [number, number]>(
      start === prefix ? { prefix } : { prefix, start },
      { limit: PAGE, batchSize: PAGE },
    );
    const transaction = new Transaction(context, nowMs);
    let last: Deno.KvKey | undefined;
    for (const { key, value: [held, waiting] } of page) {
      if (transaction.isFull || transaction.checksLeft < 4) break;
      last = key;
      if (waiting === 0 || held >= lane.maxRunningPerKey) continue;
      await transaction.slots.fill(numberAt(key, 4), textAt(key, 5));
    }
    if (last === undefined) return "all";
    if (transaction.slots.size > 0 && !await transaction.commit()) return undefined;
    // A key may have more free places than one commit can give.
    if (transaction.checksLeft > 1 && !transaction.isFull) start = [...last, 0]; // what follows it
    return "some";
  };
  while (await db.retry(some) === "some"); // given up: the next end of a job of the key gives the places
}

function hasPlace({ line: [, , , extra] }: KvJob): boolean {
  return extra?.k === undefined || extra.h === 1;
}

/** Stores jobs of a lease with their places, as many as one commit takes. False: something has changed. */
async function placeJobs(
  context: QueueContext,
  part: HeldPart,
  jobs: readonly KvJob[],
  nowMs: number,
): Promise<boolean> {
  const lease = await context.db.get<Bytes>(part.key);
  if (lease.value === null) return false;
  const transaction = new Transaction(context, nowMs);
  transaction.check(part.membership.fence);
  transaction.check(lease);
  const lines = decodeLines(lease.value);
  const placed = new Map<KvJob, StoredJob>();
  for (const job of jobs) {
    if (hasPlace(job)) continue;
    if (transaction.isFull || transaction.checksLeft < 2) break;
    const withPlace = await transaction.slots.count(job);
    placed.set(job, withPlace);
    lines[job.index - part.first] = withPlace.text;
  }
  const bytes = encodeLines(lines);
  transaction.setBytes(part.key, bytes);
  if (!await transaction.commit()) return false;
  part.bytes = bytes;
  for (const [job, { line, text }] of placed) {
    job.line = line;
    job.text = text;
  }
  return true;
}
