/**
 * A circuit breaker: closed while its receiver takes jobs, open while it refuses them, half-open while
 * one job asks.
 *
 * @module
 */

import type { BreakerCause, BreakerView } from "../contract/view.ts";
import type { CooldownSettings } from "../config/settings.ts";
import { type BadEnd, BadEnds } from "./bad_ends.ts";

/** Share that chance adds to a wait that the receiver did not name: processes ask one after the other. */
const JITTER = 0.2;

/** The first wait is at least such a part of `minMs`. */
const SHORTEST = 10;

/** What refused jobs so long ago may do so again, ms. */
const RECENT_MS = 60_000;

/** With as many at once after a close nothing bounds starts any more. */
const ENOUGH = 1024;

/** A receiver that is gone is asked again after `maxMs`, twice that, and so on, up to this many times that. */
const GONE_TIMES = 60;

/** What a breaker needs of the one who has it. */
export interface BreakerOwner {
  /** What opens it. `undefined`: nothing does. */
  readonly rules: CooldownSettings | undefined;
  /** Chance for jitter. */
  readonly random: () => number;
  /** Numbers openings, of all breakers of the owner together: an attempt knows what came before it. */
  nextWave(): number;
  /** It has opened, opened again, or closed. */
  changed(breaker: CircuitBreaker): void;
  /** It has opened that was closed. */
  opened(breaker: CircuitBreaker, nowMs: number): void;
  /** It has closed that was open for so long. */
  closed(breaker: CircuitBreaker, nowMs: number, forMs: number): void;
}

/** An attempt, as far as a breaker asks. */
export interface BreakerAttempt {
  /** Its job. */
  readonly job: { readonly id: string };
  /** When it began. */
  readonly startedAtMs: number;
  /** How many openings came before it. */
  readonly wave: number;
}

/**
 * Owns how many attempts may start. Bad ends in a row, with no success of an attempt that began as late
 * as the first of them, open it: for as long as the receiver asked, or else forever longer. Then it is
 * half-open: one attempt asks. Another bad end opens it again; a success closes it, and lets two start
 * at once, then four, until nothing bounds them.
 */
export class CircuitBreaker {
  /** The key whose jobs it is about. `undefined`: those of the pool. */
  readonly key: string | undefined;
  /** No attempt starts before. `-Infinity`: it is closed. */
  untilMs = -Infinity;
  /** Why it opened last. */
  cause: BreakerCause = "overloaded";
  readonly #owner: BreakerOwner;
  readonly #ends: BadEnds;
  #allowed = Infinity; // attempts at once
  #probes = 0; // attempts that began since it opened, and run
  #wave = -1; // its latest opening
  #widenAtMs = Infinity;
  #askedAtMs = -Infinity;
  #waitMs = 0; // the last wait that no receiver named
  #openedAtMs: number | undefined;
  #closedAtMs = -Infinity;
  #refusedProbes = 0;

  /** Begins closed. `remembers`: of how many jobs it knows how they ended. */
  constructor(key: string | undefined, remembers: number, owner: BreakerOwner) {
    this.key = key;
    this.#owner = owner;
    this.#ends = new BadEnds(remembers);
  }

  /** True if it bounds nothing. */
  get isIdle(): boolean {
    return this.#allowed === Infinity;
  }

  /** True if it is open, or closed less than a minute ago, because jobs were refused. */
  hasRefused(nowMs: number): boolean {
    const sinceMs = this.#openedAtMs === undefined ? this.#closedAtMs : nowMs;
    return this.cause === "overloaded" && nowMs - sinceMs < RECENT_MS;
  }

  /** True if it is closed, bounds nothing, and knows of no bad end that has to be remembered. */
  isForgettable(nowMs: number): boolean {
    const { maxMs = 0 } = this.#owner.rules ?? {};
    return this.isIdle && this.#ends.count === 0 && nowMs - this.#ends.latestMs > maxMs;
  }

  /** True if no job has asked for long after it would have been let: there is none here any more. */
  isUnused(nowMs: number): boolean {
    const { maxMs = 0 } = this.#owner.rules ?? {};
    const sinceMs = Math.max(this.untilMs, this.#askedAtMs);
    return this.#openedAtMs !== undefined && this.#probes === 0 && nowMs > sinceMs + 2 * maxMs;
  }

  /** What is shown of it. `undefined`: it is closed. */
  view(nowMs: number): BreakerView | undefined {
    if (this.#openedAtMs === undefined) return undefined;
    return Object.freeze({
      key: this.key,
      state: nowMs < this.untilMs ? "open" : "half-open",
      cause: this.cause,
      sinceMs: this.#openedAtMs,
      untilMs: this.untilMs,
      count: this.#ends.count,
    });
  }

  /** How many more attempts may start now. `Infinity`: as many as like. */
  room(nowMs: number): number {
    if (this.#allowed === Infinity) return Infinity;
    if (nowMs < this.untilMs) return 0;
    // One that runs for so long was not refused.
    if (nowMs >= this.#widenAtMs) this.#took(nowMs);
    return Math.max(0, this.#allowed - this.#probes);
  }

  /** When there is more room, if nothing ends before. `Infinity`: only an end makes some. */
  nextAtMs(nowMs: number): number {
    return nowMs < this.untilMs ? this.untilMs : this.#widenAtMs;
  }

  /** An attempt begins while it is not idle. */
  began({ startedAtMs }: BreakerAttempt): void {
    this.#probes++;
    this.#askedAtMs = startedAtMs;
    if (this.#widenAtMs < Infinity) return;
    const { minMs = 0 } = this.#owner.rules ?? {};
    this.#widenAtMs = startedAtMs + Math.max(minMs, 2 * this.#ends.slowestMs);
  }

  /** An attempt has ended. `end`: how, if the receiver has not taken it; `null`: that is not known. */
  ended(attempt: BreakerAttempt, nowMs: number, end: BadEnd | null | undefined): void {
    if (attempt.wave >= this.#wave && !this.isIdle) this.#probes--;
    if (end === undefined) {
      if (this.#ends.isOverBy(attempt.startedAtMs)) this.#took(nowMs);
    } else if (end !== null) this.#bad(attempt, nowMs, end);
  }

  /** True if the job ended so before and others were taken since: it is about the job, not the receiver. */
  isOfJob(id: string): boolean {
    return this.#openedAtMs === undefined && this.#ends.isOfJob(id);
  }

  /** Others were refused that call the same receiver: none starts before, then one asks. */
  heard(untilMs: number, nowMs: number, cause: BreakerCause): void {
    const { rules } = this.#owner;
    if (rules === undefined || untilMs <= Math.max(nowMs, this.untilMs)) return;
    this.#openUntil(Math.min(untilMs, nowMs + GONE_TIMES * rules.maxMs), nowMs, cause);
  }

  /** Closes it, as if the receiver had taken a job; then one starts, two at once, and so on. */
  close(nowMs: number): void {
    this.#ends.forget();
    this.#allowed = 1;
    this.#probes = 0;
    this.#wave = this.#owner.nextWave();
    this.#close(nowMs);
  }

  /** Takes over the rules that now hold. */
  adopt(nowMs: number): void {
    const { rules } = this.#owner;
    if (rules === undefined) this.reset(nowMs);
    else if (nowMs < this.untilMs) this.#hold(Math.min(this.untilMs, nowMs + rules.maxMs));
  }

  /** Closes it, and bounds nothing. */
  reset(nowMs: number): void {
    this.#ends.forget();
    this.#allowed = Infinity;
    this.#close(nowMs);
  }

  #bad(attempt: BreakerAttempt, nowMs: number, { cause, askedMs }: BadEnd): void {
    const { rules } = this.#owner;
    if (rules === undefined) return;
    const isOpen = this.#openedAtMs !== undefined;
    const isCurrent = attempt.wave >= this.#wave;
    if (isCurrent && this.#ends.add(attempt, { nowMs, isFailure: cause === "failures", isOpen })) {
      if (isOpen || cause === "gone" || this.#ends.areMany(rules)) {
        this.#open(rules, nowMs, { cause, askedMs });
      }
    } else if (nowMs < this.untilMs && askedMs > 0) {
      // It began before the breaker opened: no more than a later time.
      this.#hold(Math.max(this.untilMs, nowMs + this.#bounded(rules, askedMs)));
    }
  }

  #open(rules: CooldownSettings, nowMs: number, { cause, askedMs }: BadEnd): void {
    const { maxMs } = rules;
    const { random } = this.#owner;
    if (this.#openedAtMs !== undefined) this.#refusedProbes++;
    this.#waitMs = this.#nextWaitMs(rules, nowMs);
    const namedMs = cause === "gone" ? Math.max(askedMs, GONE_TIMES * maxMs) : askedMs;
    const waitMs = namedMs > 0
      ? this.#bounded(rules, namedMs)
      : Math.min(maxMs, this.#waitMs * (1 + JITTER * random()));
    this.#openUntil(nowMs + waitMs, nowMs, cause);
  }

  #openUntil(untilMs: number, nowMs: number, cause: BreakerCause): void {
    const wasClosed = this.#openedAtMs === undefined;
    this.cause = cause;
    this.#wave = this.#owner.nextWave();
    this.#probes = 0;
    this.#allowed = 1;
    this.#widenAtMs = Infinity;
    this.#openedAtMs ??= nowMs;
    this.#hold(untilMs);
    if (wasClosed) this.#owner.opened(this, nowMs);
  }

  /**
   * How long it is open where the receiver says nothing. One that has a rate limit takes jobs for a moment,
   * then refuses some: it is asked again as soon as it had refused before, until `minMs` are over.
   */
  #nextWaitMs({ minMs, maxMs }: CooldownSettings, nowMs: number): number {
    const openedAtMs = this.#openedAtMs;
    const leastMs = minMs / SHORTEST;
    if (openedAtMs === undefined) {
      return Math.min(minMs, Math.max(leastMs, nowMs - this.#closedAtMs));
    }
    if (nowMs - openedAtMs < minMs) return Math.max(leastMs, this.#waitMs);
    return Math.min(maxMs, Math.max(minMs, 2 * this.#waitMs));
  }

  /** A long time is the word to one job, maybe not to all: another asks after `maxMs`, then ever later. */
  #bounded({ maxMs }: CooldownSettings, askedMs: number): number {
    return Math.min(askedMs, maxMs * 2 ** this.#refusedProbes);
  }

  #hold(untilMs: number): void {
    this.untilMs = untilMs;
    this.#owner.changed(this);
  }

  /** The receiver took a job. */
  #took(nowMs: number): void {
    this.#ends.tookAt(nowMs);
    if (this.#allowed === Infinity) return;
    this.#allowed = this.#allowed >= ENOUGH ? Infinity : 2 * this.#allowed;
    this.#close(nowMs);
  }

  #close(nowMs: number): void {
    const openedAtMs = this.#openedAtMs;
    this.#widenAtMs = Infinity;
    this.#waitMs = 0;
    this.#ends.slowestMs = 0;
    this.#refusedProbes = 0;
    this.#openedAtMs = undefined;
    this.#closedAtMs = nowMs;
    this.#hold(-Infinity);
    if (openedAtMs !== undefined) this.#owner.closed(this, nowMs, nowMs - openedAtMs);
  }
}
