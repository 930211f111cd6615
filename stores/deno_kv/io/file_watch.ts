/**
 * Hears of commits to a database file: its log grows with each.
 *
 * @module
 */

import type { Db } from "./db.ts";

/** How long a commit may take to become visible after its file has changed, ms. */
const VISIBLE_MS = 5;

/** Own commits are counted for so long at least, ms. */
const WINDOW_MS = 100;

/** From this many own commits a second on, the log changes all the time: a watch says nothing. */
const BUSY_PER_SEC = 100;

/** From so few on it does again. */
const CALM_PER_SEC = 50;

/** Wait between two looks instead, ms. */
const POLL_MS = 10;

/**
 * Watches the log, or looks every few ms where this process is alone and commits so often itself that a
 * watch would tell of nothing else: each event costs dozens of system calls.
 *
 * Only the log may be watched, never its folder: `Deno.watchFs` opens and closes each file that changes,
 * and a process that closes a file loses all its POSIX locks on it, those of SQLite included. On the log
 * there are none; on the database there are, and others would delete the log.
 */
export class FileWatch {
  readonly #log: string;
  readonly #db: Pick<Db, "commits">;
  readonly #isAlone: () => boolean;
  readonly #changed: () => void;
  #files: Deno.FsWatcher | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #commits = 0;
  #countedAtMs = -Infinity;
  #closed = false;

  /** Begins to watch. `changed` is called when the database may have changed. */
  constructor(
    file: string,
    db: Pick<Db, "commits">,
    isAlone: () => boolean,
    changed: () => void,
  ) {
    this.#log = `${file}-wal`;
    this.#db = db;
    this.#isAlone = isAlone;
    this.#changed = changed;
    this.#watch();
  }

  /** Stops. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#files?.close();
  }

  async #watch(): Promise<void> {
    try {
      this.#files = Deno.watchFs(this.#log, { recursive: false });
      for await (const _ of this.#files) {
        if ((this.#ownPerSec() ?? 0) >= BUSY_PER_SEC && this.#isAlone()) break;
        // The log tells sometimes before the commit is visible.
        this.#timer ??= setTimeout(() => {
          this.#timer = undefined;
          this.#changed();
        }, VISIBLE_MS);
      }
    } catch {
      return; // Not allowed, or no more watches to be had: the one that listens polls in any case.
    }
    this.#files = undefined;
    if (this.#closed) return;
    clearTimeout(this.#timer);
    this.#poll();
  }

  #poll(): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if ((this.#ownPerSec() ?? Infinity) > CALM_PER_SEC && this.#isAlone()) this.#poll();
      else this.#watch();
      this.#changed(); // last: a watch that has just begun tells of what comes after this
    }, POLL_MS);
  }

  /** Own commits a second. `undefined`: they have not been counted for long enough. */
  #ownPerSec(): number | undefined {
    const nowMs = performance.now();
    const forMs = nowMs - this.#countedAtMs;
    if (forMs < WINDOW_MS) return undefined;
    const perSec = 1000 * (this.#db.commits - this.#commits) / forMs;
    this.#commits = this.#db.commits;
    this.#countedAtMs = nowMs;
    return perSec;
  }
}
