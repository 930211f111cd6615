/**
 * Calls to a store that may fail: backs off, and keeps the pool's view honest meanwhile.
 *
 * @module
 */

import type { PoolCore } from "./pool_core.ts";
import { messageOf } from "../contract/errors.ts";
import { OpenList } from "../base/open_list.ts";
import type { EventHub } from "./event_hub.ts";
import type { StoreTrouble } from "../explain/diagnose/finding.ts";
import type { PoolState } from "./pool_state.ts";
import type { MaybePromise } from "../contract/store.ts";

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5000;

/** A kind of call that has failed so often in a row is reported, and at each doubling. */
const REPEATED = 5;

/** A call that may be made again and is not for so long, and a tick more, is not wanted, ms. */
const UNWANTED_AFTER_MS = 250;

/** A store that nobody has given jobs for so long since it took none may take them again, ms. */
const REFUSES_FOR_MS = 60_000;

/** What follows from an answer: at once if it is there. */
export function whenReady<T, R>(
  answer: MaybePromise<T>,
  then: (value: T) => MaybePromise<R>,
): MaybePromise<R> {
  return isPromise(answer) ? answer.then(then) : then(answer);
}

/** True for what must be awaited. */
export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof value === "object" && value !== null && "then" in value &&
    typeof value.then === "function";
}

/** What a pool asks of its store in the normal course. */
export type StoreCall = "count" | "lease" | "settle" | "renew";

/**
 * A question to the store, with what follows. What one call is about is handed to all of them: a question
 * that each turn asks is made once.
 */
export interface GuardedCall<T, About> {
  /** Asks it. */
  readonly ask: (about: About) => MaybePromise<T>;
  /** Throws if the answer is none. */
  readonly judge: (answer: T, about: About) => void;
  /** Gets the answer, at once if the store answers at once. */
  readonly ok: (answer: T, about: About) => void;
  /** Called after a fault, or once it is given up. */
  readonly failed: (about: About) => void;
  /** Gets the answer to a question that was given up. */
  readonly late: (answer: T, about: About) => void;
}

interface OpenCall {
  readonly call: StoreCall;
  readonly sinceMs: number;
  readonly failed: () => void;
}

interface Failing {
  pauseMs: number;
  resumeAtMs: number;
  /** How often it has failed in a row. */
  failures: number;
  /** True: a success of another kind has ended its pause once, and no other kind has failed since. */
  freed: boolean;
}

/** What a guard needs of its pool. Of its state the guard owns `stale`. */
export interface StoreGuardContext extends PoolCore {
  /** Spreads the retries of several processes. */
  readonly random: () => number;
  /** Called once pauses have ended before their time: what waited may be tried at once. */
  readonly freed: () => void;
}

/**
 * Sits between a pool and its store. A kind of call that fails waits ever longer, with jitter. The
 * first success after an outage ends the pauses of all: the store is back. One that fails once more
 * while others do not waits on by itself: a store that counts well but leases nothing is not asked to
 * lease at every count.
 */
export class StoreGuard {
  /** When the store last failed to take a job. `undefined`: it has taken one since, or never failed to. */
  refusedAtMs: number | undefined;
  /** Message of its latest failure. `undefined`: it has not failed. */
  lastError: string | undefined;
  readonly #state: PoolState;
  readonly #hub: EventHub;
  readonly #random: () => number;
  readonly #now: () => number;
  readonly #freed: () => void;
  readonly #failing = new Map<StoreCall, Failing>();
  /** Calls that are not answered yet. */
  readonly #open = new OpenList<OpenCall>();
  #failingSinceMs: number | undefined;
  #refusedSinceMs: number | undefined;

  /** Begins with a store that works. */
  constructor({ state, hub, random, now, freed }: StoreGuardContext) {
    this.#state = state;
    this.#hub = hub;
    this.#random = random;
    this.#now = now;
    this.#freed = freed;
  }

  /** How long the oldest call has gone without an answer, ms. 0: none has. */
  waitMs(nowMs: number): number {
    const { first } = this.#open;
    return first === undefined ? 0 : nowMs - first.sinceMs;
  }

  /** For how long it has failed. */
  trouble(nowMs: number): StoreTrouble {
    const isRefusing = nowMs - (this.refusedAtMs ?? -Infinity) < REFUSES_FOR_MS;
    return {
      failingMs: nowMs - (this.#failingSinceMs ?? nowMs),
      refusingMs: isRefusing ? nowMs - (this.#refusedSinceMs ?? nowMs) : 0,
      error: this.lastError ?? "no message",
    };
  }

  /** The store failed to take a job: anyone who enqueues hears of it, and may try again at once. */
  refused(thrown: unknown): void {
    this.lastError = messageOf(thrown);
    this.refusedAtMs = this.#now();
    this.#refusedSinceMs ??= this.refusedAtMs;
    for (const failing of this.#failing.values()) failing.freed = false;
  }

  /** The store took a job. */
  took(): void {
    this.refusedAtMs = undefined;
    this.#refusedSinceMs = undefined;
    if (this.#failing.size > 0) this.#free();
  }

  /** True while such calls have to wait. */
  closed(call: StoreCall, nowMs: number): boolean {
    return this.#failing.size > 0 && nowMs < this.resumeAtMs(call);
  }

  /** No such call before then. `-Infinity`: at once. */
  resumeAtMs(call: StoreCall): number {
    return this.#failing.get(call)?.resumeAtMs ?? -Infinity;
  }

  /** Puts a question to the store. One that is not answered within `leaseMs` is given up, as failed. */
  call<T, About>(call: StoreCall, question: GuardedCall<T, About>, about: About): void {
    let answer: MaybePromise<T>;
    try {
      answer = question.ask(about);
      if (!isPromise(answer)) question.judge(answer, about);
    } catch (thrown) {
      this.#fail(call, thrown);
      question.failed(about);
      return;
    }
    if (isPromise(answer)) return this.#wait(call, question, about, answer);
    if (this.#failing.size > 0) this.#recover(call);
    question.ok(answer, about);
  }

  #wait<T, About>(
    call: StoreCall,
    question: GuardedCall<T, About>,
    about: About,
    answer: Promise<T>,
  ): void {
    const failed = (): void => question.failed(about);
    const open = this.#open.add({ call, sinceMs: this.#now(), failed });
    answer.then((value) => {
      const isWanted = this.#open.delete(open);
      try {
        question.judge(value, about);
      } catch (thrown) {
        if (!isWanted) return;
        this.#fail(call, thrown);
        return failed();
      }
      if (!isWanted) return question.late(value, about);
      if (this.#failing.size > 0) this.#recover(call);
      question.ok(value, about);
    }, (thrown) => {
      if (!this.#open.delete(open)) return; // it was given up, and reported then
      this.#fail(call, thrown);
      failed();
    });
  }

  /** What the store answered to such a call is of no use, as was found later. */
  blame(call: StoreCall, thrown: unknown): void {
    this.#fail(call, thrown);
  }

  /** When the oldest call is given up. `Infinity`: all are answered. */
  get giveUpAtMs(): number {
    const { first } = this.#open;
    return first === undefined ? Infinity : first.sinceMs + this.#state.settings.leaseMs;
  }

  /** When a call is given up, or jobs that are ready may be leased again. */
  nextAtMs(nowMs: number): number {
    const isHeldUp = this.closed("lease", nowMs) && this.#state.ready > 0;
    return Math.min(this.giveUpAtMs, isHeldUp ? this.resumeAtMs("lease") : Infinity);
  }

  /** Gives up calls that are not answered in time: the pool goes on without them. */
  enforce(nowMs: number): void {
    while (nowMs >= this.giveUpAtMs) {
      const oldest = this.#open.shift(); // there is one, or it would not be time
      const { leaseMs } = this.#state.settings;
      this.#fail(oldest!.call, new Error(`No answer to ${oldest!.call} within ${leaseMs} ms`));
      oldest!.failed();
    }
  }

  #fail(call: StoreCall, thrown: unknown): void {
    const nowMs = this.#now();
    const failing = this.#failing.get(call) ??
      { pauseMs: FIRST_PAUSE_MS, resumeAtMs: nowMs, failures: 0, freed: false };
    failing.resumeAtMs = nowMs + failing.pauseMs * (1 + this.#random());
    failing.pauseMs = Math.min(LONGEST_PAUSE_MS, failing.pauseMs * 2);
    const failures = ++failing.failures;
    this.#failing.set(call, failing);
    for (const other of this.#failing.values()) if (other !== failing) other.freed = false;
    const error = messageOf(thrown);
    this.lastError = error;
    const isFirst = !this.#state.stale;
    this.#state.stale = true;
    this.#failingSinceMs ??= nowMs;
    if (!this.#hub.watched) return;
    const base = { atMs: nowMs, pool: this.#state.pool, error };
    if (isFirst) this.#hub.emit({ kind: "store-failed", ...base });
    if (Number.isInteger(Math.log2(failures / REPEATED))) {
      this.#hub.emit({ kind: "store-failing", ...base, call, failures });
    }
  }

  /** The store works: ends the pauses, of each kind of call once until another fails. */
  #free(): void {
    const nowMs = this.#now();
    let isFree = false;
    for (const failing of this.#failing.values()) {
      if (failing.freed || failing.resumeAtMs <= nowMs) continue;
      failing.freed = true;
      failing.resumeAtMs = nowMs;
      isFree = true;
    }
    if (isFree) this.#freed();
  }

  #recover(call: StoreCall): void {
    const nowMs = this.#now();
    const unwantedAfterMs = UNWANTED_AFTER_MS + this.#state.settings.tickMs;
    if (this.#failing.delete(call)) this.#free();
    for (const [other, { resumeAtMs }] of this.#failing) {
      // What nobody wants to call again says nothing about the store of now.
      const isOpen = this.#open.values().some((open) => open.call === other);
      if (!isOpen && resumeAtMs + unwantedAfterMs <= nowMs) this.#failing.delete(other);
    }
    if (this.#failing.size > 0) return;
    this.#state.stale = false;
    this.#failingSinceMs = undefined;
    if (this.#hub.watched) {
      this.#hub.emit({ kind: "store-recovered", atMs: nowMs, pool: this.#state.pool });
    }
  }
}
