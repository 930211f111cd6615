/**
 * A terminal as one live picture: its keys raw, its old content back at the end.
 *
 * @module
 */

/** Input of the user at a terminal. `quit` is a signal or ctrl-C too. */
export type ScreenEvent = "up" | "down" | "quit" | "resize" | "other";

/** A live picture. */
export interface Screen {
  /** How much it holds now. */
  size(): { readonly columns: number; readonly rows: number };
  /** Replaces the picture. No line may be longer than the screen is wide. */
  draw(lines: readonly string[]): void;
  /** Keys and changes of size, until it is closed. */
  events(): AsyncIterable<ScreenEvent>;
  /** Gives the terminal back as it was. */
  close(): void;
}

/** The alternate screen, without a cursor; and back. */
const OPEN = "\x1b[?1049h\x1b[?25l\x1b[2J";
const CLOSE = "\x1b[?25h\x1b[?1049l";

const KEYS: Readonly<Record<string, ScreenEvent>> = {
  "\x1b[A": "up",
  "\x1bOA": "up",
  "k": "up",
  "\x1b[B": "down",
  "\x1bOB": "down",
  "j": "down",
  "\t": "down",
  "q": "quit",
  "Q": "quit",
  "\x03": "quit",
  "\x04": "quit",
  "\x1b": "quit",
};

const WINDOWS = Deno.build.os === "windows";

const QUITTING: readonly Deno.Signal[] = WINDOWS
  ? ["SIGINT", "SIGBREAK"]
  : ["SIGINT", "SIGTERM", "SIGHUP"];

/** Opens the process's own terminal. `undefined`: there is none to read from and write to. */
export function openScreen(write: (text: string) => void): Screen | undefined {
  if (!Deno.stdin.isTerminal() || !Deno.stdout.isTerminal()) return undefined;
  const reader = Deno.stdin.readable.getReader();
  const queue: ScreenEvent[] = [];
  let wake = (): void => {};
  let open = true;
  const put = (event: ScreenEvent): void => {
    queue.push(event);
    wake();
  };
  const quit = (): void => put("quit");
  const resize = (): void => put("resize");
  Deno.stdin.setRaw(true);
  for (const signal of QUITTING) Deno.addSignalListener(signal, quit);
  if (!WINDOWS) Deno.addSignalListener("SIGWINCH", resize);
  write(OPEN);
  readKeys(reader, put);
  return {
    size: () => Deno.consoleSize(),
    draw: (lines) => write(`\x1b[H${lines.map((line) => `${line}\x1b[K`).join("\r\n")}\x1b[J`),
    async *events() {
      while (open) {
        const event = queue.shift();
        if (event !== undefined) yield event;
        else await new Promise<void>((resolve) => wake = resolve);
      }
    },
    close() {
      if (!open) return;
      open = false;
      wake();
      for (const signal of QUITTING) Deno.removeSignalListener(signal, quit);
      if (!WINDOWS) Deno.removeSignalListener("SIGWINCH", resize);
      reader.cancel().catch(() => {}); // the terminal may be gone
      write(CLOSE);
      try {
        Deno.stdin.setRaw(false);
      } catch {
        // The terminal is gone: nothing to give back.
      }
    },
  };
}

async function readKeys(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  put: (event: ScreenEvent) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      for (const key of keysIn(decoder.decode(value))) put(key);
    }
  } catch {
    // It cannot be read any more: as if it had ended.
  }
  put("quit");
}

/** What follows an escape in the sequence of one key. */
const SEQUENCE = /^[[O][0-9;]*[A-Za-z~]/;

/** The keys in what was typed: one sequence for an arrow, one character for the rest. */
export function keysIn(typed: string): readonly ScreenEvent[] {
  const events: ScreenEvent[] = [];
  for (let at = 0; at < typed.length;) {
    const rest = typed[at] === "\x1b" ? SEQUENCE.exec(typed.slice(at + 1))?.[0] ?? "" : "";
    const key = typed.slice(at, at + 1 + rest.length);
    events.push(KEYS[key] ?? "other");
    at += key.length;
  }
  return events;
}
