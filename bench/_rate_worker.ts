/**
 * A process of `cluster-rate`, `downstreams` and `refusing`: runs the config it is given, puts `jobs` into
 * each pool, of the `keys` in turn, and says that it is ready. At each line on standard input it prints its
 * starts so far and what CPU it has taken.
 *
 * @module
 */

import process from "node:process";
import { start } from "../mod.ts";
import type { ConfigInput } from "../src/config/input.ts";

interface Given {
  readonly config: ConfigInput;
  readonly jobs: number;
  readonly keys?: readonly string[];
}

const { config, jobs, keys = [] }: Given = JSON.parse(Deno.args[0]!); // from the bench
const starts: [id: string, atMs: number, pool: string][] = [];
const sluice = await start(config, {
  observer: (event) => {
    if (event.kind === "job-started") starts.push([event.id, event.atMs, event.pool]);
  },
});
for (const pool of sluice.pools) {
  for (let left = jobs; left > 0; left -= 500) {
    const entries = Array.from({ length: Math.min(500, left) }, (_, index) => {
      const key = keys[index % keys.length];
      return { lane: "jobs", payload: key ?? null, ...key === undefined ? {} : { key } };
    });
    await pool.enqueueAll(entries);
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
