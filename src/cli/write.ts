/**
 * Writes files that verbs are asked for, and says in words why it cannot.
 *
 * @module
 */

import { messageOf } from "../contract/errors.ts";
import { CliError } from "./failure.ts";

/**
 * Writes a text to a file. `what` it is, such as `"the picture"`.
 *
 * @throws {CliError} If it cannot be written: why, and what to do.
 */
export async function writeText(what: string, file: string, text: string): Promise<void> {
  await writing(what, () => Deno.writeTextFile(file, text));
}

/**
 * Sees that a file can be written, before the work that fills it. What is in it stays, and no file
 * that was not there is left.
 *
 * @throws {CliError} If it cannot be: why, and what to do.
 */
export async function checkWritable(what: string, file: string): Promise<void> {
  const isNew = await Deno.stat(file).then(() => false, () => true);
  await writing(what, async () => {
    const opened = await Deno.open(file, { write: true, create: true });
    opened.close();
    if (isNew) await Deno.remove(file);
  });
}

/**
 * Does what writes `what`.
 *
 * @throws {CliError} If it cannot be written: why, and what to do.
 */
export async function writing(what: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (cause) {
    throw new CliError(`Cannot write ${what}: ${whyNot(cause)}`, 1, { cause });
  }
}

function whyNot(thrown: unknown): string {
  if (thrown instanceof Deno.errors.IsADirectory) return "it is a folder: choose a file in it";
  if (thrown instanceof Deno.errors.NotFound) return "its folder does not exist, create it first";
  if (thrown instanceof Deno.errors.PermissionDenied) {
    return "permission denied";
  }
  if (thrown instanceof Deno.errors.NotCapable) {
    return "Deno allows this command to write only below the current folder: choose a file there";
  }
  return messageOf(thrown);
}
