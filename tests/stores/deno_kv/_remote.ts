/** Stores in Deno KV over the network for tests. */

import { Db } from "../../../stores/deno_kv/io/db.ts";
import { KvStore } from "../../../stores/deno_kv/store.ts";
import { defineStore, type Plugin } from "../../../src/contract/plugin.ts";
import { type Server, type ServerOptions, startServer, TOKEN } from "../../_kvconnect/server.ts";
import * as v from "valibot";

/** Runs a test against a KV Connect server of its own. */
export async function withServer(
  options: ServerOptions,
  test: (server: Server) => Promise<void>,
): Promise<void> {
  Deno.env.set("DENO_KV_ACCESS_TOKEN", TOKEN);
  await using server = startServer(options);
  await test(server);
}

/** What varies of a store over the network in a test. */
export interface RemoteOptions {
  readonly answerMs?: number;
  readonly pollMs?: number;
}

/** A store on a server that takes an outage for one sooner than `deno-kv` does. */
export async function openRemote(
  { url }: Server,
  { answerMs = 1000, pollMs = 1000 }: RemoteOptions = {},
): Promise<KvStore> {
  const open = (): Promise<Deno.Kv> => Deno.openKv(url);
  const random = Math.random;
  const db = new Db(await open(), { remote: true, open, answerMs, maxChecks: 10, random });
  return new KvStore(db, { file: undefined, remote: true, pollMs, seen: 0 });
}

/** The same as a plugin. */
export function remoteStore(server: Server, options: RemoteOptions = {}): Plugin<"store"> {
  return defineStore({
    name: "remote",
    options: v.strictObject({}),
    create: () => openRemote(server, options),
  });
}

/** Waits until something is so. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!await isSo()) await new Promise((resolve) => setTimeout(resolve, 10));
}
