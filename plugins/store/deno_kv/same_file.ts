/**
 * Whether a database file is still the one that was opened. SQLite itself never asks: it goes on with a
 * file that was deleted, and what it commits is lost.
 *
 * @module
 */

interface Watched {
  readonly path: string;
  /** Device and number. `undefined`: it has not been there yet. */
  seen: string | undefined;
  /** The largest size that it had. */
  size: number;
}

/**
 * Knows the files of one database by their numbers. They are only looked at: a process that opens a file
 * of its database and closes it again loses all locks that SQLite has on it.
 */
export class SameFile {
  /** How often something was found to be wrong that was right before. */
  faults = 0;
  readonly #file: string;
  readonly #holding: readonly Watched[];
  readonly #index: readonly Watched[];
  #fault: string | undefined;
  #isOlder = false;

  /** Watches a database that this process has opened just now. */
  constructor(file: string) {
    this.#file = file;
    const real = mayLookAt(file) ? Deno.realPathSync(file) : file; // SQLite's own files stand beside that
    this.#holding = [file, `${real}-wal`].filter(mayLookAt).map(watched);
    this.#index = [`${real}-shm`].filter(mayLookAt).map(watched);
    this.checkAll();
  }

  /** True if it was not what was opened when it was last looked at. */
  get isLost(): boolean {
    return this.#fault !== undefined;
  }

  /** What stands in it is older than what stood in it before: it is another one, for good. */
  foundOlder(): void {
    this.#isOlder = true;
  }

  /** Looks at what holds commits. @throws {Error} If it is not what was opened: they are lost. */
  check(): void {
    this.#judge(this.#holding);
  }

  /** Looks at all files. @throws {Error} If one is not what was opened. */
  checkAll(): void {
    this.#judge([...this.#holding, ...this.#index]);
  }

  #judge(files: readonly Watched[]): void {
    let fault = this.#isOlder ? `${this.#file} holds less than it did` : undefined;
    for (const file of files) fault ??= faultOf(file, file === this.#holding[0]);
    if (fault !== undefined && this.#fault === undefined) this.faults++;
    this.#fault = fault;
    if (fault === undefined) return;
    throw new Error(
      `The database is not the one that was opened: ${fault}. Put back what was there, or stop all ` +
        "processes, restore a backup and start again",
    );
  }
}

function watched(path: string): Watched {
  return { path, seen: undefined, size: 0 };
}

/** Asked for, a permission would be asked of whoever sits at the terminal. */
function mayLookAt(path: string): boolean {
  return Deno.permissions.querySync({ name: "read", path }).state === "granted";
}

/** What is wrong with a file. `undefined`: nothing that can be seen. */
function faultOf(file: Watched, grows: boolean): string | undefined {
  const { path } = file;
  let info: Deno.FileInfo;
  try {
    info = Deno.statSync(path);
  } catch (thrown) {
    const isGone = thrown instanceof Deno.errors.NotFound ||
      thrown instanceof Deno.errors.NotADirectory;
    return isGone && file.seen !== undefined ? `${path} is gone` : undefined;
  }
  if (info.ino === null) return undefined; // a system without numbers
  const seen = `${info.dev}/${info.ino}`;
  file.seen ??= seen;
  if (file.seen !== seen) return `another ${path} is in its place`;
  if (!grows) return undefined;
  if (info.size < file.size) return `${path} was overwritten`; // it never shrinks by itself
  file.size = info.size;
  return undefined;
}
