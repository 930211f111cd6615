/**
 * Starts `_http_server.ts` in a process of its own.
 *
 * @module
 */

import { runScript } from "./_child.ts";

/** A server that runs. */
export interface Server extends AsyncDisposable {
  /** Where it answers. */
  readonly url: string;
  /** What it has used so far. */
  usage(): Promise<{ readonly cpuMs: number; readonly rssBytes: number }>;
}

/** Starts a server of a kind. */
export async function startServer(of: string): Promise<Server> {
  const child = runScript("_http_server.ts", of);
  return {
    url: await child.line(),
    usage: () => child.ask(),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}
