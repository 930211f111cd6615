/**
 * Circuit breakers of named downstreams: one for all pools of this process that use the downstream.
 * Other processes hear of it by the record of permits.
 *
 * @module
 */

import { type BreakerOwner, CircuitBreaker } from "./breaker.ts";
import type { CooldownSettings } from "../config/settings.ts";

/** Of how many jobs a downstream knows how they ended. */
const REMEMBERS = 10_000;

/** A pool that uses a downstream. */
export interface BreakerUser {
  /** What the breaker bounds has changed. */
  sharedChanged(): void;
  /** It has opened that was closed. */
  sharedOpened(shared: SharedBreaker, nowMs: number): void;
  /** It has closed that was open for so long. */
  sharedClosed(shared: SharedBreaker, nowMs: number, forMs: number): void;
}

/** The breaker of one downstream. */
export class SharedBreaker implements BreakerOwner {
  /** The downstream. */
  readonly name: string;
  /** The breaker. */
  readonly breaker: CircuitBreaker;
  /** What opens it: as the latest of its pools was told. */
  rules: CooldownSettings | undefined;
  /** Until when jobs of this process were refused, in the clock's time: others are to know. `-Infinity`: none is. */
  ownUntilMs = -Infinity;
  readonly random: () => number;
  readonly #users = new Set<BreakerUser>();
  readonly #waves: Waves;
  #heardMs = -Infinity;
  #isHearing = false;

  /** Begins closed. */
  constructor(name: string, random: () => number, waves: Waves) {
    this.name = name;
    this.random = random;
    this.#waves = waves;
    this.breaker = new CircuitBreaker(undefined, REMEMBERS, this);
  }

  /** A pool begins to use it, or goes by other rules. */
  join(user: BreakerUser, rules: CooldownSettings, nowMs: number): void {
    this.rules = rules;
    this.breaker.adopt(nowMs);
    this.#users.add(user);
  }

  /** A pool uses it no more. */
  leave(user: BreakerUser): void {
    this.#users.delete(user);
  }

  /** Other processes were refused until then. What was heard before says nothing new. */
  heard(untilMs: number, nowMs: number): void {
    if (untilMs <= this.#heardMs) return;
    this.#heardMs = untilMs;
    this.#isHearing = true;
    this.breaker.heard(untilMs, nowMs);
    this.#isHearing = false;
  }

  nextWave(): number {
    return this.#waves.next();
  }

  changed({ untilMs }: CircuitBreaker): void {
    if (!this.#isHearing) this.ownUntilMs = untilMs;
    for (const user of this.#users) user.sharedChanged();
  }

  opened(_: CircuitBreaker, nowMs: number): void {
    for (const user of this.#users) user.sharedOpened(this, nowMs);
  }

  closed(_: CircuitBreaker, nowMs: number, forMs: number): void {
    for (const user of this.#users) user.sharedClosed(this, nowMs, forMs);
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
  readonly #random: () => number;

  /** Begins with none. @param random Chance for jitter. */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** The breaker of a downstream; made if there is none. */
  of(name: string): SharedBreaker {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const made = new SharedBreaker(name, this.#random, this.waves);
    this.#byName.set(name, made);
    return made;
  }
}
