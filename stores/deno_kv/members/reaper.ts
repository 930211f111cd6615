/**
 * Leases that end without a settlement: handed back by a holder that leaves, or taken from a dead one.
 *
 * @module
 */

import { dropLostChunks } from "../add/chunks.ts";
import { type Bytes, changeLine, decodeLines, parseLine } from "../record/codec.ts";
import type { QueueContext } from "../context.ts";
import type { StoredJob } from "../record/job.ts";
import { type LeasePlace, numberAt } from "../record/keys.ts";
import { leaseholders } from "../read/locate.ts";
import { endedLines } from "../end/part_ends.ts";
import { Step } from "../step.ts";
import { type Beat, markOf, marksIn } from "./term.ts";

/** Leases read at once. */
const PAGE = 100;

/** How often a page may turn out to have been changed by someone else in a row. */
const MOST_TRIES = 50;

/** What is told of an attempt that nobody ended. */
const LOST = "Its process ended, or showed no sign of life for leaseMs, while it ran";

/** How jobs go back. */
export interface GoingBack {
  /** Whose leases. */
  readonly worker: number;
  /** Whether the attempt stays charged. */
  readonly charged: boolean;
  /** What else the commits depend on, and do last. */
  readonly guard: (step: Step) => void;
}

/**
 * Deletes a worker's fence: from then on it can neither claim nor end anything. Its heartbeat goes last:
 * should whoever does this die meanwhile, the next one does it again.
 */
export async function declareDead(
  context: QueueContext,
  worker: number,
  heartbeat: Deno.KvEntry<Beat>,
): Promise<void> {
  const { db, keys } = context;
  const atomic = db.kv.atomic().check(heartbeat).delete(keys.of("w", worker));
  if (await db.commit({ atomic, signals: false }) === undefined) return; // it lives
  await dropLostChunks(context, worker);
  await db.delete(heartbeat.key);
}

/**
 * Takes back the jobs of all workers without a fence. `isSilent` tells of one that has a fence and no
 * heartbeat whether it is dead. How many jobs that were.
 */
export async function takeBackOrphans(
  context: QueueContext,
  nowMs: number,
  isSilent: (worker: number, fence: string) => boolean,
): Promise<number> {
  const { db, keys } = context;
  let taken = 0;
  for await (const worker of leaseholders(context)) {
    const fence = await db.get(keys.of("w", worker));
    if (fence.versionstamp !== null) {
      if (isSilent(worker, fence.versionstamp)) await db.delete(fence.key); // the next look takes them back
      continue;
    }
    const guard = (step: Step): void => step.check(fence);
    taken += await giveBack(context, { worker, charged: true, guard }, nowMs);
    await db.delete(keys.of("y", worker));
  }
  return taken;
}

/** Deletes requests to cancel jobs of workers without a fence that hold none any more. */
export async function dropMarks(
  { db, keys }: QueueContext,
  live: ReadonlySet<number>,
): Promise<void> {
  for (const { key } of await db.list({ prefix: keys.of("y") })) {
    const worker = numberAt(key, 4);
    if (live.has(worker)) continue;
    const fence = await db.get(keys.of("w", worker));
    const leases = await db.list({ prefix: keys.of("l", worker) }, { limit: 1 });
    if (fence.versionstamp === null && leases.length === 0) await db.delete(key);
  }
}

/** Puts all jobs that a worker has leased back to where they were. How many those were. */
export async function giveBack(
  context: QueueContext,
  back: GoingBack,
  nowMs: number,
): Promise<number> {
  const { db, keys } = context;
  const marks = await db.get<unknown>(keys.of("y", back.worker));
  const marked = new Set(marksIn(marks.value).map(([segment, index]) => markOf(segment, index)));
  let taken = 0;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const prefix = keys.of("l", back.worker);
    const leases = await db.list<Bytes>({ prefix }, { limit: PAGE, batchSize: PAGE });
    if (leases.length === 0) return taken;
    const ended = await db.getMany<Uint8Array>(
      leases.map(({ key }) => keys.progress(keys.leaseIn(key))),
    );
    const step = new Step(context, nowMs);
    let jobs = 0;
    back.guard(step);
    for (const [index, lease] of leases.entries()) {
      if (step.isFull || step.checksLeft < 6) break;
      jobs += await putBack(
        step,
        context,
        { lease, progress: ended[index]!, marked },
        back.charged,
      );
    }
    step.signals = true;
    if (await step.commit()) {
      taken += jobs;
      tries = 0;
    } else await db.pause(tries);
  }
  throw new Error(`The leases of worker ${back.worker} could not be taken back: retry later`);
}

interface Lease {
  readonly lease: Deno.KvEntry<Bytes>;
  readonly progress: Deno.KvEntryMaybe<Uint8Array>;
  readonly marked: ReadonlySet<string>;
}

/** Puts the jobs of one lease back. How many had not ended. */
async function putBack(
  step: Step,
  { keys, lanes }: QueueContext,
  { lease, progress, marked }: Lease,
  charged: boolean,
): Promise<number> {
  const place = keys.leaseIn(lease.key);
  const attempts = lanes.of(place.ordinal)?.attempts ?? Infinity;
  step.check(lease);
  step.check(progress);
  const jobs = unended(place, lease.value, progress.value);
  const staying: StoredJob[] = [];
  let taken = 0;
  for (const job of jobs) {
    if (taken > 0 && (step.isFull || step.checksLeft < 3)) break;
    taken++;
    const attempt = job.line[0] + (charged ? 1 : 0);
    const startedAtMs = place.startedAtMs;
    const isMarked = marked.has(markOf(job.segment, job.index));
    if (isMarked || (charged && attempt >= attempts)) {
      await step.places.release(step, job);
      step.end(
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
    staying.push({ ...job, line, text: JSON.stringify(line) });
  }
  if (taken === jobs.length) {
    step.delete(lease.key);
    if (progress.versionstamp !== null) step.delete(progress.key);
  } else {
    const ended = jobs.slice(0, taken).map(({ index }) => index - place.first);
    step.setBytes(progress.key, Uint8Array.from([...progress.value ?? [], ...ended]));
  }
  step.count(place.ordinal, "l", -taken);
  step.putPart("r", staying);
  if (staying.length > 0) step.count(place.ordinal, "r", staying.length, place.dueMs);
  return taken;
}

/** The jobs of a lease that have not ended. */
export function unended(
  place: LeasePlace,
  bytes: Uint8Array,
  progress: unknown,
): StoredJob[] {
  const ended = endedLines(progress);
  const { ordinal, segment, first, dueMs } = place;
  return decodeLines(bytes).flatMap((text, line) =>
    text === "" || ended.has(line)
      ? []
      : [{ ordinal, segment, index: first + line, dueMs, line: parseLine(text), text }]
  );
}
