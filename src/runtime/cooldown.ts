/**
 * Cools a pool down while its receiver says "not now": its circuit breakers, one for the pool and one for
 * each key that needs it.
 *
 * @module
 */

import { type BadEnd, type BreakerOwner, CircuitBreaker } from "./breaker.ts";
import type { BreakerView } from "../contract/view.ts";
import type { CooldownSettings } from "../config/settings.ts";
import type { PoolCore } from "./pool_core.ts";
import type { JobRun } from "./job_run.ts";
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

/** What a cool-down needs of its pool. Of its state it owns `holdUntilMs` and `openKeys`. */
export interface CooldownContext extends PoolCore {
  /** Chance for jitter. */
  readonly random: () => number;
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

/** Why a breaker has closed. */
type ClosedBy = "success" | "hand" | "reload";

/** Owns the breakers. A job has one: with `by: "key"` that of its key, else that of the pool. */
export class Cooldown implements BreakerOwner {
  readonly random: () => number;
  readonly #context: CooldownContext;
  readonly #state: PoolState;
  readonly #pool: CircuitBreaker;
  readonly #keys = new Map<string, CircuitBreaker>();
  readonly #held = new Set<CircuitBreaker>(); // keys whose breakers bound starts
  #wave = 0;
  #closedBy: ClosedBy = "success";

  /** Begins with all closed. */
  constructor(context: CooldownContext) {
    this.#context = context;
    this.#state = context.state;
    this.random = context.random;
    this.#pool = new CircuitBreaker(undefined, POOL_REMEMBERS, this);
  }

  get rules(): CooldownSettings | undefined {
    return this.#state.settings.cooldown;
  }

  /** How many more attempts of the pool may start now. `Infinity`: as many as like. */
  room(nowMs: number): number {
    return this.#pool.room(nowMs);
  }

  /** When there is more room, if nothing ends before. `Infinity`: only an end makes some. */
  nextAtMs(nowMs: number): number {
    return this.#pool.nextAtMs(nowMs);
  }

  /** When a leased job is to come again, for the breaker of its key lets none start now. `undefined`: it may start. */
  putOff(held: HeldJob, nowMs: number): PutOff | undefined {
    if (this.#held.size === 0) return undefined;
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
    run.wave = this.#wave;
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
    const end = this.#endOf(run, measured);
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

  /** True if a job that says its receiver is gone is to wait for it. */
  waitsForGone(run: JobRun): boolean {
    return this.rules?.gone === true && this.#known(run.job)?.isOfJob(run.job.id) !== true;
  }

  /** Takes the settings over that now hold. */
  adopt(nowMs: number): void {
    this.#closedBy = "reload";
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

  /** Breakers that are not closed, the one that opened first first: at most 100. */
  views(nowMs: number): readonly BreakerView[] {
    const views: BreakerView[] = [];
    for (const breaker of [this.#pool, ...this.#held]) {
      const view = breaker.view(nowMs);
      if (view !== undefined) views.push(view);
      if (views.length === MOST_SHOWN) break;
    }
    return Object.freeze(views);
  }

  /** Closes the breaker of a key, or of the pool. False: it is closed. */
  close(key: string | undefined, nowMs: number): boolean {
    const breaker = key === undefined ? this.#pool : this.#keys.get(key);
    if (breaker?.view(nowMs) === undefined) return false;
    this.#closedBy = "hand";
    breaker.close(nowMs);
    this.#closedBy = "success";
    return true;
  }

  nextWave(): number {
    return ++this.#wave;
  }

  changed(breaker: CircuitBreaker): void {
    if (breaker === this.#pool) this.#state.holdUntilMs = Math.max(0, breaker.untilMs);
    else if (breaker.isIdle) this.#held.delete(breaker);
    else this.#held.add(breaker);
  }

  opened(breaker: CircuitBreaker, nowMs: number): void {
    const { state: { pool }, hub } = this.#context;
    if (breaker !== this.#pool) this.#state.openKeys++;
    if (!hub.active) return;
    const { key, cause, untilMs } = breaker;
    const { count = 0 } = breaker.view(nowMs) ?? {};
    hub.emit({ kind: "cooldown-began", atMs: nowMs, pool, key, cause, count, untilMs });
  }

  closed(breaker: CircuitBreaker, nowMs: number, forMs: number): void {
    const { state: { pool }, hub } = this.#context;
    if (breaker !== this.#pool) this.#state.openKeys--;
    if (!hub.active) return;
    const { key } = breaker;
    hub.emit({ kind: "cooldown-ended", atMs: nowMs, pool, key, forMs, by: this.#closedBy });
  }

  /** How an attempt ended. `undefined`: the receiver took it; `null`: that is not known. */
  #endOf(run: JobRun, measured: boolean): BadEnd | null | undefined {
    const { overloadedMs } = run;
    if (run.to === "retry" && !run.charged) {
      if (run.isGone) return { cause: "gone", askedMs: 0 };
      return overloadedMs === undefined ? null : { cause: "overloaded", askedMs: overloadedMs };
    }
    if (run.to === "done" && measured) return undefined;
    if (!measured) return null;
    // It failed: the receiver took it all the same, unless failures count.
    const { failures = Infinity } = this.rules ?? {};
    if (failures < Infinity && run.reason !== "fatal") return { cause: "failures", askedMs: 0 };
    return overloadedMs === undefined ? undefined : null;
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
    if (breaker === this.#pool) {
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
