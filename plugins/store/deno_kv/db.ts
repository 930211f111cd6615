/**
 * The database: reads and commits that wait while it is busy, and learn what came of an unclear commit.
 *
 * @module
 */

import { delay } from "../../../src/async.ts";
import { tokenKey } from "./keys.ts";

/** How long a busy database is waited for, ms. */
const PATIENCE_MS = 10_000;

/** Longest wait between two tries, ms. */
const LONGEST_WAIT_MS = 30;

/** How long it stays known that a commit over the network took place, ms. */
const TOKEN_MS = 600_000;

/** Most keys of one `getMany`. */
const MANY = 10;

/** Longest wait between two looks at what came of a commit, ms, before jitter. */
const LONGEST_OUTAGE_WAIT_MS = 2000;

/** Value of a token: its commit was applied. */
const TOOK_PLACE = 1;

/** Value of a token: its commit was not applied, and cannot be any more. */
const CALLED_OFF = 0;

/** How a database is used. */
export interface DbOptions {
  /** True over the network: answers may be lost, and writes repeated. */
  readonly remote: boolean;
  /** Most checks of one commit. */
  readonly maxChecks: number;
  /** Chance for jitter. */
  readonly random: () => number;
}

/** What `Db.list` reads. */
export interface ListOptions {
  /** Most entries. */
  readonly limit?: number;
  /** Entries a request. */
  readonly batchSize?: number;
  /** True: last first. */
  readonly reverse?: boolean;
}

/** A commit to be made: what `commit` needs to know of it beside what it does. */
export interface Operation {
  /** Its checks and mutations. */
  readonly atomic: Deno.AtomicOperation;
  /** Whether others are to hear of it. */
  readonly signals: boolean;
}

/** One handle. */
export class Db {
  /** The handle itself. */
  readonly kv: Deno.Kv;
  /** Most checks that a user of this may put into one commit. */
  readonly maxChecks: number;
  /** Commits of this process that others should hear of. */
  signals = 0;
  /** Commits on their way that others should hear of. */
  signalsInFlight = 0;
  /** True once nothing more is asked of it. */
  closed = false;
  readonly #remote: boolean;
  readonly #random: () => number;

  /** Uses a handle. Whoever opened it closes it. */
  constructor(kv: Deno.Kv, { remote, maxChecks, random }: DbOptions) {
    this.kv = kv;
    this.maxChecks = remote ? maxChecks - 1 : maxChecks; // one is the token's
    this.#remote = remote;
    this.#random = random;
  }

  /** Reads one key. */
  get<T>(key: Deno.KvKey): Promise<Deno.KvEntryMaybe<T>> {
    return this.#patiently(() => this.kv.get<T>(key));
  }

  /** Reads keys, any number. */
  async getMany<T>(keys: readonly Deno.KvKey[]): Promise<Deno.KvEntryMaybe<T>[]> {
    const entries: Deno.KvEntryMaybe<T>[] = [];
    for (let from = 0; from < keys.length; from += MANY) {
      const some = keys.slice(from, from + MANY);
      entries.push(...await this.#patiently(() => this.kv.getMany<T[]>(some)));
    }
    return entries;
  }

  /** Reads entries in the order of their keys. */
  list<T>(selector: Deno.KvListSelector, options: ListOptions = {}): Promise<Deno.KvEntry<T>[]> {
    return this.#patiently(() => Array.fromAsync(this.kv.list<T>(selector, options)));
  }

  /** Commits. False: a check failed, and nothing was changed. */
  async commit({ atomic, signals }: Operation): Promise<boolean> {
    if (signals) this.signalsInFlight++;
    let done = false;
    try {
      done = this.#remote
        ? await this.#commitOnce(atomic)
        : (await this.#patiently(() => atomic.commit())).ok;
    } finally {
      if (signals) this.signalsInFlight--;
    }
    if (done && signals) this.signals++;
    return done;
  }

  /** A wait that differs from one process to the next. */
  async pause(tries: number): Promise<void> {
    await delay(1 + this.#random() * Math.min(LONGEST_WAIT_MS, 3 * (tries + 1)));
  }

  /**
   * The client repeats a write whose answer is lost, so that `ok` may be false, or the call fail,
   * although it was applied (denoland/denokv, 0.12). The commit's token tells.
   */
  async #commitOnce(atomic: Deno.AtomicOperation): Promise<boolean> {
    const key = tokenKey(crypto.randomUUID());
    atomic.check({ key, versionstamp: null }).set(key, TOOK_PLACE, { expireIn: TOKEN_MS });
    try {
      if ((await atomic.commit()).ok) return true;
    } catch (thrown) {
      if (await this.#settle(key)) return true;
      throw thrown;
    }
    return (await this.kv.get(key)).value === TOOK_PLACE;
  }

  /** Finds out whether a commit took place. If it has not by now, it never will. */
  async #settle(key: Deno.KvKey): Promise<boolean> {
    const atomic = this.kv.atomic().check({ key, versionstamp: null })
      .set(key, CALLED_OFF, { expireIn: TOKEN_MS });
    for (let tries = 0;; tries++) {
      try {
        if ((await atomic.commit()).ok) return false;
        return (await this.kv.get(key)).value === TOOK_PLACE;
      } catch (thrown) {
        if (this.closed) throw thrown;
        await delay(Math.min(LONGEST_OUTAGE_WAIT_MS, 50 * 2 ** tries) * (1 + this.#random()));
      }
    }
  }

  /** A busy database has applied nothing (denoland/deno#20116): the same is tried again. */
  async #patiently<T>(operation: () => Promise<T>): Promise<T> {
    const until = performance.now() + PATIENCE_MS;
    for (let tries = 0;; tries++) {
      try {
        return await operation();
      } catch (thrown) {
        if (!isBusy(thrown) || performance.now() > until) throw thrown;
        await this.pause(tries);
      }
    }
  }
}

function isBusy(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.message.includes("database is locked");
}
