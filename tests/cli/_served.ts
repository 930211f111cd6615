/**
 * A system served on a free port, with the command line pointed at it.
 *
 * @module
 */

import { type AdminServer, serveAdmin } from "../../src/admin/mod.ts";
import type { Io } from "../../src/cli/io.ts";
import { type Running, running } from "../admin/_app.ts";
import { type Ran, sluice } from "./_io.ts";

/** What a test of a remote verb holds. */
export interface Served extends AsyncDisposable {
  readonly system: Running;
  readonly server: AdminServer;
  run(args: readonly string[], io?: Partial<Io>): Promise<Ran>;
}

/** Serves a system; `run` adds its address to a verb. */
export async function served(adminToken?: string): Promise<Served> {
  const system = await running();
  const server = await serveAdmin(system.sluice, {
    hostname: "127.0.0.1",
    port: 0,
    adminToken,
    viewerToken: undefined,
    allowedHosts: [],
  });
  await system.clock.advance(100);
  return {
    system,
    server,
    run: (args, io) => sluice([...args, "--url", server.url], io),
    async [Symbol.asyncDispose]() {
      await server.stop();
      await system[Symbol.asyncDispose]();
    },
  };
}
