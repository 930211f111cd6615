/**
 * A script of this folder in a process of its own, that answers lines with lines.
 *
 * @module
 */

/** A process that runs. It ends when this is disposed. */
export interface Child extends AsyncDisposable {
  /** The next line that it prints. */
  line(): Promise<string>;
  /** Asks it: what it answers, as JSON. */
  // deno-lint-ignore no-explicit-any -- each script says what is asked of it
  ask(): Promise<any>;
}

/** Starts a script, such as `_http_server.ts`. */
export function runScript(
  script: string,
  argument: string,
  env: Readonly<Record<string, string>> = {},
): Child {
  const edited = Deno.env.get("BENCH_CONFIG"); // an ablation has scripts run on its own sources
  const config = edited === undefined ? [] : [`--config=${edited}`];
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "-A", ...config, `${import.meta.dirname}/${script}`, argument],
    env,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const writer = child.stdin.getWriter();
  let rest = "";
  const line = async (): Promise<string> => {
    while (!rest.includes("\n")) {
      const { done, value } = await reader.read();
      if (done) throw new Error(`${script} has ended`);
      rest += value;
    }
    const end = rest.indexOf("\n");
    const first = rest.slice(0, end);
    rest = rest.slice(end + 1);
    return first;
  };
  return {
    line,
    ask: async () => {
      await writer.write(new Uint8Array([10]));
      return JSON.parse(await line());
    },
    [Symbol.asyncDispose]: async () => {
      await writer.close();
      await child.status;
      await reader.cancel();
    },
  };
}
