/**
 * Reads the counts: one list of counters, and the head of each lane. Only when something may have
 * changed, so that a pool may ask at each tick.
 *
 * @module
 */

import type { LaneCounts } from "../../../src/contract/store.ts";
import type { Bytes } from "../record/codec.ts";
import type { QueueContext } from "../context.ts";
import {
  type CounterSums,
  countIn,
  type CountsReading,
  type LiveCounts,
  NO_VERSIONS,
  noSums,
} from "./counts.ts";
import { OldestBlocked } from "./oldest_blocked.ts";
import type { LaneTable } from "../record/lanes.ts";
import { expireHead, promote } from "../claim/promote.ts";
import { recountKept, recountLane } from "../doctor/recount.ts";
import { trim } from "../end/trim.ts";

/** Counts are read again after so long even if nobody is known to have changed them, ms. */
const LONGEST_MS = 1000;

/** Commits of expired jobs of one lane and call, at most: the rest ends with the next one. */
const MOST_EXPIRIES = 20;

/** A head was there, and no counter counted it. */
const UNCOUNTED = "uncounted";

/** What is read of one lane. */
type LaneReading = Omit<CountsReading, "asOf">;

/** Counters of one lane. */
type Counters = Readonly<CounterSums> & Pick<CountsReading, "versions">;

/** Those of a lane that never had a job. */
const NOTHING: Counters = { ...noSums(), versions: NO_VERSIONS };

/** Reads for one queue. */
export class Reader {
  readonly #context: QueueContext;
  #readAtMs = -Infinity;
  #begun = 0;
  #taken = 0;
  #truth = 0; // `counts.changes` when what is known now was read
  /** Versions of the counters as they were read, by lane and space. */
  readonly #versions = new Map<string, string>();
  readonly #blocked: OldestBlocked;
  /** What the latest look at a head was made for: no head at that version of its counter, or "" without one. */
  readonly #looked = new Map<string, string>();

  /** Reads for one queue. */
  constructor(context: QueueContext) {
    this.#context = context;
    this.#blocked = new OldestBlocked(context);
  }

  /** Counts by lane, due jobs moved up: the same live objects each time. `anew`: read in any case. */
  async count(nowMs: number, anew = false): Promise<readonly LaneCounts[]> {
    const { counts, lanes, member } = this.#context;
    if (counts.doubted.size > 0) await this.#recount(nowMs);
    const isOld = !member.alone || nowMs - this.#readAtMs >= LONGEST_MS ||
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

  /** Reads all counts again. */
  async read(nowMs: number): Promise<void> {
    const { counts } = this.#context;
    const { own } = this.#context.lanes;
    const { moves, changes, news } = counts;
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
        counts.take(own[index]!.ordinal, { ...reading, asOf: news }, raced);
      }
    } finally {
      counts.readsEnd();
    }
  }

  async #readings(own: LaneTable["own"], nowMs: number): Promise<readonly LaneReading[]> {
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

  /** Counts again what was damaged. What others change meanwhile is counted again by the next call. */
  async #recount(nowMs: number): Promise<void> {
    const { counts } = this.#context;
    for (const ordinal of [...counts.doubted]) {
      counts.doubted.delete(ordinal);
      if (ordinal === -1) await recountKept(this.#context);
      else if (!await recountLane(this.#context, ordinal, nowMs)) counts.doubt(ordinal);
    }
    counts.changes++;
    counts.forgetShelves();
  }

  /** Counters by number of the lane. */
  async #tallies(): Promise<readonly (Counters | undefined)[]> {
    const { db, keys, counts } = this.#context;
    const tallies: { -readonly [Field in keyof Counters]: Counters[Field] }[] = [];
    this.#versions.clear();
    for (const { key, value, versionstamp } of await db.list({ prefix: keys.of("c") })) {
      const [ordinal, kind] = key.slice(4);
      if (typeof ordinal !== "number") continue; // it is none of ours
      const count = countIn(value);
      this.#versions.set(`${ordinal}/${String(kind)}`, versionstamp);
      if (!(value instanceof Deno.KvU64) || count < 0) counts.doubt(ordinal);
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

  async #reading(ordinal: number, tally: Counters, nowMs: number): Promise<LaneReading> {
    const { keys } = this.#context;
    const ready = await this.#headOf("r", ordinal, tally);
    const delayed = await this.#headOf("z", ordinal, tally);
    const head = ready === undefined ? undefined : keys.placeIn(ready.key);
    return {
      ...tally,
      oldestBlockedAtMs: await this.#blocked.read(ordinal, tally.q, nowMs),
      oldestReadyAtMs: Math.min(head?.dueMs ?? nowMs, nowMs),
      nextDueAtMs: delayed === undefined ? Infinity : keys.placeIn(delayed.key).dueMs,
      headExpiresAtMs: head?.expiresAtMs || Infinity, // 0: none expires
    };
  }

  /**
   * The head of a space, if its counter says that there is one. A counter that is lost, or that counts
   * what is not there, is doubted: a lane without jobs has no head to look at, as long as its counter is
   * sound.
   */
  async #headOf(
    space: "r" | "z",
    ordinal: number,
    tally: CounterSums,
  ): Promise<Deno.KvEntry<Bytes> | undefined> {
    const { counts } = this.#context;
    const name = `${ordinal}/${space}`;
    const version = this.#versions.get(name);
    const before = this.#looked.get(name);
    const isLost = version === undefined && before !== "";
    if (tally[space] <= 0 && !isLost) return undefined;
    const head = await this.#head(space, ordinal);
    // Seen once, it may be what came or was taken between the two reads.
    const isMiscounted = isLost
      ? head !== undefined && before === UNCOUNTED
      : head === undefined && before === version;
    if (isMiscounted) counts.doubt(ordinal);
    const found = version === undefined ? UNCOUNTED : "a head";
    this.#looked.set(name, head === undefined ? version ?? "" : found);
    return head;
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
    const { db, keys, counts, member } = this.#context;
    const known = space === "r" && member.alone
      ? counts.of(ordinal)?.headCache.parts[0]
      : undefined;
    if (known !== undefined) return known;
    const [head] = await db.list<Bytes>({ prefix: keys.of(space, ordinal) }, { limit: 1 });
    return head;
  }
}
