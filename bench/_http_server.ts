/**
 * A server in a process of its own: `deno run -A bench/_http_server.ts hono`, or `sluice` (handlers
 * that do nothing), `sluice-kv` (the same, on a file), `sluice-work` (jobs of 20 ms). Prints its address;
 * at each line on standard input it prints what it has used so far, as JSON.
 *
 * @module
 */

import process from "node:process";
import { Hono } from "hono";
import { start } from "../mod.ts";
import { LANES } from "./_pool.ts";

const out = new TextEncoder();

if (import.meta.main) {
  const folder = Deno.args[0] === "sluice-kv" ? await Deno.makeTempDir() : undefined;
  say(
    Deno.args[0] === "hono"
      ? serveHono()
      : await serveSluice(folder, Deno.args[0] === "sluice-work"),
  );
  for await (const _ of Deno.stdin.readable) {
    const { user, system } = process.cpuUsage();
    const cpuMs = (user + system) / 1000;
    say(JSON.stringify({ cpuMs, rssBytes: Deno.memoryUsage().rss }));
  }
  if (folder !== undefined) await Deno.remove(folder, { recursive: true });
  Deno.exit(); // the one who asked is gone
}

/** The admin API. `folder`: where jobs are kept; in memory without. `works`: jobs take 20 ms. */
async function serveSluice(folder: string | undefined, works: boolean): Promise<string> {
  const sluice = await start({
    ...(folder === undefined
      ? {}
      : { store: { use: "deno-kv", with: { path: `${folder}/queue.db` } } }),
    admin: { port: 0 },
    pools: {
      bench: {
        handler: works ? () => new Promise((resolve) => setTimeout(resolve, 20)) : () => {},
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
