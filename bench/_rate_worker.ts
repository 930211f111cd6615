/**
 * A process of `cluster-rate` and `downstreams`: runs the config it is given, puts `jobs` into each
 * pool, and says that it is ready. At each line on standard input it prints its starts so far and what CPU it has taken.
 *
 * @module
 */

import process from "node:process";
import { start } from "../mod.ts";
import type { ConfigInput } from "../src/config/input.ts";

const { config, jobs }: { config: ConfigInput; jobs: number } = JSON.parse(Deno.args[0]!); // from the bench
const starts: [id: string, atMs: number, pool: string][] = [];
const sluice = await start(config, {
  observer: (event) => {
    if (event.kind === "job-started") starts.push([event.id, event.atMs, event.pool]);
  },
});
for (const pool of sluice.pools) {
  for (let left = jobs; left > 0; left -= 500) {
    const count = Math.min(500, left);
    await pool.enqueueAll(Array.from({ length: count }, () => ({ lane: "jobs", payload: null })));
  }
}
say("ready");
for await (const _ of Deno.stdin.readable) {
  const { user, system } = process.cpuUsage();
  say(JSON.stringify({ starts, cpuMs: (user + system) / 1000 }));
}
await sluice.stop();

function say(line: string): void {
  let rest = new TextEncoder().encode(`${line}\n`);
  while (rest.length > 0) rest = rest.subarray(Deno.stdout.writeSync(rest));
}
