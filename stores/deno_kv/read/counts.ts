/**
 * What this process knows of the counts: live objects, moved by own commits, read again from time to time.
 *
 * @module
 */

import type { LaneCounts } from "../../../src/contract/store.ts";
import type { Bytes } from "../record/codec.ts";
import { type Counted, numberAt, type Space } from "../record/keys.ts";
import { HeadCache } from "../claim/head_cache.ts";

/** How many more jobs there are of each kind, by a commit. */
export type CounterSums = { -readonly [Kind in Counted]: number };

/** Counts as they were read. */
export interface CountsReading extends Readonly<CounterSums> {
  /** Version of each counter: which commits it holds. Empty: there is no such counter yet. */
  readonly versions: Readonly<Record<Counted, string>>;
  /** When the oldest ready job became claimable. */
  readonly oldestReadyAtMs: number;
  /** When the oldest blocked job was due. */
  readonly oldestBlockedAtMs: number;
  /** When the next delayed job is due. */
  readonly nextDueAtMs: number;
  /** When a job at the head may have expired. */
  readonly headExpiresAtMs: number;
  /** How often others had put something down before. */
  readonly asOf: number;
}

/** What a counter of the database says. It may have gone below 0. 0 where something else is in its place. */
export function countIn(counter: unknown): number {
  return counter instanceof Deno.KvU64 ? Number(BigInt.asIntN(64, counter.value)) : 0;
}

/** No change. */
export function noSums(): CounterSums {
  return { r: 0, z: 0, q: 0, l: 0 };
}

/** Version of a counter that there is not yet: it holds no commit. */
export const NO_VERSIONS: Readonly<Record<Counted, string>> = { r: "", z: "", q: "", l: "" };

/** An own commit, by what it changed. */
interface Move {
  readonly version: string;
  readonly tallies: ReadonlyMap<number, Readonly<CounterSums>>;
}

/** Counts of one lane. */
export class LiveCounts implements LaneCounts {
  blocked = 0;
  /** When the oldest of those was due. `Infinity` while it is not known. */
  oldestBlockedAtMs = Infinity;
  delayed = 0;
  nextDueAtMs = Infinity;
  /** Ready jobs that nobody has leased. */
  free = 0;
  /** Those of them that own claims under way take. */
  taking = 0;
  /** When the oldest of them became claimable. */
  headAtMs = Infinity;
  /** Leases of anyone. */
  leased = 0;
  /** When a job at the head of the lane may have expired. `Infinity`: none does. */
  headExpiresAtMs = Infinity;
  /** True while jobs at its head that have expired are ended: a claim leaves that to the one that does it. */
  isExpiring = false;
  /** The first of its ready jobs. */
  readonly headCache = new HeadCache();
  /** Of the counters that were read last. */
  #versions = NO_VERSIONS;

  get ready(): number {
    return this.free;
  }

  get running(): number {
    return this.leased;
  }

  get oldestReadyAtMs(): number {
    return this.free === 0 ? Infinity : this.headCache.dueMs(0) ?? this.headAtMs;
  }

  /** When the ready job with this many others before it became claimable. `undefined`: it is not known. */
  readyAtMs(earlier: number): number | undefined {
    return this.headCache.dueMs(earlier);
  }

  /** Jobs due at `dueMs`, the oldest there were, are leased: what is left is no older. */
  leasedAt(dueMs: number): void {
    if (this.free > 0 && dueMs > this.headAtMs) this.headAtMs = dueMs;
  }

  /** Takes over what was read. `raced`: own commits went on meanwhile, so no time is given up that was known. */
  take(reading: CountsReading, raced: boolean): void {
    this.free = Math.max(0, reading.r);
    this.blocked = Math.max(0, reading.q);
    this.delayed = Math.max(0, reading.z);
    this.leased = Math.max(0, reading.l);
    this.#versions = reading.versions;
    this.headAtMs = this.free === 0 ? Infinity : reading.oldestReadyAtMs;
    this.nextDueAtMs = raced
      ? Math.min(reading.nextDueAtMs, this.nextDueAtMs)
      : reading.nextDueAtMs;
    this.headExpiresAtMs = reading.headExpiresAtMs;
    this.oldestBlockedAtMs = reading.oldestBlockedAtMs;
    if (this.free === 0) this.headCache.clear(reading.asOf);
  }

  /** Moves by an own commit, unless what was read holds it already. */
  move({ r, z, q, l }: Readonly<CounterSums>, version: string): void {
    const seen = this.#versions;
    if (version > seen.r) this.free = Math.max(0, this.free + r);
    if (version > seen.q) this.blocked = Math.max(0, this.blocked + q);
    if (version > seen.z) this.delayed = Math.max(0, this.delayed + z);
    if (version > seen.l) this.leased = Math.max(0, this.leased + l);
    if (this.free === 0) this.headAtMs = Infinity;
    if (this.delayed === 0) this.nextDueAtMs = Infinity;
    if (this.blocked === 0) this.oldestBlockedAtMs = Infinity;
  }

  /** Notes when jobs that an own commit put down became or become claimable. */
  sees(space: Space, dueMs: number): void {
    if (space === "r") this.headAtMs = Math.min(this.headAtMs, dueMs);
    if (space === "q") this.oldestBlockedAtMs = Math.min(this.oldestBlockedAtMs, dueMs);
    if (space === "z") this.nextDueAtMs = Math.min(this.nextDueAtMs, dueMs);
  }
}

/** Counts of all lanes of a queue. */
export class Counts {
  /** How often something changed: what was read before the last change is no longer true. */
  changes = 1;
  /** How often others are known to have put something down. */
  news = 0;
  /** Own commits so far. */
  moves = 0;
  /** Own commits that have not been answered. */
  inFlight = 0;
  /** Done and dead jobs that are kept, whole pool. */
  readonly kept: { d: number; x: number } = { d: 0, x: 0 };
  /** When the oldest kept job may have been kept long enough. */
  nextTrimAtMs = -Infinity;
  /** Numbers of lanes, or -1 for what is kept, whose counts may be wrong, because something of them was damaged. */
  readonly doubted = new Set<number>();
  /** Until then others drop what is kept and more than enough. */
  trimsAgainAtMs = -Infinity;
  #reads = 0; // under way
  #recent: Move[] = []; // own commits since the first of them began
  #lanes: readonly LiveCounts[] = [];
  #byOrdinal: readonly (LiveCounts | undefined)[] = [];

  /** Begins with nothing known. `ordinals`: numbers of the lanes, by index. */
  constructor(ordinals: readonly number[]) {
    this.adopt(ordinals);
  }

  /** By index of the lane. */
  get lanes(): readonly LiveCounts[] {
    return this.#lanes;
  }

  /** A part of the ready jobs was put down, or taken away: that is known without reading. */
  shelve(key: Deno.KvKey, value: Bytes | undefined, versionstamp: string): void {
    const headCache = this.of(numberAt(key, 4))?.headCache;
    if (value === undefined) headCache?.drop(key);
    else headCache?.put({ key, value, versionstamp });
  }

  /** The counts of a lane are to be looked at: something in it was damaged. */
  doubt(ordinal: number): void {
    this.doubted.add(ordinal);
  }

  /** True if others may have put down more in a lane than what is known of it. */
  isOutdated({ asOf }: HeadCache): boolean {
    return asOf < this.news;
  }

  /** True if nothing is ready in a lane, as far as known, but what is being leased. */
  isEmpty(ordinal: number): boolean {
    const live = this.of(ordinal);
    return live !== undefined && live.free <= live.taking && !this.isOutdated(live.headCache);
  }

  /** Others may have changed what is ready. */
  forgetShelves(): void {
    for (const { headCache } of this.#lanes) headCache.forget();
  }

  /** An own commit was made. */
  moved(tallies: ReadonlyMap<number, Readonly<CounterSums>>, version: string): void {
    this.moves++;
    for (const [ordinal, tally] of tallies) this.of(ordinal)?.move(tally, version);
    if (this.#reads > 0) this.#recent.push({ version, tallies });
  }

  /** Parts were leased, the oldest there were. */
  leased(parts: readonly { readonly ordinal: number; readonly dueMs: number }[]): void {
    for (const { ordinal, dueMs } of parts) this.of(ordinal)?.leasedAt(dueMs);
  }

  /** The counters are read from now on, until `readsEnd`. */
  readsBegin(): void {
    this.#reads++;
  }

  /** They have been read, and taken over. */
  readsEnd(): void {
    if (--this.#reads === 0) this.#recent = [];
  }

  /** Takes over what was read of a lane, and adds own commits since that it does not hold. */
  take(ordinal: number, reading: CountsReading, raced: boolean): void {
    const sum = { r: reading.r, z: reading.z, q: reading.q, l: reading.l };
    for (const { version, tallies } of this.#recent) {
      const tally = tallies.get(ordinal);
      if (tally === undefined) continue;
      for (const kind of ["r", "z", "q", "l"] as const) {
        if (version > reading.versions[kind]) sum[kind] += tally[kind];
      }
    }
    this.of(ordinal)?.take({ ...reading, ...sum }, raced);
  }

  /** Has other lanes, or another order of them, from now on: what is known of a lane stays known. */
  adopt(ordinals: readonly number[]): void {
    const byOrdinal: (LiveCounts | undefined)[] = [];
    this.#lanes = ordinals.map((ordinal) =>
      byOrdinal[ordinal] = this.#byOrdinal[ordinal] ?? new LiveCounts()
    );
    this.#byOrdinal = byOrdinal;
    this.changes++;
  }

  /** True if delayed jobs of a lane are to be moved up. */
  isDue(ordinal: number, nowMs: number): boolean {
    return (this.of(ordinal)?.nextDueAtMs ?? Infinity) <= nowMs;
  }

  /** Counts of a lane by its number. `undefined`: this queue does not have it. */
  of(ordinal: number): LiveCounts | undefined {
    return this.#byOrdinal[ordinal];
  }
}
