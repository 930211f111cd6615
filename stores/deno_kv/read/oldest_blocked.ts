/**
 * Since when the oldest job of a lane is due that waits for a place of its key: the records of its keys
 * tell, some of them a look.
 *
 * @module
 */

import type { Bytes } from "../record/codec.ts";
import type { QueueContext } from "../context.ts";
import { placesIn, waitingSince } from "../doctor/recount.ts";
import { textAt } from "../record/keys.ts";

/** Records of keys read by a look. */
const PAGE = 100;

/** What was read is good for so long, ms. */
const EVERY_MS = 1000;

/** Keys of a look whose queue is looked at, because an earlier release wrote their record. */
const MOST_QUEUES = 4;

interface Round {
  /** When it was looked at last. */
  atMs: number;
  /** Where the next look begins. `undefined`: at the first key. */
  start: Deno.KvKey | undefined;
  /** The oldest of this round so far. */
  leastMs: number;
  /** The oldest of the whole round before. */
  beforeMs: number;
}

/** Goes round the keys of each lane, a page a second at most: with up to 100 keys it is exact. */
export class OldestBlocked {
  readonly #context: Pick<QueueContext, "db" | "keys">;
  readonly #rounds = new Map<number, Round>();

  /** Looks for one queue. */
  constructor(context: Pick<QueueContext, "db" | "keys">) {
    this.#context = context;
  }

  /** When the oldest was due. `Infinity`: none is `blocked`, or it is not known yet. */
  async read(ordinal: number, blocked: number, nowMs: number): Promise<number> {
    if (blocked <= 0) {
      this.#rounds.delete(ordinal);
      return Infinity;
    }
    const known = this.#rounds.get(ordinal);
    const round = known ??
      { atMs: -Infinity, start: undefined, leastMs: Infinity, beforeMs: Infinity };
    if (known === undefined) this.#rounds.set(ordinal, round);
    if (Math.abs(nowMs - round.atMs) >= EVERY_MS) {
      round.atMs = nowMs;
      await this.#look(ordinal, round);
    }
    return Math.min(round.leastMs, round.beforeMs);
  }

  async #look(ordinal: number, round: Round): Promise<void> {
    const { db, keys } = this.#context;
    const prefix = keys.of("k", ordinal);
    const { start } = round;
    const selector = start === undefined ? { prefix } : { prefix, start };
    const page = await db.list<unknown>(selector, { limit: PAGE, batchSize: PAGE });
    let queues = 0;
    for (const { key, value } of page) {
      const waiting = placesIn(value)?.[1] ?? 0;
      if (waiting <= 0) continue;
      let sinceMs = waitingSince(value);
      if (sinceMs === undefined && queues++ < MOST_QUEUES) {
        const queue = keys.of("q", ordinal, textAt(key, 5));
        const [head] = await db.list<Bytes>({ prefix: queue }, { limit: 1 });
        sinceMs = head === undefined ? undefined : keys.placeIn(head.key).dueMs;
      }
      if (sinceMs !== undefined && sinceMs < round.leastMs) round.leastMs = sinceMs;
    }
    const last = page.at(-1);
    if (last !== undefined && page.length === PAGE) {
      round.start = [...last.key, 0]; // what follows it
      return;
    }
    round.start = undefined;
    round.beforeMs = round.leastMs;
    round.leastMs = Infinity;
  }
}
