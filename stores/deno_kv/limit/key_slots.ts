/**
 * The limit on how many jobs of one key run at once: places that a job must have to be ready.
 *
 * A job that is ready or runs has a place. The others of its key wait in a queue of their own, so
 * that claiming never meets a job that may not run, and never looks at those that wait.
 *
 * @module
 */

import { type Bytes, changeLine, decode, isUnreadable, parseLine } from "../record/codec.ts";
import type { QueueContext } from "../context.ts";
import type { StoredJob } from "../record/job.ts";
import { placesIn, restorePlaces, waitingSince } from "../doctor/recount.ts";
import type { Expected } from "../io/atomic_operation.ts";
import { type Counted, keySize, type Space } from "../record/keys.ts";
import { type End, expired, UNREADABLE_END } from "../end/ended.ts";

/** How many waiting jobs are read at once. */
const LOOK_AHEAD = 8;

/** What the record of a key takes at most, bytes. */
const RECORD_BYTES = 64;

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
  /** Sets a key to a small value. */
  set(key: Deno.KvKey, value: unknown): void;
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
  async enter(job: StoredJob, dueMs: number): Promise<"ready" | "blocked"> {
    const limit = this.#context.lanes.of(job.ordinal)?.maxRunningPerKey ?? Infinity;
    const { k: key, h: hasSlot } = job.line[3] ?? {};
    if (key === undefined || limit === Infinity || hasSlot === 1) { // a delayed job may have kept its slot
      this.#transaction.put("r", job, dueMs);
      return "ready";
    }
    const use = await this.#use(job.ordinal, key);
    if (use.held < limit) {
      use.held++;
      this.#transaction.put("r", withPlace(job), dueMs);
      return "ready";
    }
    this.#wait(use, job, dueMs);
    return "blocked";
  }

  /**
   * The place of a ready job that is being claimed: it has none if its lane had no limit when it was
   * added. `undefined`: no place is left, and it waits for one now.
   */
  async admit(job: StoredJob): Promise<StoredJob | undefined> {
    const limit = this.#context.lanes.of(job.ordinal)?.maxRunningPerKey ?? Infinity;
    const extra = job.line[3];
    if (limit === Infinity || extra?.k === undefined || extra.h === 1) return job;
    const use = await this.#use(job.ordinal, extra.k);
    if (use.held < limit) {
      use.held++;
      return withPlace(job);
    }
    this.#wait(use, job, job.dueMs);
    return undefined;
  }

  /** Gives up the place of a job that ends, or will be due again later. The next of its key gets it. */
  async release(job: StoredJob): Promise<void> {
    const extra = job.line[3];
    if (extra?.h !== 1 || extra.k === undefined) return;
    const use = await this.#use(job.ordinal, extra.k);
    // A process without this lane does not know its limit: as many as before may hold a slot.
    const limit = this.#context.lanes.of(job.ordinal)?.maxRunningPerKey ?? Math.max(1, use.held);
    if (--use.held < 0) this.#context.counts.doubt(job.ordinal); // its record was damaged
    await this.#fill(use, limit);
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
    const limit = this.#context.lanes.of(ordinal)?.maxRunningPerKey ?? 0;
    await this.#fill(await this.#use(ordinal, key), limit);
  }

  #wait(use: Use, job: StoredJob, dueMs: number): void {
    if (use.waiting === 0) use.sinceMs = dueMs;
    else if (use.sinceMs !== undefined) use.sinceMs = Math.min(use.sinceMs, dueMs);
    use.waiting++;
    this.#transaction.put("q", job, dueMs, use.key);
  }

  async #fill(use: Use, limit: number): Promise<void> {
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
      use.held++;
      isGiven = true;
      transaction.put("r", withPlace(unblocked(waited)), transaction.atMs);
      transaction.signals = true;
    }
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
    for (const { ordinal, key, entry, held, waiting, sinceMs } of this.#uses.values()) {
      const at = this.#context.keys.of("k", ordinal, key);
      this.#transaction.check(entry);
      if (held <= 0 && waiting <= 0) this.#transaction.delete(at);
      else if (waiting <= 0 || sinceMs === undefined) this.#transaction.set(at, [held, waiting]);
      else this.#transaction.set(at, [held, waiting, sinceMs]);
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
    const use: Use = { ordinal, key, entry, held, waiting, sinceMs, queue: [], next: 0 };
    this.#uses.set(name, use);
    this.#transaction.reserve(at, RECORD_BYTES + keySize(at)); // it is checked, too
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

/** A job that was blocked until now. */
export function unblocked(job: StoredJob): StoredJob {
  const line = changeLine(job.line, {}, { v: job.line[3]?.v ?? job.dueMs });
  return { ...plain(job), line, text: JSON.stringify(line) };
}

function withPlace(job: StoredJob): StoredJob {
  const line = changeLine(job.line, {}, { h: 1 });
  return { ...plain(job), line, text: JSON.stringify(line) };
}

function plain({ ordinal, segment, index, dueMs }: StoredJob): Omit<StoredJob, "line" | "text"> {
  return { ordinal, segment, index, dueMs };
}
