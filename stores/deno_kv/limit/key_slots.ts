/**
 * The limit on how many jobs of one key run at once: places that a job must have to be ready.
 *
 * A job that is ready or runs has a place. The others of its key wait in a queue of their own, so
 * that claiming never meets a job that may not run, and never looks at those that wait. Under a rate of
 * its key a job with a place may be delayed: until the rate lets it start.
 *
 * @module
 */

import { type Bytes, changeLine, decode, isUnreadable, parseLine } from "../record/codec.ts";
import type { QueueContext } from "../context.ts";
import type { StoredJob } from "../record/job.ts";
import { keyRecord, placesIn, restorePlaces, startsIn, waitingSince } from "../doctor/recount.ts";
import { addStart, dropOld, longestMs, nextStartMs } from "../../../src/base/key_starts.ts";
import type { Expected, SetOptions } from "../io/atomic_operation.ts";
import type { KvLane } from "../record/lanes.ts";
import { type Counted, keySize, type Space } from "../record/keys.ts";
import { type End, expired, UNREADABLE_END } from "../end/ended.ts";

/** How many waiting jobs are read at once. */
const LOOK_AHEAD = 8;

/** What the record of a key takes at most, bytes, and each start in it. */
const RECORD_BYTES = 64;
const START_BYTES = 10;

/** How long the starts of a key without jobs are kept after they count no more, ms: clocks differ. */
const KEPT_MS = 3_600_000;

/** The commit in the making that slots are part of. */
export interface SlotTransaction {
  /** Now. */
  readonly nowMs: number;
  /** Whole ms: what times in keys are. */
  readonly atMs: number;
  /** True once no more should be added. */
  readonly isFull: boolean;
  /** Checks that may still be added. */
  readonly checksLeft: number;
  /** True: other processes should hear of it. */
  signals: boolean;
  /** Makes the commit depend on a key. */
  check(expected: Expected): void;
  /** Sets a key. `size`: bytes of the value, no fewer than there are; omitted for a small one. */
  set(key: Deno.KvKey, value: unknown, size?: number, options?: SetOptions): void;
  /** Deletes a key. */
  delete(key: Deno.KvKey): void;
  /** Counts a key that will be set. */
  reserve(key: Deno.KvKey, valueBytes: number): void;
  /** Changes a count of a lane. */
  count(ordinal: number, what: Counted, change: number): void;
  /** Puts one job down. `key`: the one it waits for a place of. */
  put(space: Space, job: StoredJob, dueMs: number, key?: string): void;
  /** Ends a job that has been taken from where it was. */
  end(job: StoredJob, end: End): void;
}

interface Use {
  readonly ordinal: number;
  readonly key: string;
  readonly entry: Deno.KvEntryMaybe<unknown>;
  held: number;
  waiting: number;
  /** When the oldest that waits was due, or one before it. `undefined`: not known. */
  sinceMs: number | undefined;
  /** When jobs of the key started that have ended. */
  readonly starts: number[];
  readonly queue: Deno.KvEntry<Bytes>[];
  next: number;
}

/** The records of keys that one commit changes. */
export class KeySlots {
  readonly #context: QueueContext;
  readonly #transaction: SlotTransaction;
  readonly #uses = new Map<string, Use>();
  /** Segment and index of those that wait no more. */
  readonly #left = new Set<string>();

  /** Begins with none. */
  constructor(context: QueueContext, transaction: SlotTransaction) {
    this.#context = context;
    this.#transaction = transaction;
  }

  /** Records that are changed: each takes a check and a mutation. */
  get size(): number {
    return this.#uses.size;
  }

  /** Puts a job that is due down: ready if its key has a place left, behind others of its key if not. */
  async enter(job: StoredJob, dueMs: number): Promise<"ready" | "delayed" | "blocked"> {
    const lane = this.#context.lanes.of(job.ordinal);
    const { k: key, h: hasSlot } = job.line[3] ?? {};
    // A delayed job may have kept its slot.
    if (lane === undefined || key === undefined || !isLimited(lane) || hasSlot === 1) {
      this.#transaction.put("r", job, dueMs);
      return "ready";
    }
    const use = await this.#use(job.ordinal, key);
    if (use.held < lane.maxRunningPerKey) {
      const atMs = this.#take(use, lane);
      const isHeld = atMs > this.#transaction.nowMs;
      return this.#place(withPlace(isHeld ? unblocked(job, dueMs) : job), dueMs, atMs);
    }
    this.#wait(use, job, dueMs);
    return "blocked";
  }

  /**
   * The place of a ready job that is being claimed: it has none if its lane had no limit when it was
   * added. `undefined`: no place is left, or it may not start yet, and it waits now.
   */
  async admit(job: StoredJob): Promise<StoredJob | undefined> {
    const lane = this.#context.lanes.of(job.ordinal);
    const extra = job.line[3];
    if (lane === undefined || !isLimited(lane)) return job;
    if (extra?.k === undefined || extra.h === 1) return job;
    const use = await this.#use(job.ordinal, extra.k);
    if (use.held < lane.maxRunningPerKey) {
      const atMs = this.#take(use, lane);
      if (atMs <= this.#transaction.nowMs) return withPlace(job);
      this.#place(withPlace(unblocked(job)), job.dueMs, atMs);
      return undefined;
    }
    this.#wait(use, job, job.dueMs);
    return undefined;
  }

  /** True if starts of the job count: it may not start again as it likes. */
  counts(job: StoredJob): boolean {
    const lane = this.#context.lanes.of(job.ordinal);
    return job.line[3]?.h === 1 && lane !== undefined && lane.keyRates.length > 0;
  }

  /** Puts a job down whose attempt began and that keeps its place: no earlier than the rate lets it start again. */
  async keep(job: StoredJob, beganAtMs: number, dueMs: number): Promise<void> {
    const lane = this.#context.lanes.of(job.ordinal);
    const key = job.line[3]?.k;
    if (lane === undefined || key === undefined) return this.#transaction.put("r", job, dueMs);
    const use = await this.#use(job.ordinal, key);
    this.#began(use, lane, beganAtMs);
    use.held--;
    this.#place(job, this.#transaction.atMs + 0.5, Math.max(dueMs, this.#take(use, lane)));
  }

  /**
   * Gives up the place of a job that ends, or will be due again later. The next of its key gets it.
   * `beganAtMs`: when its attempt did, if it did.
   */
  async release(job: StoredJob, beganAtMs?: number): Promise<void> {
    const extra = job.line[3];
    if (extra?.h !== 1 || extra.k === undefined) return;
    const use = await this.#use(job.ordinal, extra.k);
    // A process without this lane does not know its limit: as many as before may hold a slot.
    const lane = this.#context.lanes.of(job.ordinal);
    const limit = lane?.maxRunningPerKey ?? Math.max(1, use.held);
    if (beganAtMs !== undefined && lane !== undefined) this.#began(use, lane, beganAtMs);
    if (--use.held < 0) this.#context.counts.doubt(job.ordinal); // its record was damaged
    await this.#fill(use, limit, lane);
  }

  /** A running job of which no place was counted so far has one from now on. */
  async count(job: StoredJob): Promise<StoredJob> {
    const key = job.line[3]?.k;
    if (key === undefined) return job;
    (await this.#use(job.ordinal, key)).held++;
    return withPlace(job);
  }

  /** Gives places that are free to those of a key that wait. */
  async fill(ordinal: number, key: string): Promise<void> {
    const lane = this.#context.lanes.of(ordinal);
    await this.#fill(await this.#use(ordinal, key), lane?.maxRunningPerKey ?? 0, lane);
  }

  #wait(use: Use, job: StoredJob, dueMs: number): void {
    if (use.waiting === 0) use.sinceMs = dueMs;
    else if (use.sinceMs !== undefined) use.sinceMs = Math.min(use.sinceMs, dueMs);
    use.waiting++;
    this.#transaction.put("q", job, dueMs, use.key);
  }

  async #fill(use: Use, limit: number, lane: KvLane | undefined): Promise<void> {
    const transaction = this.#transaction;
    let isGiven = false;
    while (use.held < limit && use.waiting > 0) {
      if (isGiven && (transaction.isFull || transaction.checksLeft < 2)) break; // its end gives the others
      const next = await this.#next(use);
      if (next === undefined) break;
      transaction.check(next);
      transaction.delete(next.key);
      transaction.count(use.ordinal, "q", -1);
      use.waiting--;
      const waited = this.#read(next);
      const behind = use.queue[use.next];
      use.sinceMs = behind === undefined
        ? waited.dueMs
        : this.#context.keys.placeIn(behind.key).dueMs;
      if (isUnreadable(waited.line)) {
        transaction.end(waited, { ...UNREADABLE_END, attempt: 0, startedAtMs: undefined });
        continue;
      }
      const isExpired = (waited.line[3]?.x ?? Infinity) <= transaction.nowMs;
      // The last one that fits gets the slot even so: the claim that finds it ends it, and goes on. If it
      // had none, no claim would ever look at those behind.
      if (isExpired && transaction.checksLeft > 1 && !transaction.isFull) {
        transaction.end(waited, expired(waited));
        continue;
      }
      isGiven = true;
      this.#place(withPlace(unblocked(waited)), transaction.atMs, this.#take(use, lane));
      transaction.signals = true;
    }
  }

  /** Takes a place: from when its job may start. */
  #take(use: Use, lane: KvLane | undefined): number {
    const { nowMs } = this.#transaction;
    return nextStartMs(lane?.keyRates ?? [], use.held++, use.starts, nowMs);
  }

  /** Puts a job down that has a place: delayed, if it may not start yet. */
  #place(job: StoredJob, dueMs: number, atMs: number): "ready" | "delayed" {
    const isLater = atMs > this.#transaction.nowMs;
    this.#transaction.put(isLater ? "z" : "r", job, isLater ? Math.ceil(atMs) : dueMs);
    return isLater ? "delayed" : "ready";
  }

  /** The attempt of a job of a key began: that counts. */
  #began(use: Use, { keyRates }: KvLane, atMs: number): void {
    if (keyRates.length > 0) addStart(keyRates, use.starts, atMs, this.#transaction.nowMs);
  }

  /** A job that waited for a place does so no more. */
  async leave(job: StoredJob): Promise<void> {
    const key = job.line[3]?.k;
    if (key === undefined) return;
    this.#left.add(`${job.segment}/${job.index}`);
    (await this.#use(job.ordinal, key)).waiting--;
  }

  /** Adds the changed records to the commit. Called once, by it. */
  write(): void {
    for (const { ordinal, key, entry, ...use } of this.#uses.values()) {
      const at = this.#context.keys.of("k", ordinal, key);
      const { held, waiting, starts } = use;
      this.#transaction.check(entry);
      const rates = this.#context.lanes.of(ordinal)?.keyRates;
      if (rates !== undefined) dropOld(rates, starts, this.#transaction.nowMs);
      const isUsed = held > 0 || waiting > 0;
      if (!isUsed && starts.length === 0) {
        this.#transaction.delete(at);
        continue;
      }
      const sinceMs = waiting > 0 ? use.sinceMs : undefined;
      const size = RECORD_BYTES + START_BYTES * starts.length;
      const keptMs = Math.ceil(longestMs(rates ?? [])) + KEPT_MS;
      this.#transaction.set(
        at,
        keyRecord([held, waiting], sinceMs, starts),
        size,
        isUsed ? undefined : { expireIn: keptMs },
      );
    }
  }

  async #use(ordinal: number, key: string): Promise<Use> {
    const name = `${ordinal}/${key}`;
    const known = this.#uses.get(name);
    if (known !== undefined) return known;
    const { db, keys } = this.#context;
    const at = keys.of("k", ordinal, key);
    let entry = await db.get<unknown>(at);
    let places = entry.versionstamp === null ? [0, 0] as const : placesIn(entry.value);
    if (places === undefined) {
      places = await restorePlaces(this.#context, ordinal, key);
      entry = await db.get<unknown>(at);
      places = placesIn(entry.value) ?? places;
    }
    const [held, waiting] = places;
    const sinceMs = waitingSince(entry.value);
    const starts = startsIn(entry.value);
    const use: Use = { ordinal, key, entry, held, waiting, sinceMs, starts, queue: [], next: 0 };
    this.#uses.set(name, use);
    const startBytes = START_BYTES * (starts.length + 1);
    this.#transaction.reserve(at, RECORD_BYTES + startBytes + keySize(at)); // it is checked, too
    return use;
  }

  /** The next job of a key that waits and was not taken yet. */
  async #next(use: Use): Promise<Deno.KvEntry<Bytes> | undefined> {
    if (use.next === use.queue.length) {
      const { db, keys } = this.#context;
      const prefix = keys.of("q", use.ordinal, use.key);
      const last = use.queue.at(-1)?.key;
      const selector = last === undefined ? { prefix } : { prefix, start: [...last, 0] };
      use.queue.push(...await db.list<Bytes>(selector, { limit: LOOK_AHEAD }));
    }
    const next = use.queue[use.next++];
    if (next === undefined) return undefined;
    const { segment, first } = this.#context.keys.placeIn(next.key);
    return this.#left.has(`${segment}/${first}`) ? await this.#next(use) : next;
  }

  #read(entry: Deno.KvEntry<Bytes>): StoredJob {
    const { ordinal, segment, first, dueMs } = this.#context.keys.placeIn(entry.key);
    const text = decode(entry.value);
    return { ordinal, segment, index: first, dueMs, line: parseLine(text), text };
  }
}

function isLimited({ maxRunningPerKey }: KvLane): boolean {
  return maxRunningPerKey < Infinity;
}

/** A job that was blocked, or held by the rate of its key, since it was due. */
export function unblocked(job: StoredJob, dueMs: number = job.dueMs): StoredJob {
  const line = changeLine(job.line, {}, { v: job.line[3]?.v ?? dueMs });
  return { ...plain(job), line, text: JSON.stringify(line) };
}

function withPlace(job: StoredJob): StoredJob {
  const line = changeLine(job.line, {}, { h: 1 });
  return { ...plain(job), line, text: JSON.stringify(line) };
}

function plain({ ordinal, segment, index, dueMs }: StoredJob): Omit<StoredJob, "line" | "text"> {
  return { ordinal, segment, index, dueMs };
}
