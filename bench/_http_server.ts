/**
 * A server in a process of its own: `deno run -A bench/_http_server.ts hono` or `… sluice`. Prints
 * its address; at each line on standard input it prints the CPU time it has used so far, ms.
 *
 * @module
 */

import process from "node:process";
import { Hono } from "hono";
import { start } from "../mod.ts";
import { LANES } from "./_pool.ts";

const out = new TextEncoder();

if (import.meta.main) {
  say(Deno.args[0] === "sluice" ? await serveSluice() : serveHono());
  for await (const _ of Deno.stdin.readable) {
    const { user, system } = process.cpuUsage();
    say(`${(user + system) / 1000}`);
  }
  Deno.exit(); // the one who asked is gone
}

/** The admin API, with handlers that do nothing. */
async function serveSluice(): Promise<string> {
  const sluice = await start({
    admin: { port: 0 },
    pools: {
      bench: {
        handler: () => {},
        size: { min: 10, max: 10 },
        lanes: LANES.map((name) => ({ name, targetWaitMs: 60_000 })),
      },
    },
  });
  return sluice.adminUrl!; // the config asks for one
}

/** One bare route that parses the same body. */
function serveHono(): string {
  const app = new Hono().post("/api/pools/bench/jobs", async (c) => {
    const { payload } = await c.req.json<{ payload: number }>();
    return c.json({ id: `${payload}` }, 202);
  });
  const { addr } = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, app.fetch);
  return `http://127.0.0.1:${addr.port}`;
}

function say(line: string): void {
  Deno.stdout.writeSync(out.encode(`${line}\n`));
}
