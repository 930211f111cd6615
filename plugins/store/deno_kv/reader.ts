/**
 * Reads the counts: one list of counters, and the head of each lane. Only when something may have
 * changed, so that a pool may ask at each tick.
 *
 * @module
 */

import type { LaneCounts } from "../../../src/store.ts";
import type { Bytes } from "./codec.ts";
import type { QueueContext } from "./context.ts";
import {
  countIn,
  type LiveCounts,
  NO_VERSIONS,
  noTally,
  type Reading,
  type Tally,
} from "./counts.ts";
import { numberAt } from "./keys.ts";
import type { LaneTable } from "./lanes.ts";
import { expireHead, promote } from "./promote.ts";
import { trim } from "./trim.ts";

/** Counts are read anew after so long even if nobody is known to have changed them, ms. */
const LONGEST_MS = 1000;

/** Commits of expired jobs of one lane and call, at most: the rest ends with the next one. */
const MOST_EXPIRIES = 20;

/** Counters of one lane. */
type Counters = Readonly<Tally> & Pick<Reading, "versions">;

/** Those of a lane that never had a job. */
const NOTHING: Counters = { ...noTally(), versions: NO_VERSIONS };

/** Reads for one queue. */
export class Reader {
  readonly #context: QueueContext;
  #readAtMs = -Infinity;
  #begun = 0;
  #taken = 0;
  #truth = 0; // `counts.changes` when what is known now was read

  /** Reads for one queue. */
  constructor(context: QueueContext) {
    this.#context = context;
  }

  /** Counts by lane, due jobs moved up: the same live objects each time. `anew`: read in any case. */
  async count(nowMs: number, anew = false): Promise<readonly LaneCounts[]> {
    const { counts, lanes, holder } = this.#context;
    const isOld = !holder.alone || nowMs - this.#readAtMs >= LONGEST_MS ||
      nowMs < this.#readAtMs;
    if (anew || this.#truth !== counts.changes || isOld) await this.read(nowMs);
    for (const lane of lanes.own) {
      const live = counts.of(lane.ordinal);
      if (live === undefined) continue; // gone since
      if (live.nextDueAtMs <= nowMs) await promote(this.#context, lane, nowMs);
      if (live.headExpiresAtMs <= nowMs) await this.#tidyHead(live, lane.ordinal, nowMs);
    }
    await trim(this.#context, nowMs);
    if (this.#truth !== counts.changes) await this.read(nowMs);
    return counts.lanes;
  }

  /** Reads all counts anew. */
  async read(nowMs: number): Promise<void> {
    const { counts } = this.#context;
    const { own } = this.#context.lanes;
    const { moves, changes } = counts;
    const number = ++this.#begun;
    this.#readAtMs = nowMs;
    counts.readsBegin();
    try {
      const readings = await this.#readings(own, nowMs);
      if (number < this.#taken) return; // one that began later knows better
      this.#taken = number;
      const raced = counts.moves !== moves || counts.inFlight > 0;
      if (!raced) this.#truth = changes;
      for (const [index, reading] of readings.entries()) {
        counts.take(own[index]!.ordinal, reading, raced);
      }
    } finally {
      counts.readsEnd();
    }
  }

  async #readings(own: LaneTable["own"], nowMs: number): Promise<readonly Reading[]> {
    try {
      const tallies = await this.#tallies();
      return await Promise.all(
        own.map(({ ordinal }) => this.#reading(ordinal, tallies[ordinal] ?? NOTHING, nowMs)),
      );
    } catch (thrown) {
      this.#readAtMs = -Infinity; // or the next count would take what is known for what was read
      throw thrown;
    }
  }

  /** Counters by number of the lane. */
  async #tallies(): Promise<readonly (Counters | undefined)[]> {
    const { db, keys, counts } = this.#context;
    const tallies: { -readonly [Field in keyof Counters]: Counters[Field] }[] = [];
    for (
      const { key, value, versionstamp } of await db.list<Deno.KvU64>({ prefix: keys.of("c") })
    ) {
      const ordinal = numberAt(key, 4);
      const kind = key[5];
      const count = countIn(value);
      if (ordinal === -1) {
        if (kind === "d" || kind === "x") counts.kept[kind] = count;
        continue;
      }
      const tally = tallies[ordinal] ??= { ...NOTHING };
      if (kind !== "r" && kind !== "z" && kind !== "q" && kind !== "l") continue;
      tally[kind] = count;
      tally.versions = { ...tally.versions, [kind]: versionstamp };
    }
    return tallies;
  }

  async #reading(ordinal: number, tally: Counters, nowMs: number): Promise<Reading> {
    const { keys } = this.#context;
    const ready = tally.r > 0 ? await this.#head("r", ordinal) : undefined;
    const delayed = tally.z > 0 ? await this.#head("z", ordinal) : undefined;
    const head = ready === undefined ? undefined : keys.placeIn(ready.key);
    return {
      ...tally,
      oldestReadyAtMs: Math.min(head?.dueMs ?? nowMs, nowMs),
      nextDueAtMs: delayed === undefined ? Infinity : keys.placeIn(delayed.key).dueMs,
      headExpiresAtMs: head?.expiresAtMs || Infinity, // 0: none expires
    };
  }

  /** Ends expired jobs at the head of a lane. */
  async #tidyHead(live: LiveCounts, ordinal: number, nowMs: number): Promise<void> {
    live.isExpiring = true;
    try {
      for (let commits = 0; commits < MOST_EXPIRIES; commits++) {
        if (!await expireHead(this.#context, ordinal, nowMs)) return;
      }
    } finally {
      live.isExpiring = false;
    }
  }

  async #head(space: "r" | "z", ordinal: number): Promise<Deno.KvEntry<Bytes> | undefined> {
    const { db, keys, counts, holder } = this.#context;
    const known = space === "r" && holder.alone ? counts.of(ordinal)?.shelf.parts[0] : undefined;
    if (known !== undefined) return known;
    const [head] = await db.list<Bytes>({ prefix: keys.of(space, ordinal) }, { limit: 1 });
    return head;
  }
}
