/**
 * The KV Connect server of the tests in a process of its own: `deno run -A bench/_kvconnect_server.ts FILE`.
 * `KV_LATENCY_MS` and `KV_MAX_CHECKS` set how long requests take, and how many checks a write may have.
 * Prints its address; at each line on standard input it prints what it was asked so far, as JSON.
 *
 * @module
 */

import { startServer } from "../tests/_kvconnect/server.ts";

const [path = ":memory:"] = Deno.args;
const latencyMs = Number(Deno.env.get("KV_LATENCY_MS") ?? 0);
const maxChecks = Number(Deno.env.get("KV_MAX_CHECKS") ?? 100);
const server = startServer({ path, latencyMs, maxChecks });
say(server.url);
for await (const _ of Deno.stdin.readable) {
  const { requests: { snapshot_read: reads, atomic_write: commits }, wakes } = server;
  say(JSON.stringify({ reads, commits, wakes }));
}
Deno.exit(); // the one who asked is gone

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}
