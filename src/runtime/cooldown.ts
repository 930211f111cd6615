/**
 * Cools a pool down while its receiver says "not now": its circuit breakers, one for the pool and one for
 * each key that needs it.
 *
 * @module
 */

import { type BadEnd, type BreakerOwner, CircuitBreaker } from "./breaker.ts";
import type { BreakerView } from "../contract/view.ts";
import type { CooldownSettings } from "../config/settings.ts";
import type { PoolEvent } from "../contract/event.ts";
import type { PoolCore } from "./pool_core.ts";
import type { JobRun } from "./job_run.ts";
import type { BreakerUser, SharedBreaker, SharedBreakers } from "./shared_breaker.ts";
import type { PoolState } from "./pool_state.ts";
import type { Leased } from "../contract/store.ts";
import type { HeldJob } from "./unstarted.ts";
import { spreadMs } from "./verdict.ts";

/** Of how many jobs a pool, and each key, knows how they ended. */
const POOL_REMEMBERS = 10_000;
const KEY_REMEMBERS = 100;

/** Most keys with a breaker. */
const MOST_KEYS = 10_000;

/** Most breakers that are shown. */
const MOST_SHOWN = 100;

/** What a cool-down needs of its pool. Of its state it owns `holdUntilMs`, `heldBy` and `openKeys`. */
export interface CooldownContext extends PoolCore {
  /** Chance for jitter. */
  readonly random: () => number;
  /** Breakers of the downstreams that this process uses. */
  readonly breakers: SharedBreakers;
  /** Another pool of this process has changed what starts: asks for a turn. */
  readonly told: () => void;
}

/** Jobs without a key share a breaker, where others have one of their key. */
const NO_KEY = "";

/** How a job is deferred. */
export interface PutOff {
  /** When it is due, by the wall clock. */
  readonly dueAtMs: number;
  /** It keeps the slot of its key until then. */
  readonly keepsSlot: boolean;
}

/** How often it is looked which keys have no jobs any more, ms. */
const LOOK_MS = 1000;

/** Why a breaker has closed. */
type ClosedBy = Extract<PoolEvent, { readonly kind: "cooldown-ended" }>["by"];

/** Owns the breakers. A job has one: with `by: "key"` that of its key, else that of the pool. */
export class Cooldown implements BreakerOwner, BreakerUser {
  readonly random: () => number;
  readonly #context: CooldownContext;
  readonly #state: PoolState;
  readonly #pool: CircuitBreaker;
  readonly #keys = new Map<string, CircuitBreaker>();
  readonly #held = new Set<CircuitBreaker>(); // keys whose breakers bound starts
  #shared: readonly SharedBreaker[] = []; // of downstreams that it uses
  #closedBy: ClosedBy = "success";
  #lookAtMs = -Infinity;

  /** Begins with all closed. */
  constructor(context: CooldownContext) {
    this.#context = context;
    this.#state = context.state;
    this.random = context.random;
    this.#pool = new CircuitBreaker(undefined, POOL_REMEMBERS, this);
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

  /** True if the breaker of some key bounds starts. */
  get holdsKeys(): boolean {
    return this.#held.size > 0;
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
    const held = this.#held.size === 0 ? undefined : this.#known({ key });
    return Math.max(0, this.#state.holdUntilMs, held?.untilMs ?? 0);
  }

  /** An attempt begins. */
  began(run: JobRun): void {
    run.wave = this.#context.breakers.waves.latest;
    for (const { breaker } of this.#shared) if (!breaker.isIdle) breaker.began(run);
    if (this.#pool.isIdle && this.#held.size === 0) return;
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
    else if (breaker !== this.#pool && breaker.isForgettable(nowMs)) {
      this.#keys.delete(breaker.key ?? NO_KEY);
    }
  }

  /** Closes the breakers of keys that have no jobs any more: done by other processes, or cancelled. */
  look(nowMs: number): void {
    if (this.#held.size === 0 || nowMs < this.#lookAtMs) return;
    this.#lookAtMs = nowMs + LOOK_MS;
    this.#closedBy = "unused";
    for (const breaker of this.#held) {
      if (!breaker.isUnused(nowMs)) continue;
      breaker.reset(nowMs);
      this.#keys.delete(breaker.key ?? NO_KEY);
    }
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
    for (const breaker of this.#keys.values()) {
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
    for (const breaker of [this.#pool, ...this.#held]) {
      const view = breaker.view(nowMs);
      if (view !== undefined) views.push(view);
      if (views.length === MOST_SHOWN) break;
    }
    return Object.freeze(views);
  }

  /** Closes the breaker of a key, or those of the pool and its downstreams. False: they are closed. */
  close(key: string | undefined, nowMs: number): boolean {
    const all = key === undefined
      ? [this.#pool, ...this.#shared.map(({ breaker }) => breaker)]
      : [this.#keys.get(key)];
    const open = all.filter((breaker) => breaker?.view(nowMs) !== undefined);
    this.#closedBy = "hand";
    for (const breaker of open) breaker?.close(nowMs);
    this.#closedBy = "success";
    return open.length > 0;
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

  sharedClosed({ name }: SharedBreaker, nowMs: number, forMs: number): void {
    this.#tellClosed({ key: undefined, downstream: name }, nowMs, forMs);
  }

  changed(breaker: CircuitBreaker): void {
    if (breaker === this.#pool) this.#hold();
    else if (breaker.isIdle) this.#held.delete(breaker);
    else this.#held.add(breaker);
  }

  opened(breaker: CircuitBreaker, nowMs: number): void {
    if (breaker !== this.#pool) this.#state.openKeys++;
    this.#tellOpened(breaker, nowMs);
  }

  closed(breaker: CircuitBreaker, nowMs: number, forMs: number): void {
    if (breaker !== this.#pool) this.#state.openKeys--;
    this.#tellClosed({ key: breaker.key }, nowMs, forMs);
  }

  #tellOpened(breaker: CircuitBreaker, nowMs: number, downstream?: string): void {
    const { state: { pool }, hub } = this.#context;
    if (!hub.active) return;
    const { key, cause, untilMs } = breaker;
    const { count = 0 } = breaker.view(nowMs) ?? {};
    const whose = downstream === undefined ? { key } : { key, downstream };
    hub.emit({ kind: "cooldown-began", atMs: nowMs, pool, ...whose, cause, count, untilMs });
  }

  #tellClosed(
    whose: { readonly key: string | undefined; readonly downstream?: string },
    nowMs: number,
    forMs: number,
  ): void {
    const { state: { pool }, hub } = this.#context;
    if (!hub.active) return;
    hub.emit({ kind: "cooldown-ended", atMs: nowMs, pool, ...whose, forMs, by: this.#closedBy });
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
  #known({ key = NO_KEY }: Pick<Leased, "key">): CircuitBreaker | undefined {
    if (this.rules?.by !== "key") return this.#pool;
    return this.#keys.size === 0 ? undefined : this.#keys.get(key);
  }

  /** The same, made if there is none. `undefined`: there are too many. */
  #own(job: Pick<Leased, "key">, nowMs: number): CircuitBreaker | undefined {
    const known = this.#known(job);
    if (known !== undefined || this.rules === undefined) return known;
    const { key = NO_KEY } = job;
    if (this.#keys.size >= MOST_KEYS) this.#forgetOne(nowMs);
    if (this.#keys.size >= MOST_KEYS) return undefined;
    const breaker = new CircuitBreaker(key, KEY_REMEMBERS, this);
    this.#keys.set(key, breaker);
    return breaker;
  }

  /** Forgets the breaker of the key that has one for the longest and needs it least. */
  #forgetOne(nowMs: number): void {
    let idle: string | undefined;
    for (const [key, breaker] of this.#keys) {
      if (!breaker.isIdle) continue;
      idle ??= key;
      if (breaker.isForgettable(nowMs)) {
        idle = key;
        break;
      }
    }
    if (idle !== undefined) this.#keys.delete(idle);
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
    const keepsSlot = lane.settings.maxRunningPerKey < Infinity;
    const dueAtMs = this.#state.wall.at(keepsSlot ? untilMs : this.#spread(untilMs, nowMs));
    return { dueAtMs, keepsSlot };
  }

  /** Many that are deferred together come back one after the other. */
  #spread(untilMs: number, nowMs: number): number {
    return untilMs + spreadMs(untilMs - nowMs) * this.random();
  }
}

/** How an attempt ended. `undefined`: the receiver took it; `null`: that is not known. */
function endOf(
  run: JobRun,
  measured: boolean,
  { failures = Infinity }: Partial<CooldownSettings> = {},
): BadEnd | null | undefined {
  const { overloadedMs } = run;
  if (run.to === "retry" && !run.charged) {
    if (run.isGone) return { cause: "gone", askedMs: 0 };
    return overloadedMs === undefined ? null : { cause: "overloaded", askedMs: overloadedMs };
  }
  if (run.to === "done" && measured) return undefined;
  if (!measured) return null;
  // It failed: the receiver took it all the same, unless failures count.
  if (failures < Infinity && run.reason !== "fatal") return { cause: "failures", askedMs: 0 };
  return overloadedMs === undefined ? undefined : null;
}
