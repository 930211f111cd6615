/**
 * The database: reads and commits that wait while it is busy, and learn what came of an unclear commit.
 *
 * @module
 */

import { messageOf } from "../../../src/contract/errors.ts";
import { delay } from "../../../src/base/async.ts";
import { isDamaged, mendCounters } from "../doctor/recount.ts";
import { RemoteConnection } from "./remote_connection.ts";
import type { SameFile } from "./same_file.ts";
import { CommitTokens } from "./commit_tokens.ts";
import { Allowance } from "./atomic_operation.ts";

/** How long a busy database is waited for, and others who change the same keys, ms. */
export const PATIENCE_MS = 8000;

/** Tries are not given up before this many, however long they took: a process may have been suspended. */
const LEAST_TRIES = 10;

/** Longest wait between two tries, ms. */
const LONGEST_WAIT_MS = 30;

/** How often the log may be found empty in a row. Each is a checkpoint of another program. */
const MOST_EMPTIED = 10;

/** Most keys of one `getMany`. */
const MANY = 10;

/** How a database is used. */
export interface DbOptions {
  /** True over the network: answers may be lost, and writes repeated. */
  readonly remote: boolean;
  /** Knows whether the file is still the one that was opened. @default {nobody looks} */
  readonly file?: SameFile | undefined;
  /** Opens another handle, after an outage of a network. @default {the same is used again} */
  readonly open?: (() => Promise<Deno.Kv>) | undefined;
  /** How long an answer over the network may take, ms. @default {5000} */
  readonly answerMs?: number | undefined;
  /** Most checks of one commit. */
  readonly maxChecks: number;
  /** Chance for jitter. */
  readonly random: () => number;
  /** Time that never goes back, ms. @default {performance.now()} */
  readonly nowMs?: (() => number) | undefined;
}

/** What `Db.list` reads. */
export interface RangeOptions {
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
  /** About how large it is. @default {small} */
  readonly bytes?: number;
}

/** A commit was made, in a file that is not in its place: once that comes back, so does the commit. */
export class UncertainCommit extends Error {
  /** Who asked for it is to look before asking again. */
  readonly mayBeDone = true;

  /** Says what is wrong with the file. */
  constructor(cause: unknown) {
    super(messageOf(cause), { cause });
  }
}

/** One database. */
export class Db {
  /** Most checks that a user of this may put into one commit. */
  readonly maxChecks: number;
  /** Chance for jitter. */
  readonly random: () => number;
  /** True if one commit is made after the other, however many are on their way. */
  readonly isSerial: boolean;
  /** How much a commit may take. */
  readonly allowance = new Allowance();
  /** Commits that were asked for. */
  commits = 0;
  /** Commits of this process that others should hear of. */
  signals = 0;
  /** Commits on their way that others should hear of. */
  signalsInFlight = 0;
  /** Its file, where there is one. */
  readonly file: SameFile | undefined;
  readonly #kv: Deno.Kv;
  readonly #line: RemoteConnection | undefined;
  readonly #tokens: CommitTokens | undefined;
  readonly #nowMs: () => number;

  /** Uses a handle, and closes it in the end. */
  constructor(kv: Deno.Kv, options: DbOptions) {
    const { remote, file, open, answerMs, maxChecks, random, nowMs } = options;
    this.maxChecks = remote ? maxChecks - 1 : maxChecks; // one is the token's
    this.isSerial = !remote;
    this.file = file;
    this.#kv = kv;
    this.random = random;
    this.#nowMs = nowMs ?? (() => performance.now());
    if (!remote) return;
    this.#line = new RemoteConnection(kv, { open: open ?? (() => Promise.resolve(kv)), answerMs });
    this.#tokens = new CommitTokens(this.#line, random);
  }

  /** The handle, for watches and to begin a commit. Another one after an outage of the network. */
  get kv(): Deno.Kv {
    return this.#line?.kv ?? this.#kv;
  }

  /** Reads one key. */
  get<T>(key: Deno.KvKey): Promise<Deno.KvEntryMaybe<T>> {
    return this.#ask(() => this.kv.get<T>(key));
  }

  /** Reads keys, any number. */
  async getMany<T>(keys: readonly Deno.KvKey[]): Promise<Deno.KvEntryMaybe<T>[]> {
    const entries: Deno.KvEntryMaybe<T>[] = [];
    for (let from = 0; from < keys.length; from += MANY) {
      const some = keys.slice(from, from + MANY);
      entries.push(...await this.#ask(() => this.kv.getMany<T[]>(some)));
    }
    return entries;
  }

  /** Reads entries in the order of their keys. */
  list<T>(selector: Deno.KvListSelector, options: RangeOptions = {}): Promise<Deno.KvEntry<T>[]> {
    return this.#ask(() => Array.fromAsync(this.kv.list<T>(selector, options)));
  }

  /** Reads entries in the order of their keys, a batch at a time, for as long as they are asked for. */
  entries<T>(
    selector: Deno.KvListSelector,
    options: RangeOptions = {},
  ): AsyncIterable<Deno.KvEntry<T>> {
    return this.#line === undefined
      ? this.kv.list<T>(selector, options)
      : this.#inBatches(selector, options);
  }

  /** One request after the other: one that fails is tried again, where an iterator would have ended. */
  async *#inBatches<T>(
    selector: Deno.KvListSelector,
    { batchSize = 100, reverse = false }: RangeOptions,
  ): AsyncGenerator<Deno.KvEntry<T>> {
    for (let rest = selector;;) {
      const options = { limit: batchSize, batchSize, reverse };
      const entries = await this.list<T>(rest, options);
      yield* entries;
      const last = entries.at(-1);
      if (last === undefined || entries.length < batchSize) return;
      rest = reverse ? before(selector, last.key) : after(selector, last.key);
    }
  }

  /**
   * Commits. The version of what it has set. `undefined`: a check failed, and nothing was changed.
   *
   * @throws {UncertainCommit} If it went to a file that is no longer in its place.
   * @throws {Error} If that failed.
   */
  async commit({ atomic, signals, bytes = 0 }: Operation): Promise<string | undefined> {
    if (this.file?.isLost) this.file.checkAll();
    this.commits++;
    if (signals) this.signalsInFlight++;
    let version: string | undefined;
    try {
      version = await this.#commit(atomic, bytes);
    } catch (thrown) {
      if (!isDamaged(thrown)) throw thrown;
      await mendCounters(this); // nothing was changed: once they count again, it is made
      version = await this.#commit(atomic, bytes);
    } finally {
      if (signals) this.signalsInFlight--;
    }
    if (version !== undefined && signals) this.signals++;
    try {
      this.file?.check(); // afterwards: nobody hears of a commit that went to a file that was deleted
      if (this.file?.isUnclear) await this.#settle(this.file);
    } catch (thrown) {
      throw version === undefined ? thrown : new UncertainCommit(thrown);
    }
    return version;
  }

  /** Finds out whether a log that holds no commit was emptied by SQLite: then it begins with the next one. */
  async #settle(file: SameFile): Promise<void> {
    for (let tries = 0; file.isUnclear; tries++) {
      if (tries === MOST_EMPTIED) {
        throw new Error("The log of the database is emptied after each commit: end what does that");
      }
      await this.pause(tries);
      await this.#commit(this.kv.atomic(), 0);
      file.check();
    }
  }

  async #commit(atomic: Deno.AtomicOperation, bytes: number): Promise<string | undefined> {
    return this.#tokens !== undefined
      ? await this.#tokens.commit(atomic, bytes)
      : versionIn(await this.#patiently(() => atomic.commit()));
  }

  /** Deletes one key, whatever it holds. */
  async delete(key: Deno.KvKey): Promise<void> {
    await this.commit({ atomic: this.kv.atomic().delete(key), signals: false });
  }

  /**
   * Tries until an attempt comes to something, with random pauses between. `undefined`: others were quicker
   * for `forMs`.
   */
  async retry<T>(
    attempt: () => Promise<T | undefined>,
    forMs = PATIENCE_MS,
  ): Promise<T | undefined> {
    const untilMs = this.#nowMs() + forMs;
    for (let tries = 1;; tries++) {
      const done = await attempt();
      if (done !== undefined) return done;
      if (tries >= LEAST_TRIES && this.#nowMs() >= untilMs) return undefined;
      await this.pause(tries);
    }
  }

  /** A wait that differs from one process to the next. */
  async pause(tries: number): Promise<void> {
    await delay(1 + this.random() * Math.min(LONGEST_WAIT_MS, 3 * (tries + 1)));
  }

  /** Closes the handle. What is on its way fails, or is answered late. */
  close(): void {
    this.#tokens?.close();
    this.file?.close();
    if (this.#line === undefined) this.#kv.close();
    else this.#line.close();
  }

  #ask<T>(operation: () => Promise<T>): Promise<T> {
    return this.#line === undefined ? this.#patiently(operation) : this.#line.read(operation);
  }

  /** A busy database has applied nothing (denoland/deno#20116): the same is tried again. */
  async #patiently<T>(operation: () => Promise<T>): Promise<T> {
    const untilMs = this.#nowMs() + PATIENCE_MS;
    for (let tries = 0;; tries++) {
      try {
        return await operation();
      } catch (thrown) {
        if (!isBusy(thrown) || this.#nowMs() > untilMs) throw thrown;
        await this.pause(tries);
      }
    }
  }
}

/** What comes after a key. */
function after(selector: Deno.KvListSelector, key: Deno.KvKey): Deno.KvListSelector {
  const start = [...key, new Uint8Array()]; // no key is between
  return "end" in selector ? { start, end: selector.end } : { prefix: selector.prefix, start };
}

/** What comes before a key. */
function before(selector: Deno.KvListSelector, end: Deno.KvKey): Deno.KvListSelector {
  return "start" in selector ? { start: selector.start, end } : { prefix: selector.prefix, end };
}

function versionIn(answer: Deno.KvCommitResult | Deno.KvCommitError): string | undefined {
  return answer.ok ? answer.versionstamp : undefined;
}

function isBusy(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.message.includes("database is locked");
}
