/**
 * Leases that end without a settlement: handed back by a member that leaves, or taken from a dead one.
 *
 * @module
 */

import { dropLostChunks } from "../add/chunks.ts";
import { jobsIn } from "../claim/promote.ts";
import { type Bytes, changeLine } from "../record/codec.ts";
import type { QueueContext } from "../context.ts";
import type { StoredJob } from "../record/job.ts";
import { type LeasePlace, numberAt } from "../record/keys.ts";
import { leaseholders } from "../read/locate.ts";
import { endedLines } from "../end/part_ends.ts";
import { Transaction } from "../transaction.ts";
import { PATIENCE_MS } from "../io/db.ts";
import { type Expected, isAsItWas } from "../io/atomic_operation.ts";
import { type Beat, markOf, marksIn } from "./membership.ts";

/** Leases read at once. */
const PAGE = 100;

/** The error of an attempt that no process ended. */
const LOST = "Its process died, or did not renew its lease for leaseMs, while it ran";

/** How jobs go back. */
export interface GoingBack {
  /** Whose leases. */
  readonly memberId: number;
  /** Whether the attempt stays charged. */
  readonly charged: boolean;
  /** Its fence, present or deleted: what the commits depend on. */
  readonly fence: Expected;
}

/**
 * Deletes a member's fence: from then on it can neither claim nor end anything. Its heartbeat goes last:
 * if this process dies before that, the next one does it again.
 */
export async function declareDead(
  context: QueueContext,
  memberId: number,
  heartbeat: Deno.KvEntry<Beat>,
): Promise<void> {
  const { db, keys } = context;
  const atomic = db.kv.atomic().check(heartbeat).delete(keys.of("w", memberId));
  if (await db.commit({ atomic, signals: false }) === undefined) return; // it lives
  await dropLostChunks(context, memberId);
  await db.delete(heartbeat.key);
}

/**
 * Takes back the jobs of all members without a fence. `isSilent` tells of one that has a fence and no
 * heartbeat whether it is dead. How many jobs that were.
 */
export async function takeBackOrphans(
  context: QueueContext,
  nowMs: number,
  isSilent: (memberId: number, fence: string) => boolean,
): Promise<number> {
  const { db, keys } = context;
  let taken = 0;
  for await (const memberId of leaseholders(context)) {
    const fence = await db.get(keys.of("w", memberId));
    if (fence.versionstamp !== null) {
      if (isSilent(memberId, fence.versionstamp)) await db.delete(fence.key); // the next look takes them back
      continue;
    }
    taken += await giveBack(context, { memberId, charged: true, fence }, nowMs);
    await db.delete(keys.of("y", memberId));
  }
  return taken;
}

/** Deletes requests to cancel jobs of members without a fence that hold none any more. */
export async function dropMarks(
  { db, keys }: QueueContext,
  live: ReadonlySet<number>,
): Promise<void> {
  for (const { key } of await db.list({ prefix: keys.of("y") })) {
    const memberId = numberAt(key, 4);
    if (live.has(memberId)) continue;
    const fence = await db.get(keys.of("w", memberId));
    const leases = await db.list({ prefix: keys.of("l", memberId) }, { limit: 1 });
    if (fence.versionstamp === null && leases.length === 0) await db.delete(key);
  }
}

/**
 * Puts all jobs that a member has leased back to where they were, as long as its fence is as it was. How
 * many those were.
 */
export async function giveBack(
  context: QueueContext,
  back: GoingBack,
  nowMs: number,
): Promise<number> {
  const { db, keys } = context;
  const marks = await db.get<unknown>(keys.of("y", back.memberId));
  const marked = new Set(marksIn(marks.value).map(([segment, index]) => markOf(segment, index)));
  let taken = 0;
  let isOver = false;
  const prefix = keys.of("l", back.memberId);
  const some = async (): Promise<true | undefined> => {
    const leases = await db.list<Bytes>({ prefix }, { limit: PAGE, batchSize: PAGE });
    if (leases.length === 0) return isOver = true;
    const ended = await db.getMany<Uint8Array>(
      leases.map(({ key }) => keys.progress(keys.leaseIn(key))),
    );
    const transaction = new Transaction(context, nowMs);
    let jobs = 0;
    transaction.check(back.fence);
    for (const [index, lease] of leases.entries()) {
      if (transaction.isFull || transaction.checksLeft < 6) break;
      jobs += await putBack(
        transaction,
        context,
        { lease, progress: ended[index]!, marked },
        back.charged,
      );
    }
    transaction.signals = true;
    if (await transaction.commit()) taken += jobs;
    else if (await isAsItWas(db, back.fence)) return undefined;
    else isOver = true; // declared dead meanwhile: the process that did so takes them back
    return true;
  };
  while (!isOver) {
    if (await db.retry(some)) continue;
    const why = `others changed them for ${PATIENCE_MS / 1000} s`;
    throw new Error(`The leases of member ${back.memberId} could not be taken back: ${why}`);
  }
  return taken;
}

interface Lease {
  readonly lease: Deno.KvEntry<Bytes>;
  readonly progress: Deno.KvEntryMaybe<Uint8Array>;
  readonly marked: ReadonlySet<string>;
}

/** Puts the jobs of one lease back. How many had not ended. */
async function putBack(
  transaction: Transaction,
  { keys, lanes }: QueueContext,
  { lease, progress, marked }: Lease,
  charged: boolean,
): Promise<number> {
  const place = keys.leaseIn(lease.key);
  const attempts = lanes.of(place.ordinal)?.attempts ?? Infinity;
  transaction.check(lease);
  transaction.check(progress);
  const jobs = unended(place, lease.value, progress.value);
  const staying: StoredJob[] = [];
  let taken = 0;
  for (const job of jobs) {
    if (taken > 0 && (transaction.isFull || transaction.checksLeft < 3)) break;
    taken++;
    const attempt = job.line[0] + (charged ? 1 : 0);
    const startedAtMs = place.startedAtMs;
    const isMarked = marked.has(markOf(job.segment, job.index));
    // Nobody says whether its attempt began: where starts count it did, now at the latest.
    const beganAtMs = transaction.slots.counts(job) ? transaction.nowMs : undefined;
    if (isMarked || (charged && attempt >= attempts)) {
      await transaction.slots.release(job, beganAtMs);
      transaction.end(
        job,
        isMarked
          ? { state: "cancelled", attempt, startedAtMs, told: false }
          : { state: "dead", reason: "attempts", attempt, startedAtMs, error: LOST, told: false },
      );
      continue;
    }
    const by = { attempts: charged ? 1 : 0, leases: 1 };
    const change = charged ? { s: startedAtMs, e: LOST } : {}; // or it has not started
    const line = changeLine(job.line, by, change);
    const again = { ...job, line, text: JSON.stringify(line) };
    if (beganAtMs === undefined) staying.push(again);
    else await transaction.slots.keep(again, beganAtMs, transaction.atMs);
  }
  if (taken === jobs.length) {
    transaction.delete(lease.key);
    if (progress.versionstamp !== null) transaction.delete(progress.key);
  } else {
    const ended = jobs.slice(0, taken).map(({ index }) => index - place.first);
    transaction.setBytes(progress.key, Uint8Array.from([...progress.value ?? [], ...ended]));
  }
  transaction.count(place.ordinal, "l", -taken);
  transaction.putPart("r", staying);
  if (staying.length > 0) transaction.count(place.ordinal, "r", staying.length, place.dueMs);
  return taken;
}

/** The jobs of a lease that have not ended. */
export function unended(
  place: LeasePlace,
  bytes: Uint8Array,
  progress: unknown,
): StoredJob[] {
  const ended = endedLines(progress);
  return jobsIn(place, bytes).filter(({ index }) => !ended.has(index - place.first));
}
