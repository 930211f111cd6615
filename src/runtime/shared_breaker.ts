/**
 * Circuit breakers of named downstreams: one for all pools of this process that use the downstream.
 * Other processes hear of it by a record in the store.
 *
 * @module
 */

import { type BreakerOwner, CircuitBreaker } from "./breaker.ts";
import { BreakerRecord, type BreakerRecordContext } from "./breaker_record.ts";
import type { CooldownSettings } from "../config/settings.ts";
import type { PoolEvent } from "../contract/event.ts";

/** Of how many jobs a downstream knows how they ended. */
const REMEMBERS = 10_000;

/** Why a breaker has closed. */
export type ClosedBy = Extract<PoolEvent, { readonly kind: "cooldown-ended" }>["by"];

/** What the breakers of a process go by, and where their records are. */
export type SharedBreakersContext =
  & Pick<BreakerRecordContext, "store" | "now" | "wall">
  & {
    /** Chance for jitter. */
    readonly random: () => number;
  };

/** A pool that uses a downstream. */
export interface BreakerUser {
  /** What the breaker bounds has changed, or the record is to be looked at: takes a turn. */
  sharedChanged(): void;
  /** It has opened that was closed. */
  sharedOpened(shared: SharedBreaker, nowMs: number): void;
  /** It has closed that was open for so long. */
  sharedClosed(shared: SharedBreaker, nowMs: number, forMs: number, by: ClosedBy): void;
}

/** The breaker of one downstream. */
export class SharedBreaker implements BreakerOwner {
  /** The downstream. */
  readonly name: string;
  /** The breaker. */
  readonly breaker: CircuitBreaker;
  /** What opens it: as the latest of its pools was told. */
  rules: CooldownSettings | undefined;
  /** What other processes are to know of it. */
  readonly record: BreakerRecord;
  readonly random: () => number;
  readonly #users = new Set<BreakerUser>();
  readonly #waves: Waves;
  #closedBy: ClosedBy = "success";

  /** Begins closed. */
  constructor(name: string, { random, ...context }: SharedBreakersContext, waves: Waves) {
    this.name = name;
    this.random = random;
    this.#waves = waves;
    this.breaker = new CircuitBreaker(undefined, REMEMBERS, this);
    this.record = new BreakerRecord(`breakers/downstreams/${name}`, {
      ...context,
      hears: true,
      heard: ({ untilMs, cause }, nowMs) => this.breaker.heard(untilMs, nowMs, cause),
      closedByHand: (_, nowMs) => void this.close(nowMs),
      told: () => this.#changed(),
    });
  }

  /** A pool begins to use it, or goes by other rules. */
  join(user: BreakerUser, rules: CooldownSettings, nowMs: number): void {
    const isSame = this.rules !== undefined && JSON.stringify(this.rules) === JSON.stringify(rules);
    this.rules = rules;
    if (!isSame) this.breaker.adopt(nowMs); // else it would bound what the receiver asked for
    this.#users.add(user);
  }

  /** A pool uses it no more. */
  leave(user: BreakerUser): void {
    this.#users.delete(user);
  }

  /** Closes it by hand. False: it is closed. */
  close(nowMs: number): boolean {
    if (this.breaker.view(nowMs) === undefined) return false;
    this.#closedBy = "hand";
    this.breaker.close(nowMs);
    this.#closedBy = "success";
    return true;
  }

  nextWave(): number {
    return this.#waves.next();
  }

  changed(breaker: CircuitBreaker): void {
    this.record.changed(breaker);
    this.#changed();
  }

  opened(_: CircuitBreaker, nowMs: number): void {
    for (const user of this.#users) user.sharedOpened(this, nowMs);
  }

  closed(_: CircuitBreaker, nowMs: number, forMs: number): void {
    for (const user of this.#users) user.sharedClosed(this, nowMs, forMs, this.#closedBy);
  }

  #changed(): void {
    for (const user of this.#users) user.sharedChanged();
  }
}

/** Numbers openings of all breakers of a process: an attempt knows what came before it. */
export class Waves {
  /** The latest. */
  latest = 0;

  /** The next one. */
  next(): number {
    return ++this.latest;
  }
}

/** Owns the breakers of one process. */
export class SharedBreakers {
  /** Numbers openings. */
  readonly waves: Waves = new Waves();
  readonly #byName = new Map<string, SharedBreaker>();
  readonly #context: SharedBreakersContext;

  /** Begins with none. */
  constructor(context: SharedBreakersContext) {
    this.#context = context;
  }

  /** The breaker of a downstream; made if there is none. */
  of(name: string): SharedBreaker {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const made = new SharedBreaker(name, this.#context, this.waves);
    this.#byName.set(name, made);
    return made;
  }
}
