/** Stores in Deno KV over the network for tests. */

import type { DenoKvOptions } from "../../../../plugins/store/deno_kv/mod.ts";
import type { Store } from "../../../../src/store.ts";
import { type Server, type ServerOptions, startServer, TOKEN } from "../../../_kvconnect/server.ts";
import { openStore } from "./_store.ts";

/** Runs a test against a KV Connect server of its own. */
export async function withServer(
  options: ServerOptions,
  test: (server: Server) => Promise<void>,
): Promise<void> {
  Deno.env.set("DENO_KV_ACCESS_TOKEN", TOKEN);
  await using server = startServer(options);
  await test(server);
}

/** Opens a store on a server. */
export async function openRemote({ url }: Server, options: DenoKvOptions = {}): Promise<Store> {
  return await openStore({ url, ...options });
}
