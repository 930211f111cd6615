/** What happens to the database file and its disk, and what `sluice doctor` says of it in the end. */

import { DatabaseSync } from "node:sqlite";
import { sleep } from "./_time.ts";

/** Holds a database file locked, as a backup or a look with another tool does. */
export async function lock(path: string, ms: number): Promise<void> {
  using database = new DatabaseSync(path);
  try {
    database.exec("BEGIN IMMEDIATE");
    await sleep(ms);
    database.exec("ROLLBACK");
  } catch {
    // others hold it just now
  }
}

/** Fills the disk that a folder is on, and makes room again. */
export async function fill(folder: string, ms: number): Promise<void> {
  const path = `${folder}/filler`;
  const file = await Deno.open(path, { write: true, create: true, truncate: true });
  try {
    const block = new Uint8Array(1024 * 1024);
    for (;;) await file.write(block);
  } catch {
    // it is full
  } finally {
    file.close();
  }
  await sleep(ms);
  await Deno.remove(path);
}

/** Takes a file away until what it returns is disposed of. `isReplaced`: another is in its place. */
export async function takeAway(path: string, isReplaced: boolean): Promise<AsyncDisposable> {
  const away = `${path}.away`;
  await Deno.rename(path, away);
  if (isReplaced) await Deno.create(path).then((file) => file.close(), () => {}); // there may be no room
  return { [Symbol.asyncDispose]: () => Deno.rename(away, path) };
}

/** What `sluice doctor --store` finds in a database: nothing that is stored may disagree. */
export async function doctor(path: string): Promise<readonly string[]> {
  const cli = new URL("../../src/cli/main.ts", import.meta.url).pathname;
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--unstable-kv", cli, "doctor", "--store", path],
  }).output();
  const text = new TextDecoder();
  return success ? [] : [`doctor --store: ${text.decode(stdout)}${text.decode(stderr)}`];
}
