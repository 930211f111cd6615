/**
 * The circuit breakers of keys: one for each key that needs one.
 *
 * @module
 */

import { type BreakerOwner, CircuitBreaker } from "./breaker.ts";

/** Of how many jobs each knows how they ended. */
const REMEMBERS = 100;

/** Most keys with a breaker. */
const MOST_KEYS = 10_000;

/** Jobs without a key share a breaker, where others have one of their key. */
const NO_KEY = "";

/** How often it is looked which keys have no jobs any more, ms. */
const LOOK_MS = 1000;

/** Owns which keys have a breaker. */
export class KeyBreakers {
  readonly #owner: BreakerOwner;
  readonly #byKey = new Map<string, CircuitBreaker>();
  readonly #held = new Set<CircuitBreaker>(); // those that bound starts
  #lookAtMs = -Infinity;

  /** Begins with none. */
  constructor(owner: BreakerOwner) {
    this.#owner = owner;
  }

  /** True if some bound starts. */
  get hold(): boolean {
    return this.#held.size > 0;
  }

  /** Those that bound starts, the one that opened first first. */
  get held(): Iterable<CircuitBreaker> {
    return this.#held;
  }

  /** All there are. */
  get all(): Iterable<CircuitBreaker> {
    return this.#byKey.values();
  }

  /** The breaker of a key. `undefined`: it has none. */
  known(key = NO_KEY): CircuitBreaker | undefined {
    return this.#byKey.size === 0 ? undefined : this.#byKey.get(key);
  }

  /** The same, made if there is none. `undefined`: there are too many. */
  own(key = NO_KEY, nowMs: number): CircuitBreaker | undefined {
    const known = this.known(key);
    if (known !== undefined) return known;
    if (this.#byKey.size >= MOST_KEYS) this.#forgetOne(nowMs);
    if (this.#byKey.size >= MOST_KEYS) return undefined;
    const breaker = new CircuitBreaker(key, REMEMBERS, this.#owner);
    this.#byKey.set(key, breaker);
    return breaker;
  }

  /** One has opened, or closed. */
  changed(breaker: CircuitBreaker): void {
    if (breaker.isIdle) this.#held.delete(breaker);
    else this.#held.add(breaker);
  }

  /** A key needs its breaker no more. */
  forget({ key = NO_KEY }: CircuitBreaker): void {
    this.#byKey.delete(key);
  }

  /** No key needs one. */
  clear(): void {
    this.#byKey.clear();
  }

  /** Closes the breakers of keys that have no jobs any more: done by other processes, or cancelled. */
  look(nowMs: number): void {
    if (this.#held.size === 0 || nowMs < this.#lookAtMs) return;
    this.#lookAtMs = nowMs + LOOK_MS;
    for (const breaker of this.#held) {
      if (!breaker.isUnused(nowMs)) continue;
      breaker.reset(nowMs);
      this.forget(breaker);
    }
  }

  /** Forgets the breaker of the key that has one for the longest and needs it least. */
  #forgetOne(nowMs: number): void {
    let idle: string | undefined;
    for (const [key, breaker] of this.#byKey) {
      if (!breaker.isIdle) continue;
      idle ??= key;
      if (breaker.isForgettable(nowMs)) {
        idle = key;
        break;
      }
    }
    if (idle !== undefined) this.#byKey.delete(idle);
  }
}
