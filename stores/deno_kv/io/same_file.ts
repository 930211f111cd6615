/**
 * Whether a database file is still the one that was opened. SQLite itself never asks: it goes on with a
 * file that was deleted, and what it commits is lost.
 *
 * @module
 */

import { SameLog } from "./same_log.ts";

interface Watched {
  readonly path: string;
  /** Device and number. `undefined`: it has not been there yet. */
  seen: string | undefined;
  /** The largest size that it had. */
  size: number;
  /** Reads it. `undefined`: it is not the log. */
  readonly log: SameLog | undefined;
}

/** What is wrong with a file. */
interface Fault {
  readonly what: string;
  /** True if no one can put back what was there: commits are missing in it. */
  readonly isForGood: boolean;
}

/**
 * Knows the files of one database by their numbers. All but the log are only looked at: a process that
 * opens a file of its database and closes it again loses all locks that SQLite has on it.
 */
export class SameFile {
  /** How often something was found to be wrong that was right before. */
  faults = 0;
  readonly #file: string;
  readonly #holding: readonly Watched[];
  readonly #index: readonly Watched[];
  readonly #log: SameLog | undefined;
  #fault: Fault | undefined;

  /** Watches a database that this process has opened just now. */
  constructor(file: string) {
    this.#file = file;
    const real = mayLookAt(file) ? Deno.realPathSync(file) : file; // SQLite's own files stand beside that
    const log = `${real}-wal`;
    if (mayLookAt(log)) this.#log = new SameLog(log);
    this.#holding = [file, log].filter(mayLookAt).map((path) =>
      watched(path, path === log ? this.#log : undefined)
    );
    this.#index = [`${real}-shm`].filter(mayLookAt).map((path) => watched(path));
    this.checkAll();
  }

  /** True if it was not what was opened when it was last looked at. */
  get isLost(): boolean {
    return this.#fault !== undefined;
  }

  /** True after a commit that cannot be seen: only another one tells whether it is kept. */
  get isUnclear(): boolean {
    return this.#log?.isEmpty ?? false;
  }

  /** What is in it is older than what stood in it before: it is another one, for good. */
  foundOlder(): void {
    this.#note({ what: `${this.#file} is shorter than before`, isForGood: true });
  }

  /** Looks at what holds commits. @throws {Error} If it is not what was opened: they are lost. */
  check(): void {
    this.#judge(this.#holding);
  }

  /** Looks at all files. @throws {Error} If one is not what was opened. */
  checkAll(): void {
    this.#judge([...this.#holding, ...this.#index]);
  }

  /** Looks at no log any more. */
  close(): void {
    this.#log?.close();
  }

  #judge(files: readonly Watched[]): void {
    if (!this.#fault?.isForGood) {
      let fault: Fault | undefined;
      for (const file of files) fault ??= faultOf(file, file === this.#holding[0]);
      this.#note(fault);
    }
    if (this.#fault === undefined) return;
    const { what, isForGood } = this.#fault;
    throw new Error(
      `The database is not the one that was opened: ${what}. ${
        isForGood ? "Stop" : "Put back what was there, or stop"
      } all processes, restore a backup and start again`,
    );
  }

  #note(fault: Fault | undefined): void {
    if (fault !== undefined && this.#fault === undefined) this.faults++;
    this.#fault = fault;
  }
}

function watched(path: string, log?: SameLog): Watched {
  return { path, seen: undefined, size: 0, log };
}

/** Asked for, a permission would be asked of anyone who sits at the terminal. */
function mayLookAt(path: string): boolean {
  return Deno.permissions.querySync({ name: "read", path }).state === "granted";
}

/** What is wrong with a file. `undefined`: nothing that can be seen. */
function faultOf(file: Watched, grows: boolean): Fault | undefined {
  const { path } = file;
  let info: Deno.FileInfo;
  try {
    info = Deno.statSync(path);
  } catch (thrown) {
    const isGone = thrown instanceof Deno.errors.NotFound ||
      thrown instanceof Deno.errors.NotADirectory;
    return isGone && file.seen !== undefined ? away(`${path} is gone`) : undefined;
  }
  if (info.ino === null) return undefined; // a system without numbers
  const seen = `${info.dev}/${info.ino}`;
  file.seen ??= seen;
  if (file.seen !== seen) return away(`another ${path} is in its place`);
  const what = file.log?.look(info.size);
  if (what !== undefined) return { what, isForGood: true };
  if (!grows) return undefined;
  if (info.size < file.size) { // it never shrinks by itself
    return { what: `${path} was overwritten`, isForGood: true };
  }
  file.size = info.size;
  return undefined;
}

/** What was there may still be somewhere. */
function away(what: string): Fault {
  return { what, isForGood: false };
}
