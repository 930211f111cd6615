/**
 * What the CLI needs of the world around it: a seam, so that tests can run every verb in-process.
 *
 * @module
 */

import { isUtf8 } from "node:buffer";
import { CliError } from "./failure.ts";
import { openScreen, type Screen } from "./screen.ts";

/** Where output goes and answers come from. */
export interface Io {
  /** Writes to standard output, as it is. */
  out(text: string): void;
  /** Writes to standard error, as it is. */
  err(text: string): void;
  /** True if standard output is a terminal. */
  readonly terminal: boolean;
  /** Characters in a line of that terminal. `Infinity`: there is none. */
  columns(): number;
  /** True if output may be colored: a terminal, and no `NO_COLOR`. */
  readonly color: boolean;
  /** Reads all of standard input as text. @throws {CliError} If it is not UTF-8. */
  readInput(): Promise<string>;
  /** Asks a yes-or-no question. `undefined`: there is nobody to ask. */
  confirm(question: string): boolean | undefined;
  /** Reads a variable of the environment. */
  env(name: string): string | undefined;
  /** Calls `handler` at each SIGINT and SIGTERM until the function it returns is called. */
  onSignal(handler: () => void): () => void;
  /** Calls `handler` at each SIGHUP, unless it means that the terminal is gone: that is for `onSignal`. */
  onHangup(handler: () => void): () => void;
  /** Makes the terminal one live picture. `undefined`: there is no terminal. */
  openScreen(): Screen | undefined;
  /** Ends the process at once. */
  exit(code: number): void;
}

/** The process's own. */
export function systemIo(): Io {
  const terminal = Deno.stdout.isTerminal();
  const isGone = (): boolean => terminal && !Deno.stdout.isTerminal();
  return {
    out: (text) => writeAll(Deno.stdout, text),
    err: (text) => writeAll(Deno.stderr, text),
    terminal,
    columns: () => terminal ? Deno.consoleSize().columns : Infinity,
    color: terminal && !Deno.noColor,
    readInput: async () => textOf(await new Response(Deno.stdin.readable).bytes()),
    confirm: (question) =>
      Deno.stdin.isTerminal() && Deno.stderr.isTerminal() ? ask(question) : undefined,
    env: (name) => Deno.env.get(name),
    onSignal: (handler) => {
      const others = listen(STOP_SIGNALS, handler);
      const hangup = listen(["SIGHUP"], () => isGone() && handler());
      return () => {
        others();
        hangup();
      };
    },
    onHangup: (handler) => listen(["SIGHUP"], () => isGone() || handler()),
    openScreen: () => openScreen((text) => writeAll(Deno.stdout, text)),
    exit: (code) => Deno.exit(code),
  };
}

/** Decodes what is in standard input: what is not UTF-8 would become U+FFFD unheard. */
function textOf(bytes: Uint8Array): string {
  if (isUtf8(bytes)) return new TextDecoder().decode(bytes);
  throw new CliError(
    "Expected UTF-8 from standard input: convert it, for example with iconv, and send binary data as base64",
    2,
  );
}

/** Asks on standard error: standard output may be a file, or what another program reads. */
function ask(question: string): boolean {
  writeAll(Deno.stderr, `${question} [y/N] `);
  const answer = new Uint8Array(256);
  const length = Deno.stdin.readSync(answer) ?? 0;
  return /^y(es)?$/i.test(new TextDecoder().decode(answer.subarray(0, length)).trim());
}

function writeAll(to: { writeSync(bytes: Uint8Array): number }, text: string): void {
  let rest = new TextEncoder().encode(text);
  try {
    while (rest.length > 0) rest = rest.subarray(to.writeSync(rest));
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.BrokenPipe)) throw thrown; // the reader, such as `head`, has enough
  }
}

const STOP_SIGNALS: readonly Deno.Signal[] = Deno.build.os === "windows"
  ? ["SIGINT", "SIGBREAK"]
  : ["SIGINT", "SIGTERM"];

function listen(signals: readonly Deno.Signal[], handler: () => void): () => void {
  for (const signal of signals) Deno.addSignalListener(signal, handler);
  return () => {
    for (const signal of signals) Deno.removeSignalListener(signal, handler);
  };
}
