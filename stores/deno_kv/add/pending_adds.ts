/**
 * Jobs on their way into the database. Those of one lane that are committed together share a key.
 *
 * @module
 */

import { StoreError } from "../../../src/contract/errors.ts";
import { replaces } from "../../../src/base/dedupe.ts";
import { delay } from "../../../src/base/async.ts";
import type { Added, JobEntry } from "../../../src/contract/store.ts";
import { addConditionally, type Item } from "./conditional_add.ts";
import { LARGEST_INLINE, LARGEST_PAYLOAD } from "./chunks.ts";
import { byteLength } from "../record/codec.ts";
import type { QueueContext } from "../context.ts";
import { textSize } from "../record/keys.ts";
import { AddBatch } from "./add_batch.ts";
import type { CommitParticipant, CommitSource } from "../commit_participant.ts";
import { BatchAnswers } from "./batch_answers.ts";

/** Largest `key`, `dedupeKey` or idempotency key, bytes in a key of the database. */
const LARGEST_KEY = 1500;

/** Largest payload that replaces another: both go into one commit. */
const LARGEST_REPLACING = 500_000;

/** Most jobs of one commit. */
const MOST_JOBS = 5000;

/** Adds for one queue. */
export class PendingAdds implements CommitSource {
  /** Over a network: true while it asks who wants what it is about to add. */
  isAsking = false;
  readonly #context: QueueContext;
  #plain: Item[] = [];
  #careful: Item[] = [];
  #adding: Promise<void> | undefined;

  /** Adds for one queue. */
  constructor(context: QueueContext) {
    this.#context = context;
  }

  /** Jobs that wait for a commit that needs no look first. */
  get waiting(): number {
    return this.#plain.length;
  }

  /** Takes in jobs. An entry that cannot be stored is answered with an error and fails no other. */
  add(entries: readonly JobEntry[], nowMs: number): Promise<readonly Added[]> {
    const answers = new BatchAnswers<Added>(entries.length, unstored);
    for (let place = 0; place < entries.length; place++) {
      this.#prepare(entries[place]!, nowMs, answers, place);
    }
    this.#startCareful();
    return answers.promise;
  }

  /** Takes in one that is to replace the payload of another, or nothing. An empty id: it replaces none. */
  async repeat(entry: JobEntry, nowMs: number): Promise<Added> {
    const answers = new BatchAnswers<Added>(1, unstored);
    this.#prepare(entry, nowMs, answers, 0, true);
    this.#startCareful();
    return (await answers.promise)[0]!;
  }

  /** The first that wait. */
  take(): CommitParticipant | undefined {
    if (this.#plain.length === 0) return undefined;
    const batch = new AddBatch(this.#context, this.#plain.slice(0, MOST_JOBS), (items) => {
      this.#plain = items.concat(this.#plain);
    });
    this.#plain = this.#plain.slice(batch.items.length);
    return batch;
  }

  /** Asks the pool for what it wants of all that waits, once what was added before is answered. */
  async ask(): Promise<void> {
    const { listener, member } = this.#context;
    if (listener.adding === undefined || member.untold) return;
    await delay(0);
    this.isAsking = true;
    listener.adding();
    await null; // its turn is next
    await null;
    this.isAsking = false;
  }

  /** Resolves once nothing is on its way that needs a look first. */
  async idle(): Promise<void> {
    await this.#adding;
  }

  #prepare(
    entry: JobEntry,
    nowMs: number,
    answers: BatchAnswers<Added>,
    place: number,
    isLook = false,
  ): void {
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
    const item: Item = {
      lane,
      entry,
      payload,
      bytes: size,
      apart,
      atMs,
      isDelayed,
      isLook,
      answers,
      place,
    };
    const isLimited = entry.key !== undefined && lane.maxRunningPerKey < Infinity;
    const isNamed = entry.dedupeKey !== undefined || entry.idempotency !== undefined;
    if (!isLimited && apart === 0 && !isNamed && entry.precondition === undefined) {
      this.#plain.push(item);
    } else this.#careful.push(item);
  }

  #startCareful(): void {
    if (this.#careful.length > 0) this.#adding ??= this.#addCareful();
  }

  async #addCareful(): Promise<void> {
    await null; // what is added in this turn of the event loop goes together
    while (this.#careful.length > 0) await addConditionally(this.#context, this.#careful.splice(0));
    this.#adding = undefined;
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
function checkEntry(entry: JobEntry, payloadBytes: number): void {
  const { key, dedupeKey, idempotency } = entry;
  if (payloadBytes > LARGEST_REPLACING && replaces(entry)) {
    throw new RangeError(
      `Expected a payload of at most ${LARGEST_REPLACING} bytes as JSON, because its lane replaces ` +
        `payloads of one dedupeKey, but received ${payloadBytes}`,
    );
  }
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
