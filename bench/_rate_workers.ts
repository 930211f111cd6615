/**
 * What `cluster-rate`, `downstreams` and `refusing` have in common: processes that share a new queue.
 *
 * @module
 */

import { TOKEN } from "../tests/_kvconnect/server.ts";
import { type Child, runScript } from "./_child.ts";

/** A new queue of several processes. */
export interface SharedQueue {
  /** The store of their config. */
  readonly store: { readonly use: string; readonly with: Readonly<Record<string, string>> };
  /** Asked for requests so far. `undefined`: the queue is on a file. */
  readonly server: Child | undefined;
  /** Starts `_rate_worker.ts` with `given`, and all `jobs` in the last one; each is ready before the next. */
  readonly work: (
    processes: number,
    given: { readonly config: unknown; readonly jobs: number } & Readonly<Record<string, unknown>>,
  ) => Promise<readonly Child[]>;
}

/** Makes one on a `"file"`, else behind a server of KV Connect. It goes with the stack, and all that works on it. */
export async function shareQueue(stack: AsyncDisposableStack, on: string): Promise<SharedQueue> {
  const folder = await Deno.makeTempDir();
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  const server = on === "file"
    ? undefined
    : stack.use(runScript("_kvconnect_server.ts", `${folder}/kv.db`));
  const url = await server?.line();
  return {
    store: { use: "deno-kv", with: url === undefined ? { path: `${folder}/queue.db` } : { url } },
    server,
    work: async (processes, given) => {
      const workers: Child[] = [];
      for (let left = processes; left > 0; left--) {
        const each = JSON.stringify(left === 1 ? given : { ...given, jobs: 0 });
        const worker = stack.use(
          runScript("_rate_worker.ts", each, { DENO_KV_ACCESS_TOKEN: TOKEN }),
        );
        workers.push(worker);
        await worker.line();
      }
      return workers;
    },
  };
}
