/**
 * Cools a pool down while its receiver says "not now": its circuit breakers, one for the pool and one for
 * each key that needs it.
 *
 * @module
 */

import { endOf } from "./bad_ends.ts";
import { type BreakerOwner, CircuitBreaker } from "./breaker.ts";
import { BreakerRecord } from "./breaker_record.ts";
import type { BreakerView } from "../contract/view.ts";
import { KeyBreakers } from "./key_breakers.ts";
import { type CooldownSettings, hasKeySlots } from "../config/settings.ts";
import type { PoolCore } from "./pool_core.ts";
import type { JobRun } from "./job_run.ts";
import type { BreakerUser, ClosedBy, SharedBreaker, SharedBreakers } from "./shared_breaker.ts";
import type { PoolState } from "./pool_state.ts";
import type { Leased, Store } from "../contract/store.ts";
import type { HeldJob } from "./unstarted.ts";
import { spreadMs } from "./verdict.ts";

/** Of how many jobs a pool knows how they ended. */
const REMEMBERS = 10_000;

/** Most breakers that are shown. */
const MOST_SHOWN = 100;

/** What a cool-down needs of its pool. Of its state it owns `holdUntilMs`, `heldBy` and `openKeys`. */
export interface CooldownContext extends PoolCore {
  /** Chance for jitter. */
  readonly random: () => number;
  /** Where it is kept what other processes are to know. */
  readonly store: Store;
  /** Breakers of the downstreams that this process uses. */
  readonly breakers: SharedBreakers;
  /** What starts has changed, by another pool of this process or by another process: asks for a turn. */
  readonly told: () => void;
}

/** How a job is deferred. */
export interface PutOff {
  /** When it is due, by the wall clock. */
  readonly dueAtMs: number;
  /** It keeps the slot of its key until then. */
  readonly keepsSlot: boolean;
}

/** Owns the breakers. A job has one: with `by: "key"` that of its key, else that of the pool. */
export class Cooldown implements BreakerOwner, BreakerUser {
  readonly random: () => number;
  readonly #context: CooldownContext;
  readonly #state: PoolState;
  readonly #pool: CircuitBreaker;
  readonly #keys: KeyBreakers = new KeyBreakers(this);
  readonly #record: BreakerRecord; // of its own breakers, not those of downstreams
  #shared: readonly SharedBreaker[] = []; // of downstreams that it uses
  #closedBy: ClosedBy = "success";

  /** Begins with all closed. */
  constructor(context: CooldownContext) {
    this.#context = context;
    this.#state = context.state;
    this.random = context.random;
    this.#pool = new CircuitBreaker(undefined, REMEMBERS, this);
    const { store, now, told, state: { wall, pool } } = context;
    this.#record = new BreakerRecord(`breakers/pools/${pool}`, {
      ...{ store, now, wall, told },
      hears: false,
      heard: ({ key, untilMs, cause }, nowMs) =>
        this.#kept(key, nowMs)?.heard(untilMs, nowMs, cause),
      closedByHand: (key, nowMs) => {
        if (this.#closeOwn(key, nowMs)) told();
      },
    });
    this.#takeShared(context.state.nowMs);
  }

  get rules(): CooldownSettings | undefined {
    return this.#state.settings.cooldown;
  }

  /** How many more attempts of the pool may start now. `Infinity`: as many as like. */
  room(nowMs: number): number {
    let room = this.#pool.room(nowMs);
    for (const { breaker } of this.#shared) room = Math.min(room, breaker.room(nowMs));
    return room;
  }

  /** When there is more room, if nothing ends before. `Infinity`: only an end makes some. */
  nextAtMs(nowMs: number): number {
    let tightest = this.#pool;
    for (const { breaker } of this.#shared) {
      if (breaker.room(nowMs) < tightest.room(nowMs)) tightest = breaker;
    }
    return tightest.nextAtMs(nowMs);
  }

  /** True if the receiver of the pool, or of a downstream, refused jobs less than a minute ago. */
  hasRefused(nowMs: number): boolean {
    return this.#pool.hasRefused(nowMs) ||
      this.#shared.some(({ breaker }) => breaker.hasRefused(nowMs));
  }

  /** Reads what the store knows, before anything starts. */
  async join(): Promise<void> {
    for (const record of this.#records) await record.join();
  }

  /** Others have changed something. */
  wake(): void {
    this.#record.wake(!this.#pool.isIdle || this.holdsKeys);
    for (const { record } of this.#shared) record.wake(true);
  }

  /** Tells other processes what they are to know, and hears of them. */
  attend(nowMs: number): void {
    this.#record.attend(nowMs);
    for (const { record } of this.#shared) record.attend(nowMs);
  }

  /** When to attend next. `Infinity`: when something happens. */
  nextLookMs(): number {
    let atMs = this.#record.nextAtMs();
    for (const { record } of this.#shared) atMs = Math.min(atMs, record.nextAtMs());
    return atMs;
  }

  /** True if the breaker of some key bounds starts. */
  get holdsKeys(): boolean {
    return this.#keys.hold;
  }

  /** When a leased job is to come again, for the breaker of its key lets none start now. `undefined`: it may start. */
  putOff(held: HeldJob, nowMs: number): PutOff | undefined {
    const breaker = this.#known(held.job);
    return breaker === undefined || breaker.room(nowMs) > 0
      ? undefined
      : this.#untilOpen(breaker, held, nowMs);
  }

  /** When jobs of a key start again, or one of them asks. 0: nothing holds them. */
  holdUntilMs(key: string | undefined): number {
    const held = this.#keys.hold ? this.#known({ key }) : undefined;
    return Math.max(0, this.#state.holdUntilMs, held?.untilMs ?? 0);
  }

  /** An attempt begins. */
  began(run: JobRun): void {
    run.wave = this.#context.breakers.waves.latest;
    for (const { breaker } of this.#shared) if (!breaker.isIdle) breaker.began(run);
    if (this.#pool.isIdle && !this.#keys.hold) return;
    const breaker = this.#known(run.job);
    if (breaker?.isIdle === false) breaker.began(run);
  }

  /**
   * An attempt has ended and was judged. A job that comes again does so no earlier than its breaker is
   * half-open.
   *
   * @param measured It was done, or it failed: the receiver did not refuse it.
   */
  ended(run: JobRun, nowMs: number, measured: boolean): void {
    const blamed = this.#blamedBy(run);
    for (const shared of this.#shared) {
      const isAboutIt = shared === blamed || run.to === "done";
      const end = isAboutIt ? endOf(run, measured, shared.rules) : null;
      const { breaker } = shared;
      breaker.ended(run, nowMs, end);
      if (end && run.to === "retry" && nowMs < breaker.untilMs) this.#putOff(breaker, run, nowMs);
    }
    const refused = run.overloadedMs !== undefined || run.isGone;
    const end = blamed !== undefined && refused ? null : endOf(run, measured, this.rules);
    const breaker = end === undefined || end === null
      ? this.#known(run.job)
      : this.#own(run.job, nowMs);
    if (breaker === undefined) return;
    breaker.ended(run, nowMs, end);
    if (end && run.to === "retry" && nowMs < breaker.untilMs) this.#putOff(breaker, run, nowMs);
    else if (breaker !== this.#pool && breaker.isForgettable(nowMs)) this.#keys.forget(breaker);
  }

  /** Closes the breakers of keys that have no jobs any more: done by other processes, or cancelled. */
  look(nowMs: number): void {
    this.#closedBy = "unused";
    this.#keys.look(nowMs);
    this.#closedBy = "success";
  }

  /** True if a job that says its receiver is gone is to wait for it. */
  waitsForGone(run: JobRun): boolean {
    const { rules, breaker } = this.#blamedBy(run) ??
      { rules: this.rules, breaker: this.#known(run.job) };
    return rules?.gone === true && breaker?.isOfJob(run.job.id) !== true;
  }

  /** Takes the settings over that now hold. */
  adopt(nowMs: number): void {
    this.#closedBy = "reload";
    this.#takeShared(nowMs);
    const isByKey = this.rules?.by === "key";
    this.#pool.adopt(nowMs);
    if (isByKey && !this.#pool.isIdle) this.#pool.reset(nowMs);
    for (const breaker of this.#keys.all) {
      if (isByKey) breaker.adopt(nowMs);
      else breaker.reset(nowMs);
    }
    if (!isByKey) this.#keys.clear();
    this.#closedBy = "success";
  }

  /** The pool has ended: breakers of downstreams go on without it. */
  leave(): void {
    for (const shared of this.#shared) shared.leave(this);
  }

  /** Breakers that are not closed, the one that opened first first: at most 100. */
  views(nowMs: number): readonly BreakerView[] {
    const views: BreakerView[] = [];
    for (const { name, breaker } of this.#shared) {
      const view = breaker.view(nowMs);
      if (view !== undefined) views.push(Object.freeze({ ...view, downstream: name }));
    }
    for (const breaker of [this.#pool, ...this.#keys.held]) {
      const view = breaker.view(nowMs);
      if (view !== undefined) views.push(view);
      if (views.length === MOST_SHOWN) break;
    }
    return Object.freeze(views);
  }

  /**
   * Closes the breaker of a key, or those of the pool and its downstreams: here at once, in other
   * processes by the store. False: they are closed, as far as that knows.
   *
   * @throws {StoreError} If the store fails.
   */
  async close(key: string | undefined, nowMs: number): Promise<boolean> {
    const closed = [this.#closeOwn(key, nowMs)];
    const records = key === undefined ? this.#records : [this.#record];
    if (key === undefined) closed.push(...this.#shared.map((shared) => shared.close(nowMs)));
    closed.push(...await Promise.all(records.map((record) => record.closeByHand(key))));
    return closed.includes(true);
  }

  nextWave(): number {
    return this.#context.breakers.waves.next();
  }

  sharedChanged(): void {
    this.#hold();
    this.#context.told();
  }

  sharedOpened({ name, breaker }: SharedBreaker, nowMs: number): void {
    this.#tellOpened(breaker, nowMs, name);
  }

  sharedClosed({ name }: SharedBreaker, nowMs: number, forMs: number, by: ClosedBy): void {
    const isOwn = by === "success"; // or by what this pool does: a reload
    this.#tellClosed(
      { key: undefined, downstream: name },
      nowMs,
      forMs,
      isOwn ? this.#closedBy : by,
    );
  }

  changed(breaker: CircuitBreaker): void {
    this.#record.changed(breaker);
    if (breaker === this.#pool) this.#hold();
    else this.#keys.changed(breaker);
  }

  opened(breaker: CircuitBreaker, nowMs: number): void {
    if (breaker !== this.#pool) this.#state.openKeys++;
    this.#tellOpened(breaker, nowMs);
  }

  closed(breaker: CircuitBreaker, nowMs: number, forMs: number): void {
    if (breaker !== this.#pool) this.#state.openKeys--;
    this.#tellClosed({ key: breaker.key }, nowMs, forMs, this.#closedBy);
  }

  #tellOpened(breaker: CircuitBreaker, nowMs: number, downstream?: string): void {
    const { state: { pool }, hub } = this.#context;
    if (!hub.watched) return;
    const { key, cause, untilMs } = breaker;
    const { count = 0 } = breaker.view(nowMs) ?? {};
    const whose = downstream === undefined ? { key } : { key, downstream };
    hub.emit({ kind: "cooldown-began", atMs: nowMs, pool, ...whose, cause, count, untilMs });
  }

  #tellClosed(
    whose: { readonly key: string | undefined; readonly downstream?: string },
    nowMs: number,
    forMs: number,
    by: ClosedBy,
  ): void {
    const { state: { pool }, hub } = this.#context;
    if (!hub.watched) return;
    hub.emit({ kind: "cooldown-ended", atMs: nowMs, pool, ...whose, forMs, by });
  }

  get #records(): readonly BreakerRecord[] {
    return [this.#record, ...this.#shared.map(({ record }) => record)];
  }

  /** The breaker that the store speaks of. `undefined`: by the settings of now there is none. */
  #kept(key: string | undefined, nowMs: number): CircuitBreaker | undefined {
    const isByKey = this.rules?.by === "key";
    return isByKey === (key !== undefined) ? this.#own({ key }, nowMs) : undefined;
  }

  #closeOwn(key: string | undefined, nowMs: number): boolean {
    const breaker = key === undefined ? this.#pool : this.#keys.known(key);
    if (breaker?.view(nowMs) === undefined) return false;
    this.#closedBy = "hand";
    breaker.close(nowMs);
    this.#closedBy = "success";
    return true;
  }

  /** Takes over which downstreams it uses. */
  #takeShared(nowMs: number): void {
    const { breakers, state: { settings } } = this.#context;
    const before = this.#shared;
    this.#shared = [...settings.cooldowns].map(([name, rules]) => {
      const shared = breakers.of(name);
      shared.join(this, rules, nowMs);
      return shared;
    });
    for (const shared of before) if (!this.#shared.includes(shared)) shared.leave(this);
    this.#hold();
  }

  /** Shows until when the pool starts nothing. */
  #hold(): void {
    let untilMs = Math.max(0, this.#pool.untilMs);
    let heldBy = "";
    for (const { name, breaker } of this.#shared) {
      if (breaker.untilMs > untilMs) [untilMs, heldBy] = [breaker.untilMs, name];
    }
    this.#state.holdUntilMs = untilMs;
    this.#state.heldBy = heldBy;
  }

  /** The downstream that an attempt is about: the one it named, or the only one with a breaker. */
  #blamedBy({ blames }: JobRun): SharedBreaker | undefined {
    if (blames !== undefined) return this.#shared.find(({ name }) => name === blames);
    return this.#shared.length === 1 ? this.#shared[0] : undefined;
  }

  /** The breaker of a job. `undefined`: its key has none. */
  #known({ key }: Pick<Leased, "key">): CircuitBreaker | undefined {
    return this.rules?.by === "key" ? this.#keys.known(key) : this.#pool;
  }

  /** The same, made if there is none. `undefined`: there are too many. */
  #own({ key }: Pick<Leased, "key">, nowMs: number): CircuitBreaker | undefined {
    return this.rules?.by === "key" ? this.#keys.own(key, nowMs) : this.#pool;
  }

  /** A job comes again no earlier than an attempt may start. */
  #putOff(breaker: CircuitBreaker, run: JobRun, nowMs: number): void {
    const { wall } = this.#state;
    if (breaker.key === undefined) {
      const untilMs = this.#spread(breaker.untilMs, nowMs);
      run.dueAtMs = Math.max(run.dueAtMs, wall.at(untilMs));
      return;
    }
    const { dueAtMs, keepsSlot } = this.#untilOpen(breaker, run, nowMs);
    if (run.dueAtMs > dueAtMs) return; // by its own word: others of its key may start before
    run.dueAtMs = dueAtMs;
    run.keepsSlot = keepsSlot;
  }

  /**
   * A job that keeps the slot of its key keeps others of the key from being leased meanwhile. No longer
   * than `maxMs`: someone may close the breaker by hand.
   */
  #untilOpen(breaker: CircuitBreaker, { lane }: HeldJob, nowMs: number): PutOff {
    const { minMs = 0, maxMs = 0 } = this.rules ?? {};
    const untilMs = nowMs < breaker.untilMs
      ? Math.min(breaker.untilMs, nowMs + maxMs)
      : Math.min(breaker.nextAtMs(nowMs), nowMs + minMs);
    const keepsSlot = hasKeySlots(lane.settings);
    const dueAtMs = this.#state.wall.at(keepsSlot ? untilMs : this.#spread(untilMs, nowMs));
    return { dueAtMs, keepsSlot };
  }

  /** Many that are deferred together come back one after the other. */
  #spread(untilMs: number, nowMs: number): number {
    return untilMs + spreadMs(untilMs - nowMs) * this.random();
  }
}
