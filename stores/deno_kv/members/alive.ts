/**
 * Tells for certain that another process of this machine has ended: each holds a lock on a file of its
 * own beside the database, which the system releases with the process, however it ends.
 *
 * @module
 */

/** A sign that is younger may be about to be locked, ms. */
const YOUNG_MS = 60_000;

/** The sign of this process, and a look at those of others. Where files cannot be locked it knows nothing. */
export class Alive {
  /** Name of this process. `undefined`: it cannot show that it lives. */
  readonly process: string | undefined;
  readonly #file: string;
  readonly #gone = new Set<string>();
  readonly #sign: Deno.FsFile | undefined;

  /** Shows that this process lives, beside the database `file`. */
  constructor(file: string) {
    this.#file = file;
    this.#sweep();
    const process = crypto.randomUUID();
    this.#sign = lock(this.#pathOf(process), true);
    this.process = this.#sign === undefined ? undefined : process;
  }

  /** True if that process has ended. False: it lives, or that cannot be told. */
  isGone(process: string): boolean {
    if (this.#gone.has(process)) return true;
    if (process === this.process || !/^[\w-]+$/.test(process)) return false;
    const path = this.#pathOf(process);
    const sign = lock(path, false);
    if (sign === undefined) return false;
    this.#gone.add(process);
    remove(path);
    sign.close();
    return true;
  }

  /** Takes the sign away; one that is kept tells others that this process has ended. */
  close(isKept = false): void {
    if (this.process === undefined) return;
    if (!isKept) remove(this.#pathOf(this.process));
    this.#sign?.close();
  }

  /** Takes away what processes that were killed have left. */
  #sweep(): void {
    const slash = this.#file.lastIndexOf("/");
    const folder = this.#file.slice(0, slash) || "/";
    // A request for the permission would prompt the user at the terminal.
    if (Deno.permissions.querySync({ name: "read", path: folder }).state !== "granted") return;
    const prefix = this.#pathOf("").slice(slash + 1);
    try {
      for (const { name } of Deno.readDirSync(folder)) {
        if (!name.startsWith(prefix)) continue;
        const { mtime } = Deno.statSync(`${folder}/${name}`);
        if (Math.abs(Date.now() - (mtime?.getTime() ?? Date.now())) < YOUNG_MS) continue;
        this.isGone(name.slice(prefix.length));
      }
    } catch {
      // Another takes them away at the same time, or the folder is not there: what is left harms nobody.
    }
  }

  #pathOf(process: string): string {
    return `${this.#file}-alive-${process}`;
  }
}

/** Locks a file. `undefined`: another process has it locked, or it is not there or cannot be opened. */
function lock(path: string, create: boolean): Deno.FsFile | undefined {
  let file: Deno.FsFile | undefined;
  try {
    file = Deno.openSync(path, { write: true, create });
    if (file.tryLockSync(true)) return file;
  } catch {
    // Then nothing is known: the caller waits until a lease is over.
  }
  file?.close();
  return undefined;
}

function remove(path: string): void {
  try {
    Deno.removeSync(path);
  } catch {
    // Another has removed it.
  }
}
