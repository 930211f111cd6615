/**
 * What the store knows of the circuit breakers of a pool, or of a named downstream: until when its
 * receiver asked to be left alone, for processes that start later, and who was closed by hand, for all.
 *
 * @module
 */

import type { BreakerCause } from "../contract/view.ts";
import type { CircuitBreaker } from "./breaker.ts";
import { type RecordDraft, RecordLooks } from "./record_looks.ts";
import type { StateEntry, Store } from "../contract/store.ts";
import { StoreError } from "../contract/errors.ts";
import type { Wall } from "../time/wall.ts";

/** An opening that is over sooner is not worth a commit, ms. */
const LEAST_MS = 1000;

/** Between two looks, ms, at least; after one that failed; until one is given up. */
const LOOK_MS = 50;
const FAILED_MS = 1000;
const PATIENCE_MS = 15_000;

/** For how long the record says that a breaker was closed by hand, ms. */
const TOLD_MS = 600_000;

/** Most that a record holds, by the length of its keys with this much for each: a value has 64 KiB. */
const ROOM = 20_000;
const ENTRY_ROOM = 100;

/** A breaker in the record. */
interface Entry {
  /** The key whose jobs it is about. Absent: all of the pool's, or of the downstream's. */
  readonly key?: string;
  /** No attempt starts before, by the wall clock. 0: it is closed. */
  readonly untilMs: number;
  /** Why it opened. */
  readonly cause: BreakerCause;
  /** Which of the closings by hand was its last. */
  readonly closing?: number;
  /** When that was, by the wall clock. */
  readonly closedAtMs?: number;
}

/** The record. */
interface Breakers {
  /** How many closings by hand there were. */
  readonly closings: number;
  readonly entries: readonly Entry[];
}

/** What is to be written of one breaker. */
interface Change extends Pick<Entry, "untilMs" | "cause"> {
  readonly key: string | undefined;
  readonly byHand: boolean;
  /** Whether the record had it open before. */
  wasOpen: boolean;
}

/** What others have said of a breaker. */
export interface OpenElsewhere extends Pick<Entry, "cause"> {
  readonly key: string | undefined;
  /** No attempt starts before, in the clock's time. */
  readonly untilMs: number;
}

/** What a record needs of those whose breakers it is about. */
export interface BreakerRecordContext {
  /** Where it is. */
  readonly store: Store;
  /** The clock. */
  readonly now: () => number;
  /** The wall clock beside it. */
  readonly wall: Wall;
  /** True: what others are refused counts here too. False: at the start only, and not what failed there. */
  readonly hears: boolean;
  /** A receiver has asked others to leave it alone, now or before this process started. */
  heard(open: OpenElsewhere, nowMs: number): void;
  /** Someone has closed it by hand, in another process. */
  closedByHand(key: string | undefined, nowMs: number): void;
  /** Something is left to write: asks for a turn. */
  told(): void;
}

/** Keeps the record of one pool or downstream. A pool whose breakers stay closed writes nothing. */
export class BreakerRecord {
  readonly #context: BreakerRecordContext;
  readonly #looks: RecordLooks;
  readonly #changes = new Map<string, Change>(); // not in the store yet
  readonly #known = new Map<string, number>(); // until when each is open by the record
  #closings: number | undefined; // of which it has heard; `undefined`: it has not read the record
  #lookedAtMs = -Infinity;
  #lookAtMs = -Infinity;
  #woken = false;
  #isBehind = false; // the record may have changed since, while nothing was open here
  #isHearing = false;

  /** Knows nothing yet. @param key Of the record. */
  constructor(key: string, context: BreakerRecordContext) {
    this.#context = context;
    this.#looks = new RecordLooks(context.store, key);
  }

  /** Reads it, before anything starts. A store that fails is asked again later. */
  async join(): Promise<void> {
    if (this.#closings === undefined && !this.#looks.isOpen) this.#look(this.#context.now());
    await this.#looks.answer;
  }

  /** A breaker has opened, opened again, or closed. */
  changed({ key, untilMs, cause }: CircuitBreaker): void {
    if (this.#isHearing) return;
    const { now, wall } = this.#context;
    const id = idOf(key);
    const before = this.#changes.get(id);
    const byHand = before?.byHand ?? false;
    if (untilMs >= now() + LEAST_MS) {
      this.#changes.set(id, { key, untilMs: wall.at(untilMs), cause, byHand, wasOpen: false });
    } else if (untilMs === -Infinity && (before !== undefined || this.#known.has(id))) {
      this.#changes.set(id, { key, untilMs: 0, cause, byHand, wasOpen: false });
    }
  }

  /**
   * Closes a breaker in all other processes.
   *
   * @returns True if it was open by the record.
   * @throws {StoreError} If the store fails: others hear of it once it works again.
   */
  async closeByHand(key: string | undefined): Promise<boolean> {
    const cause = "overloaded"; // of one that is closed it says nothing
    const change: Change = { key, untilMs: 0, cause, byHand: true, wasOpen: false };
    this.#changes.set(idOf(key), change);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#look(this.#context.now(), resolve);
    if (!await promise) {
      throw new StoreError(undefined, "The store could not tell other processes of it");
    }
    return change.wasOpen;
  }

  /** Others have changed something. @param matters False: it says nothing to breakers that are closed. */
  wake(matters: boolean): void {
    if (matters || this.#context.hears) this.#woken = true;
    else this.#isBehind = true;
  }

  /** Looks at the record if it is time to. */
  attend(nowMs: number): void {
    if (nowMs >= this.nextAtMs()) this.#look(nowMs);
  }

  /** When to attend next. `Infinity`: when something happens. */
  nextAtMs(): number {
    const isIdle = !this.#woken && this.#changes.size === 0 && this.#closings !== undefined;
    if (isIdle) return Infinity;
    return this.#looks.isOpen ? this.#lookedAtMs + PATIENCE_MS : this.#lookAtMs;
  }

  #look(nowMs: number, ended?: (ok: boolean) => void): void {
    this.#woken = false;
    this.#lookedAtMs = nowMs;
    this.#lookAtMs = nowMs + LOOK_MS;
    this.#looks.look((entry) => this.#draft(breakersIn(entry)), (ok) => {
      if (!ok) {
        this.#woken = true;
        this.#lookAtMs = this.#context.now() + FAILED_MS;
      }
      if (this.#woken || this.#changes.size > 0) this.#context.told();
      ended?.(ok);
    });
  }

  #draft(record: Breakers): RecordDraft | undefined {
    const { now, wall } = this.#context;
    const nowMs = now();
    this.#hear(record, nowMs);
    const changes = new Map(this.#changes);
    const entries = new Map(record.entries.map((entry) => [idOf(entry.key), entry]));
    let { closings } = record;
    let isSame = true;
    for (const [id, change] of changes) {
      const { byHand, key, untilMs, cause } = change;
      const before = entries.get(id);
      change.wasOpen = before !== undefined && before.untilMs > wall.at(nowMs);
      if (!byHand && untilMs === (before?.untilMs ?? 0)) continue;
      isSame = false;
      const closing = byHand ? { closing: ++closings, closedAtMs: wall.at(nowMs) } : {};
      const own = key === undefined ? {} : { key };
      entries.set(id, { ...own, ...before, untilMs, cause, ...closing });
    }
    const value = { closings, entries: worthKeeping([...entries.values()], wall.at(nowMs)) };
    if (!isSame) return { value, answered: (ok) => ok && this.#written(changes, value) };
    this.#written(changes, record);
    return undefined;
  }

  /** Follows what others have written. */
  #hear({ closings, entries }: Breakers, nowMs: number): void {
    const { wall, hears } = this.#context;
    const isFirst = this.#closings === undefined;
    const heardOf = isFirst || this.#isBehind ? closings : this.#closings!; // set, since it is not the first
    this.#isHearing = true;
    for (const { key, untilMs, cause, closing = 0 } of entries) {
      const id = idOf(key);
      if (closing > heardOf) {
        if (!this.#changes.get(id)?.byHand) this.#changes.delete(id);
        this.#context.closedByHand(key, nowMs);
      }
      const isNews = untilMs !== this.#known.get(id) && !this.#changes.has(id);
      if (!isNews || untilMs <= wall.at(nowMs)) continue;
      const counts = hears || (isFirst && cause !== "failures");
      if (counts) this.#context.heard({ key, untilMs: wall.clockMs(untilMs), cause }, nowMs);
    }
    this.#isHearing = this.#isBehind = false;
    this.#knows(closings, entries);
  }

  #written(changes: ReadonlyMap<string, Change>, { closings, entries }: Breakers): void {
    for (const [id, change] of changes) {
      if (this.#changes.get(id) === change) this.#changes.delete(id);
    }
    this.#knows(closings, entries);
  }

  #knows(closings: number, entries: readonly Entry[]): void {
    this.#closings = closings;
    this.#known.clear();
    for (const { key, untilMs } of entries) if (untilMs > 0) this.#known.set(idOf(key), untilMs);
  }
}

/** One word for a breaker: no key is as any key may be. */
function idOf(key: string | undefined): string {
  return key === undefined ? "all" : `key ${key}`;
}

/** What still says something, as far as there is room: those closed by hand, then those open for the longest. */
function worthKeeping(entries: readonly Entry[], wallMs: number): readonly Entry[] {
  let room = ROOM;
  return entries
    .filter(({ untilMs, closedAtMs = -Infinity }) =>
      untilMs > wallMs || closedAtMs > wallMs - TOLD_MS
    )
    .sort((a, b) => (b.untilMs || Number.MAX_VALUE) - (a.untilMs || Number.MAX_VALUE))
    .filter(({ key = "" }) => (room -= key.length + ENTRY_ROOM) >= 0);
}

/** What the store keeps: nothing where what says so was damaged. */
function breakersIn(entry: StateEntry | undefined): Breakers {
  const record = entry?.value as Breakers | null | undefined; // only this file writes the key
  const isWhole = typeof record?.closings === "number" && Array.isArray(record.entries);
  return isWhole ? record! : { closings: 0, entries: [] };
}
