/**
 * Hears of what other processes commit: by a watch where there is one, and by polling in any case.
 *
 * @module
 */

import type { Db } from "./db.ts";
import { SIGNAL_KEY } from "../record/keys.ts";
import { setCounter } from "../doctor/recount.ts";

/** First wait between two polls after something came, ms. Doubles while nothing does. */
const SHORTEST_POLL_MS = 100;

/** How long a commit may take to become visible after its file has changed, ms. */
const VISIBLE_MS = 5;

/** Wait before a watch that has ended is started again, ms. */
const WATCH_AGAIN_MS = 500;

/** How a process hears of others. */
export interface WakeOptions {
  /** The database file, if there is one that others may open too. */
  readonly file: string | undefined;
  /** True over the network. */
  readonly remote: boolean;
  /** Longest wait between two polls, ms. `Infinity`: nobody else can change anything. */
  readonly pollMs: number;
  /** Commits that are known of: others' later ones are changes. */
  readonly seen: number;
  /** Called when another process has committed something. May reject: then it is called again. */
  readonly changed: () => Promise<void>;
}

/** Looks out for other processes until it is closed. */
export class Wake {
  readonly #db: Db;
  readonly #options: WakeOptions;
  #heard: number; // commits of others that `changed` was called for: never more than there are
  #pollMs: number; // nothing has come yet: the longest wait
  #poll: ReturnType<typeof setTimeout> | undefined;
  #later: ReturnType<typeof setTimeout> | undefined;
  #log: Deno.FsWatcher | undefined;
  #visible: ReturnType<typeof setTimeout> | undefined;
  #reader: ReadableStreamDefaultReader<unknown> | undefined;
  #looking: Promise<void> | undefined;
  #again = false;
  #total = 0; // the most commits that there have been
  #told: number | undefined; // what the watch said last, until it is looked at
  #closed = false;

  /** Begins to look out. */
  constructor(db: Db, options: WakeOptions) {
    this.#db = db;
    this.#options = options;
    this.#heard = options.seen;
    this.#pollMs = options.pollMs;
    if (options.pollMs === Infinity) return;
    if (options.file !== undefined) this.#watchLog(`${options.file}-wal`);
    if (options.remote) this.#watchKey();
    this.#schedulePoll();
  }

  /** Stops. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#poll);
    clearTimeout(this.#later);
    clearTimeout(this.#visible);
    this.#log?.close();
    await this.#reader?.cancel().catch(() => {}); // the handle may be gone already
    await this.#looking;
  }

  #schedulePoll(): void {
    if (this.#closed) return;
    clearTimeout(this.#poll);
    this.#poll = setTimeout(() => {
      this.#pollMs = Math.min(this.#options.pollMs, this.#pollMs * 2);
      this.#look();
      this.#schedulePoll();
    }, this.#pollMs);
  }

  #pollSoon(): void {
    this.#pollMs = Math.min(this.#options.pollMs, SHORTEST_POLL_MS);
    this.#schedulePoll();
  }

  /** Looks whether others have committed. One look at a time; what comes meanwhile makes it look again. */
  #look(): void {
    this.#again = true;
    this.#looking ??= this.#lookUntilCurrent().finally(() => this.#looking = undefined);
  }

  async #lookUntilCurrent(): Promise<void> {
    while (this.#again && !this.#closed) {
      this.#again = false;
      try {
        if (!await this.#isChanged() || this.#closed) continue;
        await this.#options.changed();
        this.#pollSoon();
      } catch {
        this.#heard = -Infinity; // so that the next poll finds a change
        return; // that the database fails is reported by the pool's own calls
      }
    }
  }

  /**
   * Whether others have committed. Own commits count too, and those on their way may or may not: what
   * may be theirs is not taken for others', or one of others would be taken for known later on.
   */
  async #isChanged(): Promise<boolean> {
    const { signals } = this.#db;
    const total = this.#told ?? await this.#totalNow();
    this.#told = undefined;
    if (total < this.#total) this.#db.file?.foundOlder();
    this.#total = Math.max(this.#total, total);
    const least = total - this.#db.signals - this.#db.signalsInFlight;
    if (least > this.#heard) {
      this.#heard = least;
      return true;
    }
    if (total - signals > this.#heard) this.#pollSoon(); // known once the own ones have come back
    return false;
  }

  /** How many commits others should have heard of. A number that was damaged is put back to what it was. */
  async #totalNow(): Promise<number> {
    const entry = await this.#db.get<unknown>(SIGNAL_KEY);
    if (entry.value instanceof Deno.KvU64) return totalIn(entry.value);
    if (this.#total > 0) await setCounter(this.#db, entry, this.#total);
    return this.#total;
  }

  /**
   * Watches the log of a file, which grows with each commit.
   *
   * Only the log may be watched, never its folder: `Deno.watchFs` opens and closes each file that changes,
   * and a process that closes a file loses all its POSIX locks on it, those of SQLite included. On the log
   * there are none; on the database there are, and others would delete the log.
   */
  async #watchLog(log: string): Promise<void> {
    try {
      this.#log = Deno.watchFs(log, { recursive: false });
      for await (const _ of this.#log) {
        // It tells sometimes before the commit is visible.
        this.#visible ??= setTimeout(() => {
          this.#visible = undefined;
          this.#look();
        }, VISIBLE_MS);
      }
    } catch {
      // Not allowed, or no more watches to be had: it is polled in any case.
    }
  }

  async #watchKey(): Promise<void> {
    try {
      const reader = this.#db.kv.watch<[Deno.KvU64]>([SIGNAL_KEY]).getReader();
      this.#reader = reader;
      for (;;) {
        const { done, value } = await reader.read();
        if (done || this.#closed) break;
        this.#told = totalIn(value[0].value);
        this.#look();
      }
    } catch {
      // Refused, or its handle was given up after an outage: polling goes on meanwhile.
    }
    if (this.#closed) return;
    this.#later = setTimeout(() => this.#watchKey(), WATCH_AGAIN_MS);
  }
}

function totalIn(signal: Deno.KvU64 | null): number {
  return Number(signal?.value ?? 0n);
}
