/**
 * Jobs on their way into the database: one commit in flight, what gathers meanwhile goes into the
 * next. Jobs of one lane that are committed together share a key.
 *
 * @module
 */

import type { Added, JobEntry } from "../../../src/store.ts";
import { addCarefully, type Item } from "./careful.ts";
import { LARGEST_INLINE, LARGEST_PAYLOAD } from "./chunks.ts";
import { encode, lineOf } from "./codec.ts";
import type { QueueContext } from "./context.ts";
import { KvAdded } from "./job.ts";
import type { FreshPart, Rider } from "./rider.ts";
import { textSize } from "./keys.ts";
import type { KvLane } from "./lanes.ts";
import { PART_LINES, Step } from "./step.ts";
import { Ticket } from "./ticket.ts";

/** Largest `key` or `dedupeKey`, bytes in a key of the database. */
const LARGEST_KEY = 1500;

/** Most jobs of one commit. */
const MOST_JOBS = 5000;

/** Most bytes of one commit's lines. */
const MOST_BYTES = 450_000;

/** Most bytes of a part with several lines. */
const PART_BYTES = 32_000;

/** Most parts of one commit. */
const MOST_PARTS = 400;

/** More parts than this, or bytes, and no rider goes with them: together they stay below the limits. */
const MOST_RIDDEN_PARTS = 50;
const MOST_RIDDEN_BYTES = 100_000;

/** Most texts are plain: each of their characters takes one byte. */
const PLAIN = /^[ -~]*$/;

interface Part {
  readonly lane: KvLane;
  readonly segment: string;
  readonly dueMs: number;
  readonly delayMs: number;
  readonly lines: string[];
  size: number;
  expiresAtMs: number;
}

/** Adds for one queue. */
export class EnqueueLoop {
  readonly #context: QueueContext;
  #plain: Item[] = [];
  #careful: Item[] = [];
  #running: Promise<void> | undefined;
  #rider: Rider | undefined;

  /** Adds for one queue. */
  constructor(context: QueueContext) {
    this.#context = context;
  }

  /** Stores jobs. An entry that cannot be stored is answered with an error and fails no other. */
  add(entries: readonly JobEntry[], nowMs: number): Promise<readonly Added[]> {
    const ticket = new Ticket<Added>(entries.length);
    for (let place = 0; place < entries.length; place++) {
      this.#prepare(entries[place]!, nowMs, ticket, place);
    }
    if (this.#plain.length + this.#careful.length > 0) this.#running ??= this.#run();
    return ticket.promise;
  }

  /** Takes a rider along with the jobs that wait. False: there are none, or another one is taken along. */
  carry(rider: Rider): boolean {
    if (this.#plain.length === 0 || this.#rider !== undefined) return false;
    this.#rider = rider;
    return true;
  }

  /** Resolves once nothing is on its way. */
  async idle(): Promise<void> {
    await this.#running;
  }

  #prepare(entry: JobEntry, nowMs: number, ticket: Ticket<Added>, place: number): void {
    const lane = this.#context.lanes.own[entry.lane]!; // entries are resolved against the queue's lanes
    let payload: string | undefined;
    let size: number;
    try {
      payload = JSON.stringify(entry.payload);
      size = sizeOf(payload);
      checkEntry(entry, size);
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new TypeError(String(thrown));
      ticket.answer(place, { id: "", duplicate: false, error });
      return;
    }
    const apart = size > LARGEST_INLINE ? size : 0;
    const atMs = Math.floor(nowMs);
    const isDelayed = entry.dueAtMs > nowMs;
    const item = { lane, entry, payload, apart, atMs, isDelayed, ticket, place };
    const isLimited = entry.key !== undefined && lane.maxRunningPerKey < Infinity;
    const isPlain = !isLimited && apart === 0 && entry.dedupeKey === undefined;
    if (isPlain && entry.claim === undefined) this.#plain.push(item);
    else this.#careful.push(item);
  }

  async #run(): Promise<void> {
    await null; // what is added in this turn of the event loop goes together,
    await null; // and what the pool then asks for
    while (this.#plain.length + this.#careful.length > 0) {
      if (this.#plain.length > 0) await this.#addPlain();
      if (this.#careful.length > 0) {
        const careful = this.#careful;
        this.#careful = [];
        await addCarefully(this.#context, careful);
      }
    }
    this.#running = undefined;
  }

  async #addPlain(): Promise<void> {
    const batch = this.#plain.splice(0, MOST_JOBS);
    const { fates } = this.#context;
    const nowMs = batch[0]!.atMs; // all that are due at once become claimable together
    const open = new Map<string, Part>();
    const parts: Part[] = [];
    const added: KvAdded[] = [];
    let bytes = 0;
    for (const item of batch) {
      if (parts.length >= MOST_PARTS || bytes >= MOST_BYTES) break;
      const line = lineOf(item.entry, item.payload);
      const size = PLAIN.test(line) ? line.length + 1 : 3 * line.length + 1;
      const part = this.#partFor(item, size, nowMs, open, parts);
      added.push(
        new KvAdded(part.segment, item.lane.ordinal, part.lines.length, part.delayMs, fates.total),
      );
      part.lines.push(line);
      part.size += size;
      bytes += size;
      if (item.entry.expiresAtMs < Infinity) {
        part.expiresAtMs = Math.min(
          part.expiresAtMs || Infinity,
          Math.ceil(item.entry.expiresAtMs),
        );
      }
    }
    this.#plain = batch.slice(added.length).concat(this.#plain);
    const rider = this.#rider;
    this.#rider = undefined;
    try {
      const rides = parts.length < MOST_RIDDEN_PARTS && bytes < MOST_RIDDEN_BYTES &&
        await this.#commit(parts, nowMs, rider);
      if (!rides) await this.#commit(parts, nowMs);
      for (let index = 0; index < added.length; index++) {
        const { ticket, place } = batch[index]!;
        ticket.answer(place, added[index]!);
      }
      if (rides) rider?.arrive();
    } catch (thrown) {
      for (const index of added.keys()) batch[index]!.ticket.fail(thrown);
    } finally {
      rider?.leave();
    }
  }

  /** Puts parts down. False: the rider cannot go with them, and nothing was changed. */
  async #commit(parts: readonly Part[], nowMs: number, rider?: Rider): Promise<boolean> {
    const { keys, holder } = this.#context;
    const step = new Step(this.#context, Math.max(nowMs, rider?.nowMs ?? 0));
    const fresh = new Set<FreshPart>();
    for (const { lane, segment, dueMs, delayMs, expiresAtMs, lines } of parts) {
      const space = delayMs > 0 ? "z" : "r";
      const place = { ordinal: lane.ordinal, dueMs, segment, first: 0, expiresAtMs };
      const key = keys.part(space, place);
      const value = encode(lines.join("\n"));
      step.count(lane.ordinal, space, lines.length, dueMs);
      if (delayMs > 0) step.setBytes(key, value);
      else fresh.add({ key, value, versionstamp: null });
    }
    if (rider !== undefined) {
      const { term } = holder;
      step.check(term.fence);
      try {
        await rider.board(step, term, fresh);
      } catch {
        return false; // made alone, it tells of its fault itself
      }
    }
    for (const { key, value } of fresh) step.setBytes(key, value);
    step.signals = true;
    return await step.commit(); // without a rider nothing is checked: it cannot be refused
  }

  /** The part that a job goes into: jobs of one lane with the same due time share one. */
  #partFor(
    { lane, entry, isDelayed }: Item,
    size: number,
    nowMs: number,
    open: Map<string, Part>,
    parts: Part[],
  ): Part {
    const dueMs = Math.ceil(entry.dueAtMs);
    const name = `${lane.ordinal}/${isDelayed ? dueMs : ""}`;
    const known = open.get(name);
    if (
      known !== undefined && known.lines.length < PART_LINES &&
      known.size + size < PART_BYTES
    ) return known;
    const part: Part = {
      lane,
      segment: this.#context.holder.term.names.next(nowMs),
      dueMs: isDelayed ? dueMs : nowMs,
      delayMs: isDelayed ? dueMs - nowMs : 0,
      lines: [],
      size: 0,
      expiresAtMs: 0,
    };
    open.set(name, part);
    parts.push(part);
    return part;
  }
}

/** Bytes of a payload's JSON. Counted only where it may matter. */
function sizeOf(payload: string | undefined): number {
  if (payload === undefined) return 0;
  return payload.length * 3 <= LARGEST_INLINE ? payload.length : encode(payload).length;
}

/** @throws {RangeError} If the database could not take it. */
function checkEntry({ key, dedupeKey }: JobEntry, payloadBytes: number): void {
  if (payloadBytes > LARGEST_PAYLOAD) {
    throw new RangeError(
      `Expected a payload of at most ${LARGEST_PAYLOAD} bytes as JSON but received ${payloadBytes}: ` +
        "store it elsewhere and enqueue where it is",
    );
  }
  for (const [name, value] of [["key", key], ["dedupeKey", dedupeKey]] as const) {
    const size = value === undefined ? 0 : textSize(value);
    if (size <= LARGEST_KEY) continue;
    throw new RangeError(`Expected ${name} of at most ${LARGEST_KEY} bytes but received ${size}`);
  }
}
