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
import { placesIn, restorePlaces } from "../doctor/recount.ts";
import type { Transaction } from "../transaction.ts";
import { expired, UNREADABLE_END } from "../end/ended.ts";

/** How many waiting jobs are read at once. */
const LOOK_AHEAD = 8;

interface Use {
  readonly ordinal: number;
  readonly key: string;
  readonly entry: Deno.KvEntryMaybe<unknown>;
  held: number;
  waiting: number;
  readonly queue: Deno.KvEntry<Bytes>[];
  next: number;
}

/** The records of keys that one commit changes. */
export class KeySlots {
  readonly #context: QueueContext;
  readonly #uses = new Map<string, Use>();
  /** Segment and index of those that wait no more. */
  readonly #left = new Set<string>();

  readonly #reserve: (record: Deno.KvKey) => void;

  /** Begins with none. `reserve` counts each record that will be written. */
  constructor(context: QueueContext, reserve: (record: Deno.KvKey) => void) {
    this.#context = context;
    this.#reserve = reserve;
  }

  /** Records that are changed: each takes a check and a mutation. */
  get size(): number {
    return this.#uses.size;
  }

  /** Puts a job that is due down: ready if its key has a place left, behind others of its key if not. */
  async enter(
    transaction: Transaction,
    job: StoredJob,
    dueMs: number,
  ): Promise<"ready" | "blocked"> {
    const limit = this.#context.lanes.of(job.ordinal)?.maxRunningPerKey ?? Infinity;
    const { k: key, h: hasSlot } = job.line[3] ?? {};
    if (key === undefined || limit === Infinity || hasSlot === 1) { // a delayed job may have kept its slot
      transaction.put("r", job, dueMs);
      return "ready";
    }
    const use = await this.#use(job.ordinal, key);
    if (use.held < limit) {
      use.held++;
      transaction.put("r", withPlace(job), dueMs);
      return "ready";
    }
    use.waiting++;
    transaction.put("q", job, dueMs, key);
    return "blocked";
  }

  /**
   * The place of a ready job that is being claimed: it has none if its lane had no limit when it was
   * added. `undefined`: no place is left, and it waits for one now.
   */
  async admit(transaction: Transaction, job: StoredJob): Promise<StoredJob | undefined> {
    const limit = this.#context.lanes.of(job.ordinal)?.maxRunningPerKey ?? Infinity;
    const extra = job.line[3];
    if (limit === Infinity || extra?.k === undefined || extra.h === 1) return job;
    const use = await this.#use(job.ordinal, extra.k);
    if (use.held < limit) {
      use.held++;
      return withPlace(job);
    }
    use.waiting++;
    transaction.put("q", job, job.dueMs, extra.k);
    return undefined;
  }

  /** Gives up the place of a job that ends, or will be due again later. The next of its key gets it. */
  async release(transaction: Transaction, job: StoredJob): Promise<void> {
    const extra = job.line[3];
    if (extra?.h !== 1 || extra.k === undefined) return;
    const use = await this.#use(job.ordinal, extra.k);
    // A process without this lane does not know its limit: as many as before may hold a slot.
    const limit = this.#context.lanes.of(job.ordinal)?.maxRunningPerKey ?? Math.max(1, use.held);
    if (--use.held < 0) this.#context.counts.doubt(job.ordinal); // its record was damaged
    await this.#fill(transaction, use, limit);
  }

  /** A running job of which no place was counted so far has one from now on. */
  async count(job: StoredJob): Promise<StoredJob> {
    const key = job.line[3]?.k;
    if (key === undefined) return job;
    (await this.#use(job.ordinal, key)).held++;
    return withPlace(job);
  }

  /** Gives places that are free to those of a key that wait. */
  async fill(transaction: Transaction, ordinal: number, key: string): Promise<void> {
    const limit = this.#context.lanes.of(ordinal)?.maxRunningPerKey ?? 0;
    await this.#fill(transaction, await this.#use(ordinal, key), limit);
  }

  async #fill(transaction: Transaction, use: Use, limit: number): Promise<void> {
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
      transaction.put("r", withPlace(waited), transaction.atMs);
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
  write(transaction: Transaction): void {
    for (const { ordinal, key, entry, held, waiting } of this.#uses.values()) {
      const at = this.#context.keys.of("k", ordinal, key);
      transaction.check(entry);
      if (held <= 0 && waiting <= 0) transaction.delete(at);
      else transaction.set(at, [held, waiting]);
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
    const use = { ordinal, key, entry, held, waiting, queue: [], next: 0 };
    this.#uses.set(name, use);
    this.#reserve(at);
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

function withPlace(job: StoredJob): StoredJob {
  const line = changeLine(job.line, {}, { h: 1 });
  return { ...plain(job), line, text: JSON.stringify(line) };
}

function plain({ ordinal, segment, index, dueMs }: StoredJob): Omit<StoredJob, "line" | "text"> {
  return { ordinal, segment, index, dueMs };
}
