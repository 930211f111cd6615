/**
 * This process's part of the caps that hold over several: kept in the store, where all of them take
 * and give permits by commits that fail if another was quicker.
 *
 * @module
 */

import { PermitHolder } from "../planning/permit_holder.ts";
import { isNews, type Need, type PermitRecord } from "../planning/permits.ts";
import type { NamedCap, Shares } from "../planning/planner.ts";
import type { StrategySlots } from "./strategy_slots.ts";
import type { PoolCore } from "./pool_core.ts";
import { type StartRate, windowOf } from "./start_rate.ts";
import type { MaybePromise, StateEntry, Store } from "../contract/store.ts";
import { isPromise } from "./store_guard.ts";

/** How often a commit is tried at once again because others were quicker. */
const MOST_TRIES = 5;

/** Reports that fit between two looks while nobody has told of anything, and what it wants is as before. */
const UNTOLD = 5;

/** Share of a lease from when nothing starts any more until what runs is aborted. */
const ABORTS_AFTER = 0.05;

/** What permits need of their pool. */
export interface PermitsContext extends PoolCore {
  /** Where the record is. */
  readonly store: Store;
  /** Its caps. */
  readonly slots: StrategySlots;
  /** Counts its starts. */
  readonly rate: StartRate;
  /** Other limits are in effect: plans at once, and asks for a turn. */
  readonly changed: () => void;
  /** What runs may be more than is this process's: asks all handlers to end. */
  readonly lapsed: () => void;
}

/** Owns the permits of one pool. A pool without such caps has none, and writes nothing. */
export class Permits implements Shares {
  readonly #context: PermitsContext;
  readonly #holder: PermitHolder;
  readonly #key: string;
  readonly #needs = new Map<string, Need>();
  #keys = new Map<NamedCap, string>();
  #reportMs = 0;
  #coolMs = 0;
  #lookedAtMs = -Infinity;
  readonly #told = new Map<string, number>(); // what it wanted at the last look
  #woken = false;
  #looking: Promise<void> | undefined;
  #isLooking = false;
  #looks = 0;
  #wasValid = false;
  #abortAtMs = Infinity;
  #stopping = false;
  #closed = false;

  /** Holds nothing until it has joined. */
  constructor(context: PermitsContext) {
    this.#context = context;
    this.#key = `permits/${context.state.pool}`;
    const { leaseMs } = context.state.settings;
    this.#holder = new PermitHolder({ leaseMs, coolMs: 0 }, () => context.changed());
    this.#takeSettings();
  }

  /** Enters the record, before anything is planned. */
  async join(): Promise<void> {
    if (!this.#active) return;
    this.#look(this.#context.now());
    await this.#looking;
  }

  /** Takes the settings over that now hold. */
  adopt(): void {
    this.#takeSettings();
    if (!this.#active && this.#holder.id !== "") void this.#leave();
  }

  /** How its holder is heard of others: `true` if none can do anything before. */
  renewed(isUntimed: boolean): void {
    this.#holder.hears(isUntimed, this.#context.now());
  }

  /** Others have changed something. */
  wake(): void {
    this.#woken = true;
  }

  /** Wants nothing any more: gives back what becomes free. */
  stop(): void {
    this.#stopping = true;
    for (const [key, need] of this.#needs) this.#needs.set(key, { ...need, wants: 0 });
  }

  /** Leaves the record. A store that fails takes the permits back after a lease. */
  async leave(): Promise<void> {
    this.#closed = true;
    await this.#looking;
    await this.#leave();
  }

  workers(cap: NamedCap, whole: number, wants: number): number {
    const { state, now } = this.#context;
    const key = `${this.#keys.get(cap) ?? cap.name}/workers`;
    // Workers kept for what may come are no demand while others lack some: no slack.
    const demand = Math.max(state.size.min, state.total - state.idle + this.#ready);
    this.#need(key, {
      cap: whole,
      wants: Math.min(wants, demand),
      cools: false,
      used: () => state.total,
    });
    return this.#holder.inForce(key, whole, now());
  }

  starts(cap: NamedCap, whole: number, room: number): number {
    if (whole === 0) return 0;
    const { rate, state, now } = this.#context;
    const key = `${this.#keys.get(cap) ?? cap.name}/starts`;
    const nowMs = now();
    const { starts: permits, perMs } = windowOf(whole);
    const used = (): number => rate.used(now(), perMs);
    const count = used();
    const unused = this.#holder.inForce(key, permits, nowMs) - count;
    // A part that it is only late to use is kept while work waits: to move it costs a window.
    const late = room > 0 || count >= unused ? unused : 0;
    // Who starts by the pace has some unused at any time, now more, now fewer: all who do want all.
    const isPaced = state.rateBound && state.holdUntilMs === 0;
    const more = isPaced ? permits : Math.max(1, room, late);
    const wants = count + Math.min(this.#ready, more);
    this.#need(key, { cap: permits, wants, cools: true, used });
    if (perMs > this.#coolMs) {
      this.#coolMs = perMs;
      this.#takeSettings();
    }
    if (this.#holder.isAlone(nowMs)) return whole;
    return this.#holder.inForce(key, permits, nowMs) * (whole / permits);
  }

  /** Looks at the record if it is time to. */
  attend(nowMs: number): void {
    if (!this.#active || this.#closed) return;
    this.#watchLapse(nowMs);
    if (nowMs >= this.#giveUpAtMs) this.#giveUp();
    if (!this.#isLooking && nowMs >= this.#lookAtMs(nowMs)) this.#look(nowMs);
  }

  /** When to attend next. `Infinity`: when something happens. */
  nextAtMs(nowMs: number): number {
    if (!this.#active || this.#closed) return Infinity;
    const lapseAtMs = this.#wasValid && !this.#holder.isUntimed
      ? this.#holder.validUntilMs
      : this.#abortAtMs;
    return Math.min(lapseAtMs, this.#isLooking ? this.#giveUpAtMs : this.#lookAtMs(nowMs));
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

  /** Its share of the jobs that wait. */
  get #ready(): number {
    const { ready, peers } = this.#context.state;
    return Math.ceil(ready / peers);
  }

  get #active(): boolean {
    return this.#keys.size > 0;
  }

  #lookAtMs(nowMs: number): number {
    const { beatAtMs, isHalfway } = this.#holder;
    const isDue = this.#woken || isHalfway || beatAtMs <= nowMs;
    if (!isDue && !this.#holder.isMoving(this.#needs, nowMs)) return beatAtMs;
    if (isDue || this.#wantsOtherwise) return this.#lookedAtMs + this.#reportMs;
    // While all lack some, a look finds what the last one did: who gives tells.
    return Math.min(beatAtMs, this.#lookedAtMs + UNTOLD * this.#reportMs);
  }

  get #wantsOtherwise(): boolean {
    return this.#needs.entries().some(([key, { wants }]) =>
      isNews(this.#told.get(key) ?? 0, wants)
    );
  }

  #takeSettings(): void {
    const { settings } = this.#context.state;
    const { caps } = this.#context.slots.instances;
    const cluster = caps.filter(({ scope }) => scope === "cluster");
    const seen = new Map<string, number>();
    this.#keys = new Map(cluster.map((cap) => {
      const count = (seen.get(cap.name) ?? 0) + 1;
      seen.set(cap.name, count);
      return [cap, count === 1 ? cap.name : `${cap.name}#${count}`];
    }));
    const known = new Set(this.#keys.values());
    for (const key of this.#needs.keys()) {
      if (!known.has(key.slice(0, key.lastIndexOf("/")))) this.#needs.delete(key);
    }
    this.#reportMs = Math.min(
      ...settings.caps.flatMap(({ scope, reportMs }) => scope === "cluster" ? [reportMs] : []),
    );
    const { process } = this.#context.store;
    this.#holder.rules = { leaseMs: settings.leaseMs, coolMs: this.#coolMs, process };
  }

  #need(key: string, need: Need): void {
    this.#needs.set(key, this.#stopping ? { ...need, wants: 0 } : need);
  }

  /** What is no longer in effect is not used: nothing starts, and what runs ends before others take it for free. */
  #watchLapse(nowMs: number): void {
    const { changed, lapsed, state } = this.#context;
    const isValid = this.#holder.isAlone(nowMs) || nowMs < this.#holder.validUntilMs;
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
      const isValid = this.#holder.isAlone(laterMs) || laterMs < this.#holder.validUntilMs;
      if (isValid) this.#wasValid = true;
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
    const entry = this.#context.store.get(this.#key);
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
    const { store, now } = this.#context;
    const isGone = (process: string): boolean => store.isGone?.(process) ?? false;
    const draft = this.#holder.look(recordIn(entry), this.#needs, now(), isGone);
    if (draft === undefined) return;
    const answered = (ok: boolean): MaybePromise<void> => {
      if (number !== this.#looks) return;
      this.#holder.answered(ok);
      if (!ok && tries < MOST_TRIES) return this.#take(number, tries + 1);
    };
    const failed = (thrown: unknown): never => {
      if (number === this.#looks) this.#holder.failed();
      throw thrown;
    };
    let answer: MaybePromise<boolean>;
    try {
      answer = store.commit({ [this.#key]: entry?.version }, { [this.#key]: draft });
    } catch (thrown) {
      return failed(thrown);
    }
    return isPromise(answer) ? answer.then(answered, failed) : answered(answer);
  }

  async #leave(): Promise<void> {
    const { store } = this.#context;
    try {
      for (let tries = 0; tries <= MOST_TRIES; tries++) {
        const entry = await store.get(this.#key);
        const record = this.#holder.leave(recordIn(entry));
        if (record === undefined) return;
        if (await store.commit({ [this.#key]: entry?.version }, { [this.#key]: record })) return;
      }
    } catch {
      // Others take the permits once this process is silent.
    }
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
