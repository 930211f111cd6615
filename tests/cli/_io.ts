/**
 * An `Io` that keeps what is written, for tests that run verbs in-process.
 *
 * @module
 */

import type { Io } from "../../src/cli/io.ts";
import { main } from "../../src/cli/main.ts";

/** What a verb came to. */
export interface Ran {
  /** What the process would exit with. */
  readonly code: number;
  /** What it wrote to standard output. */
  readonly out: string;
  /** What it wrote to standard error. */
  readonly err: string;
  /** Questions that were asked. */
  readonly asked: readonly string[];
}

/** Runs one verb. Nobody is there to ask, unless `confirm` answers. */
export async function sluice(args: readonly string[], given: Partial<Io> = {}): Promise<Ran> {
  let out = "";
  let err = "";
  const asked: string[] = [];
  const code = await main(args, {
    out: (text) => out += text,
    err: (text) => err += text,
    terminal: false,
    columns: () => Infinity,
    color: false,
    readInput: () => Promise.resolve(""),
    env: () => undefined,
    onSignal: () => () => {},
    onHangup: () => () => {},
    openScreen: () => undefined,
    exit: () => {},
    ...given,
    confirm: (question) => {
      asked.push(question);
      return given.confirm?.(question);
    },
  });
  return { code, out, err, asked };
}

/** Makes a folder that is removed again. */
export async function temporaryFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await Deno.makeTempDir({ prefix: "sluice-" });
  return {
    path,
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}
