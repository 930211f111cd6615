/**
 * `sluice run` in a process of its own.
 *
 * @module
 */

const MAIN = new URL("../../src/cli/main.ts", import.meta.url).pathname;

/** All permissions but for reading. */
const OTHERS = ["net", "env", "sys", "write", "run", "ffi", "import"].map((name) =>
  `--allow-${name}`
);

/** A process that runs a config, with its lines as they come. */
export interface Process extends AsyncDisposable {
  readonly pid: number;
  /** Waits for a line of standard output that `pattern` matches. */
  line(pattern: RegExp): Promise<RegExpExecArray>;
  signal(name: "SIGINT" | "SIGTERM" | "SIGHUP"): void;
  /** Waits for a line of standard error that `pattern` matches. */
  errorLine(pattern: RegExp): Promise<RegExpExecArray>;
  /** Waits for the end. */
  ended(): Promise<{ readonly code: number; readonly out: string; readonly err: string }>;
}

/** Starts `sluice run` in a process of its own. */
export function start(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  allowed: readonly string[] = ["--allow-read"],
): Process {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--no-check", ...OTHERS, ...allowed, MAIN, "run", ...args],
    cwd: new URL("../../", import.meta.url),
    // Without a config of its own the admin API wants 8787, which others may use: this takes a free port.
    env: { DENO_SERVE_ADDRESS: "tcp:127.0.0.1:0", ...env },
    stdout: "piped",
    stderr: "piped",
    stdin: "null",
  }).spawn();
  const out = linesOf(child.stdout);
  const err = linesOf(child.stderr);
  const ended = async (): ReturnType<Process["ended"]> => {
    const [outText, errText, { code }] = await Promise.all([out.rest(), err.rest(), child.status]);
    return { code, out: outText, err: errText };
  };
  return {
    pid: child.pid,
    line: (pattern) => out.find(pattern),
    errorLine: (pattern) => err.find(pattern),
    signal: (name) => child.kill(name),
    ended,
    async [Symbol.asyncDispose]() {
      try {
        child.kill("SIGKILL");
      } catch {
        // It has ended.
      }
      await ended();
    },
  };
}

interface Lines {
  find(pattern: RegExp): Promise<RegExpExecArray>;
  /** Reads to the end; answers all of it. */
  rest(): Promise<string>;
}

function linesOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Lines {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  let read = 0;
  const more = async (): Promise<boolean> => {
    const { done, value } = await reader.read();
    text += value ?? "";
    return !done;
  };
  return {
    async find(pattern) {
      for (;;) {
        const end = text.indexOf("\n", read);
        if (end < 0) {
          if (!await more()) throw new Error(`No line matches ${pattern} in:\n${text}`);
          continue;
        }
        const found = pattern.exec(text.slice(read, end));
        read = end + 1;
        if (found !== null) return found;
      }
    },
    async rest() {
      while (await more());
      return text;
    },
  };
}
