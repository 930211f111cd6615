/**
 * Jobs that are stored together: those of one lane with the same due time share parts.
 *
 * @module
 */

import { failItem, type Item } from "./conditional_add.ts";
import { byteLength, encode, lineOf } from "../record/codec.ts";
import type { QueueContext } from "../context.ts";
import { KvAdded } from "../record/job.ts";
import { keySize } from "../record/keys.ts";
import type { KvLane } from "../record/lanes.ts";
import type { CommitParticipant, FreshPart } from "../commit_participant.ts";
import { TooLarge } from "../io/atomic_operation.ts";
import { PART_LINES, type Transaction } from "../transaction.ts";

/** Most bytes of one commit's lines. */
const MOST_BYTES = 450_000;

/** Most bytes of a part with several lines. */
const PART_BYTES = 32_000;

/** Most parts of one commit. */
const MOST_PARTS = 400;

/** Most bytes of the keys of one commit's parts, those of the counters of their lanes included. */
const MOST_KEY_BYTES = 60_000;

/** More parts than this, or bytes, and nothing else goes with them: together they stay below the limits. */
const MOST_SHARED_PARTS = 50;
const MOST_SHARED_BYTES = 100_000;
const MOST_SHARED_KEY_BYTES = 10_000;

interface Part {
  readonly lane: KvLane;
  readonly segment: string;
  readonly dueMs: number;
  readonly delayMs: number;
  readonly lines: string[];
  size: number;
  expiresAtMs: number;
}

/** The first of some jobs, as many as fit into a commit. */
export class AddBatch implements CommitParticipant {
  /** When they were given. */
  readonly nowMs: number;
  /** The jobs. */
  readonly items: Item[];
  /** The commit depends on nothing: it adds only. */
  readonly membership = undefined;
  readonly usesKeys = false;
  readonly #context: QueueContext;
  readonly #waitAgain: (items: Item[]) => void;
  readonly #open = new Map<string, Part>();
  readonly #parts: Part[] = [];
  readonly #added: KvAdded[] = [];
  #bytes = 0;
  #keyBytes = 0;

  /** Packs jobs; not empty. `waitAgain` takes them back if nothing comes of the commit. */
  constructor(
    context: QueueContext,
    items: readonly Item[],
    waitAgain: (items: Item[]) => void,
  ) {
    this.#context = context;
    this.#waitAgain = waitAgain;
    this.nowMs = items[0]!.atMs; // all that are due at once become claimable together
    const { share } = context.db.allowance;
    for (const item of items) {
      const isFull = this.#parts.length >= share * MOST_PARTS ||
        this.#bytes >= share * MOST_BYTES ||
        this.#keyBytes >= share * MOST_KEY_BYTES;
      if (isFull && this.#added.length > 0) break;
      this.#pack(item);
    }
    this.items = items.slice(0, this.#added.length);
  }

  /** True if something else may go with them. */
  get isShared(): boolean {
    return this.#parts.length < MOST_SHARED_PARTS && this.#bytes < MOST_SHARED_BYTES &&
      this.#keyBytes < MOST_SHARED_KEY_BYTES;
  }

  /** Puts the jobs down; adds to `fresh` what is ready. */
  board(transaction: Transaction, fresh: Set<FreshPart>): boolean {
    if (transaction.isFull) return false;
    const { keys } = this.#context;
    for (const { lane, segment, dueMs, delayMs, expiresAtMs, lines } of this.#parts) {
      const space = delayMs > 0 ? "z" : "r";
      const place = { ordinal: lane.ordinal, dueMs, segment, first: 0, expiresAtMs };
      const key = keys.part(space, place);
      const value = encode(lines.join("\n"));
      transaction.count(lane.ordinal, space, lines.length, dueMs);
      if (delayMs > 0) transaction.setBytes(key, value);
      else {
        transaction.reserve(key, value.length);
        fresh.add({ key, value, versionstamp: null });
      }
    }
    transaction.signals = true;
    return true;
  }

  /** Tells that they are stored. */
  made(): void {
    for (const [index, { answers, place }] of this.items.entries()) {
      answers.answer(place, this.#added[index]!);
    }
  }

  /** They wait again. */
  back(): void {
    this.#waitAgain(this.items);
  }

  /** Tells that they are not stored. */
  fail(thrown: unknown): void {
    if (thrown instanceof TooLarge && this.items.length > 1) return this.back();
    for (const item of this.items) failItem(item, thrown);
  }

  #pack(item: Item): void {
    const line = lineOf(item.entry, item.payload);
    const size = byteLength(line) + 1;
    const part = this.#partFor(item, size);
    const { total } = this.#context.completions;
    this.#added.push(
      new KvAdded(part.segment, item.lane.ordinal, part.lines.length, part.delayMs, total),
    );
    part.lines.push(line);
    part.size += size;
    this.#bytes += size;
    const { expiresAtMs } = item.entry;
    if (expiresAtMs === Infinity) return;
    part.expiresAtMs = Math.min(part.expiresAtMs || Infinity, Math.ceil(expiresAtMs));
  }

  /** The part that a job goes into: jobs of one lane with the same due time share one. */
  #partFor({ lane, entry, isDelayed }: Item, size: number): Part {
    const { nowMs } = this;
    const dueMs = Math.ceil(entry.dueAtMs);
    const name = `${lane.ordinal}/${isDelayed ? dueMs : ""}`;
    const known = this.#open.get(name);
    if (
      known !== undefined && known.lines.length < PART_LINES &&
      known.size + size < PART_BYTES
    ) return known;
    const part: Part = {
      lane,
      segment: this.#context.member.membership.names.next(nowMs),
      dueMs: isDelayed ? dueMs : nowMs,
      delayMs: isDelayed ? dueMs - nowMs : 0,
      lines: [],
      size: 0,
      expiresAtMs: 0,
    };
    this.#open.set(name, part);
    this.#parts.push(part);
    const { keys } = this.#context;
    const { dueMs: due, segment } = part;
    const place = { ordinal: lane.ordinal, dueMs: due, segment, first: 0, expiresAtMs: 0 };
    this.#keyBytes += 2 * keySize(keys.part("r", place)); // more than that of a counter
    return part;
  }
}
