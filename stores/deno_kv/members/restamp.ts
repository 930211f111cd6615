/**
 * Jobs that were stamped by a clock that was ahead: they would come when that time does, in a day or in
 * ten years. A process that finds one stamps it again.
 *
 * @module
 */

import { type Bytes, changeLine, decode, encode } from "../record/codec.ts";
import type { QueueContext } from "../context.ts";
import { pointerAt } from "../end/done.ts";
import { parseRow } from "../end/ended.ts";
import { createdIn } from "../record/id.ts";
import type { StoredJob } from "../record/job.ts";
import { jobsIn } from "../claim/promote.ts";
import { Transaction } from "../transaction.ts";

/** What is later than now by more was stamped by a clock that was ahead, ms. */
export const AHEAD_MS = 60_000;

/** Parts looked at by one commit, at most. */
const PAGE = 40;

/**
 * Stamps what waits in the lanes of this queue: what was added, or ran last, at a time to come becomes
 * due as long from now as it was to wait then; what is ready since a time to come is ready since now. And
 * what has ended at one, which would be kept in the place of all that ends until then.
 */
export async function stampAnew(context: QueueContext, nowMs: number): Promise<void> {
  const { counts, lanes, keys } = context;
  const atMs = Math.floor(nowMs);
  counts.nextTrimAtMs = counts.trimsAgainAtMs = -Infinity; // both may be of the time before
  for (const { ordinal } of lanes.own) {
    for (const space of ["z", "r"] as const) {
      await eachAhead(context, keys.of(space, ordinal), atMs, (transaction, entry) => {
        stampPart(transaction, context, { space, nowMs: atMs }, entry);
      });
    }
  }
  await eachAhead(
    context,
    keys.of("d"),
    atMs,
    (transaction, entry) => stampDone(transaction, context, entry),
  );
  await eachAhead(
    context,
    keys.of("x"),
    atMs,
    (transaction, entry) => stampDead(transaction, context, entry),
  );
}

/** Calls `stamp` with each entry of a time to come. */
async function eachAhead(
  context: QueueContext,
  prefix: Deno.KvKey,
  nowMs: number,
  stamp: (transaction: Transaction, entry: Deno.KvEntry<Bytes>) => void,
): Promise<void> {
  const { db } = context;
  const limit = Math.max(1, Math.min(PAGE, Math.floor(db.maxChecks / 2)));
  let start = [...prefix, nowMs + AHEAD_MS];
  const some = async (): Promise<"all" | "some" | undefined> => {
    const entries = await db.list<Bytes>({ prefix, start }, { limit });
    const transaction = new Transaction(context, nowMs);
    transaction.signals = true;
    let last: Deno.KvKey | undefined;
    for (const entry of entries) {
      if (transaction.isFull) break;
      last = entry.key;
      try {
        stamp(transaction, entry);
      } catch {
        continue; // it cannot be read: a claim or a list sees to that
      }
    }
    if (last === undefined) return "all";
    if (transaction.checks > 0 && !await transaction.commit()) return undefined; // what others leave is looked at again
    start = [...last, new Uint8Array()]; // no key lies between
    return "some";
  };
  while (await db.retry(some, Infinity) === "some");
}

/** What one entry is stamped by. */
interface Look {
  readonly space: "z" | "r";
  readonly nowMs: number;
}

function stampPart(
  transaction: Transaction,
  { keys }: QueueContext,
  { space, nowMs }: Look,
  entry: Deno.KvEntry<Bytes>,
): void {
  const place = keys.placeIn(entry.key);
  const jobs = jobsIn(place, entry.value);
  const stamps = jobs.map((job) => stampOf(job, nowMs));
  if (space === "z" && stamps.every((stampMs) => stampMs === undefined)) return;
  transaction.check(entry);
  transaction.delete(entry.key);
  transaction.count(place.ordinal, space, -jobs.length);
  for (const [index, job] of jobs.entries()) {
    const stampMs = stamps[index] ?? nowMs;
    const dueMs = space === "r" ? nowMs : nowMs + Math.max(0, job.dueMs - stampMs);
    transaction.put(space, { ...job, line: lineAnew(job, nowMs) }, Math.floor(dueMs));
  }
}

function stampDone(
  transaction: Transaction,
  { keys }: QueueContext,
  entry: Deno.KvEntry<Bytes>,
): void {
  const key = [...entry.key.slice(0, 4), transaction.atMs, ...entry.key.slice(5)];
  const { segment, first, pointer } = pointerAt({ ...entry, key });
  transaction.check(entry);
  transaction.delete(entry.key);
  transaction.setBytes(key, entry.value);
  transaction.set(keys.of("m", segment, first), pointer);
}

function stampDead(
  transaction: Transaction,
  { keys }: QueueContext,
  entry: Deno.KvEntry<Bytes>,
): void {
  const { id: { segment, index }, row } = parseRow(decode(entry.value));
  transaction.check(entry);
  transaction.delete(entry.key);
  transaction.setBytes(
    keys.of("x", transaction.atMs, segment, index),
    encode(JSON.stringify(row.with(2, transaction.atMs))),
  );
  transaction.set(keys.of("m", segment, index), ["x", transaction.atMs, ""]);
}

/** When a job was added, ran or was deferred last, if that is to come. */
function stampOf(job: StoredJob, nowMs: number): number | undefined {
  const { g: deferredAtMs = 0, s: ranAtMs = 0 } = job.line[3] ?? {};
  return [deferredAtMs, ranAtMs, addedAtMs(job)].find((stampMs) => stampMs > nowMs + AHEAD_MS);
}

/** When a job was added, by the clock that stamped it last: its id keeps the first. */
export function addedAtMs({ segment, line }: StoredJob): number {
  return line[3]?.a ?? createdIn(segment);
}

/** Says that it is stamped: another process that finds the same out leaves it alone. */
function lineAnew(job: StoredJob, nowMs: number): StoredJob["line"] {
  const { g: deferredAtMs = 0, s: ranAtMs = 0, x: expiresAtMs } = job.line[3] ?? {};
  const aheadMs = addedAtMs(job) - nowMs;
  const added = aheadMs > AHEAD_MS
    ? { a: nowMs, ...expiresAtMs === undefined ? {} : { x: expiresAtMs - aheadMs } }
    : {};
  return changeLine(job.line, {}, {
    ...added,
    ...ranAtMs > nowMs + AHEAD_MS ? { s: nowMs } : {},
    ...deferredAtMs > nowMs + AHEAD_MS ? { g: undefined } : {},
  });
}
