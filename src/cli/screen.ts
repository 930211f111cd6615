/**
 * A terminal as one live picture: its keys raw, its old content back at the end.
 *
 * @module
 */

/**
 * A key that is no character, a signal, or a change of size. `quit` is a signal or ctrl-C.
 *
 * @internal
 */
export type ScreenKey =
  | "up"
  | "down"
  | "page-up"
  | "page-down"
  | "home"
  | "end"
  | "enter"
  | "escape"
  | "backspace"
  | "quit"
  | "resize"
  | "other";

/** Input of the user at a terminal: a key, or a character that was typed. */
export type ScreenEvent = ScreenKey | { readonly typed: string };

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

const KEYS: Readonly<Record<string, ScreenKey>> = {
  "\x1b[A": "up",
  "\x1bOA": "up",
  "\x1b[B": "down",
  "\x1bOB": "down",
  "\t": "down",
  "\x1b[5~": "page-up",
  "\x1b[6~": "page-down",
  "\x1b[H": "home",
  "\x1bOH": "home",
  "\x1b[1~": "home",
  "\x1b[F": "end",
  "\x1bOF": "end",
  "\x1b[4~": "end",
  "\r": "enter",
  "\n": "enter",
  "\x7f": "backspace",
  "\b": "backspace",
  "\x03": "quit",
  "\x04": "quit",
  "\x1b": "escape",
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
    draw(lines) {
      // Each line is cleared before it is written: after one that is full, its last character would go.
      const picture = lines.map((line) => `\x1b[2K${line}`).join("\r\n");
      const rest = lines.length < Deno.consoleSize().rows ? "\r\n\x1b[J" : "";
      write(`\x1b[H${picture}${rest}`);
    },
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
    const character = String.fromCodePoint(typed.codePointAt(at)!); // at is within
    const key = character + rest;
    events.push(KEYS[key] ?? typedOf(key));
    at += key.length;
  }
  return events;
}

/** A character that is to be seen. What is none, such as F1, is a key that nothing is known of. */
function typedOf(key: string): ScreenEvent {
  return /^\P{C}$/u.test(key) ? { typed: key } : "other";
}
