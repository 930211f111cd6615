/**
 * A pool's seat in one record of permits: the store keeps the record, and all who sit there take and
 * give permits by commits that fail if another was quicker.
 *
 * @module
 */

import { PermitHolder } from "../planning/permit_holder.ts";
import { isNews, type Need, type PermitRecord } from "../planning/permits.ts";
import type { MaybePromise, StateEntry, Store } from "../contract/store.ts";
import type { PoolCore } from "./pool_core.ts";
import type { Neighbor, ProcessSeats } from "./process_seats.ts";
import { isPromise } from "./store_guard.ts";

/** How often a commit is tried at once again because others were quicker. */
const MOST_TRIES = 5;

/** Reports that fit between two looks while nobody has told of anything, and what it wants is as before. */
const UNTOLD = 5;

/** Share of a lease from when nothing starts any more until what runs is aborted. */
const ABORTS_AFTER = 0.05;

/** What a seat needs of its pool. */
export interface SeatContext extends PoolCore {
  /** Where records are. */
  readonly store: Store;
  /** The seats of this process in records that several pools share. */
  readonly seats: ProcessSeats;
  /** Other limits are in effect: plans at once, and asks for a turn. */
  readonly changed: () => void;
  /** What runs may be more than is this process's: asks all handlers to end. */
  readonly lapsed: () => void;
  /** Another pool of this process has changed a record: asks for a turn. */
  readonly told: () => void;
}

/** What a seat goes by, beside the settings of its pool. */
export interface SeatRules {
  /** Least time between two looks at the record, ms. */
  readonly reportMs: number;
  /** How long a start counts against a rate, ms. 0: there is no rate. */
  readonly coolMs: number;
}

/** Owns what one pool holds of one record. */
export class PermitSeat implements Neighbor {
  /** Where the record is. */
  readonly record: string;
  readonly #context: SeatContext;
  readonly #holder: PermitHolder;
  readonly #shared: { readonly host: string; readonly pool: string } | undefined;
  readonly #needs = new Map<string, Need>();
  #rules: SeatRules;
  #lookedAtMs = -Infinity;
  readonly #told = new Map<string, number>(); // what it wanted at the last look
  #woken = false;
  #looking: Promise<void> | undefined;
  #isLooking = false;
  #looks = 0;
  #wasValid = false;
  #abortAtMs = Infinity;
  #stopping = false;
  #isDone = (): boolean => false;
  #closed = false;

  /** Holds nothing until it has joined. @param isShared True if other pools sit there too. */
  constructor(record: string, isShared: boolean, rules: SeatRules, context: SeatContext) {
    this.record = record;
    this.#context = context;
    this.#rules = rules;
    const { seats, state } = context;
    this.#shared = isShared ? { host: seats.host, pool: state.pool } : undefined;
    this.#holder = new PermitHolder(this.#permitRules, () => context.changed());
    if (isShared) seats.enter(record, this);
  }

  /** Its number in the record. Empty: it is not there. */
  get id(): string {
    return this.#holder.id;
  }

  /** True until its first look was answered: what it will hold is not known. */
  get isJoining(): boolean {
    return this.#looks === 0 || (this.#looks === 1 && this.#isLooking);
  }

  /** Enters the record, before anything is planned. */
  async join(): Promise<void> {
    this.#look(this.#context.now());
    await this.#looking;
  }

  /** Takes other rules over; needs of caps that are not among `keys` are none any more. */
  adopt(rules: SeatRules, keys: ReadonlySet<string>): void {
    this.#rules = rules;
    for (const key of this.#needs.keys()) {
      if (!keys.has(key.slice(0, key.lastIndexOf("/")))) this.#needs.delete(key);
    }
    this.#holder.rules = this.#permitRules;
  }

  /** How its holder is heard of others: `true` if none can do anything before. */
  renewed(isUntimed: boolean): void {
    this.#holder.hears(isUntimed, this.#context.now());
  }

  /** Others have changed something. */
  wake(): void {
    this.#woken = true;
  }

  /** Another pool of this process has changed the record. */
  told(): void {
    this.#woken = true;
    this.#context.told();
  }

  /** Others are to know until when its process starts nothing, by the wall clock. 0: it starts. */
  say(holdUntilMs: number): void {
    if (this.#holder.holdUntilMs === holdUntilMs) return;
    this.#holder.holdUntilMs = holdUntilMs;
    this.#woken = true;
  }

  /** The same of other processes, the latest, as of the last look. */
  get othersHoldUntilMs(): number {
    return this.#holder.othersHoldUntilMs;
  }

  /** Wants nothing any more: gives back what becomes free. */
  stop(): void {
    this.#stopping = true;
    for (const [key, need] of this.#needs) this.#needs.set(key, { ...need, wants: 0 });
  }

  /** As `stop`; leaves once nothing is in use any more. @param used Permits that still are. */
  finish(used: () => number): void {
    for (const [key, need] of this.#needs) this.#needs.set(key, { ...need, used });
    this.stop();
    this.#isDone = () => used() === 0;
  }

  /** True once it has left, or is about to. */
  get isClosed(): boolean {
    return this.#closed;
  }

  /** Leaves the record. A store that fails takes the permits back after a lease. */
  async leave(): Promise<void> {
    this.#closed = true;
    await this.#looking;
    if (this.#holder.id !== "") await this.#leave();
    if (this.#shared !== undefined) this.#context.seats.leave(this.record, this);
  }

  /** What it needs of one cap. */
  need(key: string, need: Need): void {
    this.#needs.set(key, this.#stopping ? { ...need, wants: 0 } : need);
  }

  /** Permits in effect. */
  inForce(key: string, cap: number, nowMs: number): number {
    return this.#holder.inForce(key, cap, nowMs);
  }

  /** True while nobody else sits there: all of every cap is in effect. */
  isAlone(nowMs: number): boolean {
    return this.#holder.isAlone(nowMs);
  }

  /** Looks at the record if it is time to. */
  attend(nowMs: number): void {
    if (this.#closed) return;
    if (this.#isDone()) return void this.leave();
    this.#watchLapse(nowMs);
    if (nowMs >= this.#giveUpAtMs) this.#giveUp();
    if (!this.#isLooking && nowMs >= this.#lookAtMs(nowMs)) this.#look(nowMs);
  }

  /** When to attend next. `Infinity`: when something happens. */
  nextAtMs(nowMs: number): number {
    if (this.#closed) return Infinity;
    const lapseAtMs = this.#wasValid && !this.#holder.isUntimed
      ? this.#holder.validUntilMs
      : this.#abortAtMs;
    return Math.min(lapseAtMs, this.#isLooking ? this.#giveUpAtMs : this.#lookAtMs(nowMs));
  }

  get #permitRules(): PermitHolder["rules"] {
    const { state, store } = this.#context;
    const { leaseMs } = state.settings;
    const { coolMs } = this.#rules;
    const { process, place } = store;
    return { leaseMs, coolMs, process, shared: this.#shared, isPrivate: place === undefined };
  }

  /** When a look that the store has not answered is given up. `Infinity`: there is none. */
  get #giveUpAtMs(): number {
    const { leaseMs } = this.#context.state.settings;
    return this.#isLooking ? this.#lookedAtMs + leaseMs : Infinity;
  }

  /** What it would have written may be there or not: the next look tells. */
  #giveUp(): void {
    this.#looks++;
    this.#isLooking = false;
    this.#looking = undefined;
    this.#holder.failed();
  }

  #lookAtMs(nowMs: number): number {
    const { beatAtMs, isHalfway } = this.#holder;
    const isDue = this.#woken || isHalfway || beatAtMs <= nowMs;
    if (!isDue && !this.#holder.isMoving(this.#needs, nowMs)) return beatAtMs;
    if (isDue || this.#wantsOtherwise) return this.#lookedAtMs + this.#rules.reportMs;
    // While all lack some, a look finds what the last one did: who gives tells.
    return Math.min(beatAtMs, this.#lookedAtMs + UNTOLD * this.#rules.reportMs);
  }

  get #wantsOtherwise(): boolean {
    return this.#needs.entries().some(([key, { wants }]) =>
      isNews(this.#told.get(key) ?? 0, wants)
    );
  }

  /** What is no longer in effect is not used: nothing starts, and what runs ends before others take it for free. */
  #watchLapse(nowMs: number): void {
    const { changed, lapsed, state } = this.#context;
    const isValid = this.#holder.isValid(nowMs);
    if (isValid) this.#abortAtMs = Infinity;
    else if (this.#wasValid) {
      this.#abortAtMs = nowMs + ABORTS_AFTER * state.settings.leaseMs;
      this.#wasValid = false;
      changed();
    } else if (nowMs >= this.#abortAtMs) {
      this.#abortAtMs = Infinity;
      if (this.#needs.keys().some((key) => key.endsWith("/workers"))) lapsed();
    }
    this.#wasValid = isValid;
  }

  #look(nowMs: number): void {
    this.#isLooking = true;
    this.#woken = false;
    this.#lookedAtMs = nowMs;
    for (const [key, { wants }] of this.#needs) this.#told.set(key, wants);
    const before = this.#signature(nowMs);
    const wasIn = this.#holder.id !== "";
    const number = ++this.#looks;
    const end = (): void => {
      if (number !== this.#looks) return; // it was given up
      this.#isLooking = false;
      this.#looking = undefined;
      if (this.#closed) return;
      const laterMs = this.#context.now();
      if (this.#holder.isValid(laterMs)) this.#wasValid = true;
      // Others took it for dead: what runs is more than it holds.
      if (wasIn && this.#holder.id === "") this.#abortAtMs = laterMs;
      if (before !== this.#signature(laterMs)) this.#context.changed();
    };
    let answer: MaybePromise<void>;
    try {
      answer = this.#take(number, 0);
    } catch {
      return end(); // the guard of the queue's calls tells of a failing store
    }
    if (isPromise(answer)) this.#looking = answer.then(end, end);
    else end();
  }

  /** Reads, and commits what is to change; again if others were quicker. */
  #take(number: number, tries: number): MaybePromise<void> {
    const entry = this.#context.store.get(this.record);
    return isPromise(entry)
      ? entry.then((read) => this.#write(number, read, tries))
      : this.#write(number, entry, tries);
  }

  #write(
    number: number,
    entry: StateEntry | undefined,
    tries: number,
  ): MaybePromise<void> {
    if (number !== this.#looks) return; // it was given up
    const { store, seats, state, now } = this.#context;
    const nowMs = now();
    const draft = this.#holder.look(recordIn(entry), this.#needs, nowMs, {
      wallMs: state.wall.at(nowMs),
      isGone: (process) => store.isGone?.(process) ?? false,
      isHere: (id) => seats.isHere(this.record, id),
    });
    if (draft === undefined) return;
    const answered = (ok: boolean): MaybePromise<void> => {
      if (number !== this.#looks) return;
      this.#holder.answered(ok);
      if (ok) seats.changed(this.record, this);
      if (!ok && tries < MOST_TRIES) return this.#take(number, tries + 1);
    };
    const failed = (thrown: unknown): never => {
      if (number === this.#looks) this.#holder.failed();
      throw thrown;
    };
    let answer: MaybePromise<boolean>;
    try {
      answer = store.commit({ [this.record]: entry?.version }, { [this.record]: draft });
    } catch (thrown) {
      return failed(thrown);
    }
    return isPromise(answer) ? answer.then(answered, failed) : answered(answer);
  }

  async #leave(): Promise<void> {
    const { store } = this.#context;
    try {
      for (let tries = 0; tries <= MOST_TRIES; tries++) {
        const entry = await store.get(this.record);
        const record = this.#holder.leave(recordIn(entry));
        if (record === undefined) return;
        if (await store.commit({ [this.record]: entry?.version }, { [this.record]: record })) {
          return;
        }
      }
    } catch {
      // Others take the permits once this process is silent.
    }
  }

  /** Tells whether something else is in effect. */
  #signature(nowMs: number): string {
    if (this.#holder.isAlone(nowMs)) return "alone";
    const parts = [...this.#needs].map(([key, { cap }]) => this.#holder.inForce(key, cap, nowMs));
    return [this.othersHoldUntilMs, ...parts].join();
  }
}

/** Who holds what. `undefined`: nobody holds anything, or what says so was damaged in the store. */
function recordIn(entry: StateEntry | undefined): PermitRecord | undefined {
  const record = entry?.value as PermitRecord | null | undefined; // only this file writes the key
  const isWhole = typeof record?.next === "number" && typeof record.holders === "object";
  return isWhole && record.holders !== null ? record : undefined;
}
