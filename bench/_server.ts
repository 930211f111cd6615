/**
 * Starts `_http_server.ts` in a process of its own.
 *
 * @module
 */

/** A server that runs. */
export interface Server extends AsyncDisposable {
  /** Where it answers. */
  readonly url: string;
  /** What it has used so far. */
  usage(): Promise<{ readonly cpuMs: number; readonly rssBytes: number }>;
}

/** Starts a server of a kind. */
export async function startServer(of: string): Promise<Server> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "-A", `${import.meta.dirname}/_http_server.ts`, of],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const writer = child.stdin.getWriter();
  const line = async (): Promise<string> => (await reader.read()).value?.trim() ?? "";
  return {
    url: await line(),
    usage: async () => {
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
