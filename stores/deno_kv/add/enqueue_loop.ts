/**
 * Jobs on their way into the database: one commit in flight, what gathers meanwhile goes into the
 * next. Jobs of one lane that are committed together share a key.
 *
 * @module
 */

import { StoreError } from "../../../src/contract/errors.ts";
import { delay } from "../../../src/base/async.ts";
import type { Added, JobEntry } from "../../../src/contract/store.ts";
import { addConditionally, type Item } from "./conditional_add.ts";
import { LARGEST_INLINE, LARGEST_PAYLOAD } from "./chunks.ts";
import { byteLength } from "../record/codec.ts";
import type { QueueContext } from "../context.ts";
import { textSize } from "../record/keys.ts";
import { AddBatch } from "./add_batch.ts";
import type { CommitParticipant, FreshPart } from "../commit_participant.ts";
import { Transaction } from "../transaction.ts";
import { BatchAnswers } from "./batch_answers.ts";
import { TooLarge } from "../io/atomic_operation.ts";
import { MOST_SMALL } from "../io/commit_queue.ts";

/** Largest `key`, `dedupeKey` or idempotency key, bytes in a key of the database. */
const LARGEST_KEY = 1500;

/** Most jobs of one commit. */
const MOST_JOBS = 5000;

/** Adds for one queue. */
export class EnqueueLoop {
  /** Over a network: true while it asks who wants what it is about to add. */
  isAsking = false;
  readonly #context: QueueContext;
  readonly #endsWait: () => boolean;
  #plain: Item[] = [];
  #careful: Item[] = [];
  #running: Promise<void> | undefined;
  #participant: CommitParticipant | undefined;
  #fitsEnds = true; // false: what waits was too much for ends to take along

  /** Adds for one queue. `endsWait`: whether ends do, that may take along what is added. */
  constructor(context: QueueContext, endsWait: () => boolean) {
    this.#context = context;
    this.#endsWait = endsWait;
  }

  /** Stores jobs. An entry that cannot be stored is answered with an error and fails no other. */
  add(entries: readonly JobEntry[], nowMs: number): Promise<readonly Added[]> {
    const answers = new BatchAnswers<Added>(entries.length, unstored);
    for (let place = 0; place < entries.length; place++) {
      this.#prepare(entries[place]!, nowMs, answers, place);
    }
    if (this.#plain.length + this.#careful.length > 0) this.#running ??= this.#run();
    return answers.promise;
  }

  /** Takes a participant along with the jobs that wait. False: there are none, or another one is taken along. */
  carry(participant: CommitParticipant): boolean {
    if (this.#plain.length === 0 || this.#participant !== undefined) return false;
    if (!this.#context.db.isSerial && !this.isAsking) return false; // it would wait for what is on its way
    this.#participant = participant;
    return true;
  }

  /** What waits, with its participant, to go along with ends. `undefined`: nothing does, or it is too much. */
  participant(): CommitParticipant | undefined {
    if (this.#plain.length === 0 || this.#plain.length > MOST_SMALL) return undefined;
    const { batch, participant } = this.#take(MOST_SMALL);
    let isAboard = false;
    let hasArrived = false;
    return {
      nowMs: Math.max(batch.nowMs, participant?.nowMs ?? 0),
      board: async (transaction, membership, fresh) => {
        if (!batch.isShared || transaction.isFull) {
          this.#fitsEnds = false;
          return;
        }
        isAboard = true;
        batch.board(transaction, fresh);
        await participant?.board(transaction, membership, fresh);
      },
      arrive: () => {
        if (!isAboard) return;
        hasArrived = true;
        batch.answer();
        participant?.arrive();
      },
      leave: (fault) => {
        if (!hasArrived && isAboard && fault !== undefined) batch.fail(fault);
        else if (!hasArrived) {
          this.#plain = batch.items.concat(this.#plain);
          this.#running ??= this.#run();
        }
        participant?.leave();
      },
    };
  }

  /** Resolves once nothing is on its way. */
  async idle(): Promise<void> {
    await this.#running;
  }

  #prepare(entry: JobEntry, nowMs: number, answers: BatchAnswers<Added>, place: number): void {
    const lane = this.#context.lanes.own[entry.lane]!; // entries are resolved against the queue's lanes
    const besideBytes = sizeBeside(entry);
    let payload: string | undefined;
    let size: number;
    try {
      payload = JSON.stringify(entry.payload);
      size = sizeOf(payload, besideBytes);
      checkEntry(entry, size);
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new TypeError(String(thrown));
      answers.answer(place, { id: "", duplicate: false, error });
      return;
    }
    const apart = size + besideBytes > LARGEST_INLINE ? size : 0;
    const atMs = Math.floor(nowMs);
    const isDelayed = entry.dueAtMs > nowMs;
    const item = { lane, entry, payload, apart, atMs, isDelayed, answers, place };
    const isLimited = entry.key !== undefined && lane.maxRunningPerKey < Infinity;
    const isNamed = entry.dedupeKey !== undefined || entry.idempotency !== undefined;
    if (!isLimited && apart === 0 && !isNamed && entry.precondition === undefined) {
      this.#plain.push(item);
    } else this.#careful.push(item);
  }

  async #run(): Promise<void> {
    await null; // what is added in this turn of the event loop goes together,
    await null; // and what the pool then asks for
    while (this.#plain.length + this.#careful.length > 0) {
      if (this.#plain.length > 0) await this.#addPlain();
      if (this.#careful.length > 0) {
        const careful = this.#careful;
        this.#careful = [];
        await addConditionally(this.#context, careful);
      }
    }
    this.#running = undefined;
  }

  /** Asks the pool for what it wants of all that waits, once what was added before is answered. */
  async #ask(): Promise<void> {
    const { listener, member } = this.#context;
    if (listener.adding === undefined || member.untold) return;
    await delay(0);
    this.isAsking = true;
    listener.adding();
    await null; // its turn is next
    await null;
    this.isAsking = false;
  }

  async #addPlain(): Promise<void> {
    const { db, member, commits } = this.#context;
    if (!db.isSerial) await this.#ask();
    const isSmall = db.isSerial && member.alone && this.#plain.length <= MOST_SMALL;
    if (!isSmall) return await this.#addAlone();
    await commits.run(async () => {
      if (this.#plain.length === 0) return; // they went along with ends
      if (this.#fitsEnds && this.#endsWait()) return; // theirs is the next turn
      this.#fitsEnds = true;
      await this.#addAlone();
    });
  }

  async #addAlone(): Promise<void> {
    const { batch, participant } = this.#take(MOST_JOBS);
    try {
      const rides = batch.isShared && await this.#commit(batch, participant);
      if (rides || await this.#commit(batch)) {
        batch.answer();
        if (rides) participant?.arrive();
      } else this.#plain = batch.items.concat(this.#plain); // too large: the next one takes less
    } catch (thrown) {
      if (thrown instanceof TooLarge && batch.items.length > 1) {
        this.#plain = batch.items.concat(this.#plain);
      } else batch.fail(thrown);
    } finally {
      participant?.leave();
    }
  }

  /** Puts jobs down. False: the participant cannot go with them, and nothing was changed. */
  async #commit(batch: AddBatch, participant?: CommitParticipant): Promise<boolean> {
    const { membership } = this.#context.member;
    const transaction = new Transaction(
      this.#context,
      Math.max(batch.nowMs, participant?.nowMs ?? 0),
    );
    const fresh = new Set<FreshPart>();
    batch.board(transaction, fresh);
    if (participant !== undefined) {
      transaction.check(membership.fence);
      try {
        await participant.board(transaction, membership, fresh);
      } catch {
        return false; // made alone, it tells of its fault itself
      }
    }
    for (const { key, value } of fresh) transaction.setBytes(key, value);
    if (!this.#context.db.isSerial) transaction.signals = transaction.adds; // others find nothing
    return await transaction.commit(); // without a participant nothing is checked
  }

  /** Takes the first jobs that wait, and the participant. */
  #take(
    most: number,
  ): { readonly batch: AddBatch; readonly participant: CommitParticipant | undefined } {
    const batch = new AddBatch(this.#context, this.#plain.slice(0, most));
    this.#plain = this.#plain.slice(batch.items.length);
    const participant = this.#participant;
    this.#participant = undefined;
    return { batch, participant };
  }
}

/** What an entry is answered that the database did not take, though it took others of its call. */
function unstored(thrown: unknown): Added {
  return { id: "", duplicate: false, error: new StoreError(thrown) };
}

/** Bytes of a payload's JSON. Counted only where it may matter. */
function sizeOf(payload: string | undefined, besideBytes: number): number {
  if (payload === undefined) return 0;
  const isSmall = payload.length * 3 + besideBytes <= LARGEST_INLINE;
  return isSmall ? payload.length : byteLength(payload);
}

/** Bytes of the texts beside a payload in its job's line, no fewer than there are. */
function sizeBeside(entry: JobEntry): number {
  const { key = "", dedupeKey = "", traceparent = "", idempotency } = entry;
  const { key: name, fingerprint = "" } = idempotency ?? { key: "" };
  const texts = [key, dedupeKey, traceparent, name, fingerprint];
  return texts.reduce((sum, text) => sum + 6 * text.length, 0); // "\\u0001" is one character
}

/** @throws {RangeError} If the database could not take it. */
function checkEntry({ key, dedupeKey, idempotency }: JobEntry, payloadBytes: number): void {
  if (payloadBytes > LARGEST_PAYLOAD) {
    throw new RangeError(
      `Expected a payload of at most ${LARGEST_PAYLOAD} bytes as JSON but received ${payloadBytes}: ` +
        "store it elsewhere and enqueue its address",
    );
  }
  if (key !== undefined) checkKey("key", key);
  if (dedupeKey !== undefined) checkKey("dedupeKey", dedupeKey);
  if (idempotency !== undefined) checkKey("an idempotency key", idempotency.key);
}

function checkKey(name: string, value: string): void {
  const size = textSize(value);
  if (size <= LARGEST_KEY) return;
  throw new RangeError(`Expected ${name} of at most ${LARGEST_KEY} bytes but received ${size}`);
}
