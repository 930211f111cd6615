/**
 * A pool's seat in one record of permits: the store keeps the record, and all who sit there take and
 * give permits by commits that fail if another was quicker.
 *
 * @module
 */

import { PermitHolder } from "../planning/permit_holder.ts";
import { isNews, type Need, type PermitRecord } from "../planning/permits.ts";
import type { StateEntry, Store } from "../contract/store.ts";
import type { PoolCore } from "./pool_core.ts";
import type { Neighbor, ProcessSeats } from "./process_seats.ts";
import { type RecordDraft, RecordLooks } from "./record_looks.ts";

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
  readonly #looks: RecordLooks;
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
    const { seats, state, store } = context;
    this.#looks = new RecordLooks(store, record);
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
    return this.#looks.count === 0 || (this.#looks.count === 1 && this.#looks.isOpen);
  }

  /** Enters the record, before anything is planned. */
  async join(): Promise<void> {
    this.#look(this.#context.now());
    await this.#looks.answer;
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
    await this.#looks.answer;
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
    if (!this.#looks.isOpen && nowMs >= this.#lookAtMs(nowMs)) this.#look(nowMs);
  }

  /** When to attend next. `Infinity`: when something happens. */
  nextAtMs(nowMs: number): number {
    if (this.#closed) return Infinity;
    const lapseAtMs = this.#wasValid && !this.#holder.isUntimed
      ? this.#holder.validUntilMs
      : this.#abortAtMs;
    return Math.min(lapseAtMs, this.#looks.isOpen ? this.#giveUpAtMs : this.#lookAtMs(nowMs));
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
    return this.#looks.isOpen ? this.#lookedAtMs + leaseMs : Infinity;
  }

  #giveUp(): void {
    this.#looks.giveUp();
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
    this.#woken = false;
    this.#lookedAtMs = nowMs;
    for (const [key, { wants }] of this.#needs) this.#told.set(key, wants);
    const before = this.#signature(nowMs);
    const wasIn = this.#holder.id !== "";
    this.#looks.look((entry) => this.#draft(entry), () => {
      if (this.#closed) return;
      const laterMs = this.#context.now();
      if (this.#holder.isValid(laterMs)) this.#wasValid = true;
      // Others took it for dead: what runs is more than it holds.
      if (wasIn && this.#holder.id === "") this.#abortAtMs = laterMs;
      if (before !== this.#signature(laterMs)) this.#context.changed();
    });
  }

  #draft(entry: StateEntry | undefined): RecordDraft | undefined {
    const { store, seats, state, now } = this.#context;
    const nowMs = now();
    const value = this.#holder.look(recordIn(entry), this.#needs, nowMs, {
      wallMs: state.wall.at(nowMs),
      isGone: (process) => store.isGone?.(process) ?? false,
      isHere: (id) => seats.isHere(this.record, id),
    });
    if (value === undefined) return;
    return {
      value,
      answered: (ok) => {
        this.#holder.answered(ok);
        if (ok) seats.changed(this.record, this);
      },
      failed: () => this.#holder.failed(),
    };
  }

  /** Where the store fails, others take the permits once this process is silent. */
  async #leave(): Promise<void> {
    this.#looks.look((entry) => {
      const value = this.#holder.leave(recordIn(entry));
      return value === undefined ? undefined : { value };
    }, () => {});
    await this.#looks.answer;
  }

  /** Tells whether something else is in effect. */
  #signature(nowMs: number): string {
    if (this.#holder.isAlone(nowMs)) return "alone";
    return [...this.#needs].map(([key, { cap }]) => this.#holder.inForce(key, cap, nowMs)).join();
  }
}

/** Who holds what. `undefined`: nobody holds anything, or what says so was damaged in the store. */
function recordIn(entry: StateEntry | undefined): PermitRecord | undefined {
  const record = entry?.value as PermitRecord | null | undefined; // only this file writes the key
  const isWhole = typeof record?.next === "number" && typeof record.holders === "object";
  return isWhole && record.holders !== null ? record : undefined;
}
