/**
 * A process of `claimants`: claims 10 jobs at a time from pool "p" of a file, and ends them. At each line on
 * standard input it prints how many it has ended, and its CPU time, us.
 *
 * @module
 */

import process from "node:process";
import { start } from "../mod.ts";
import type { ConfigInput } from "../src/config/input.ts";

const { path, jobs }: { path: string; jobs: number } = JSON.parse(Deno.args[0]!); // from the bench
let ended = 0;
const config: ConfigInput = {
  store: { use: "deno-kv", with: { path } },
  pools: {
    p: {
      handler: () => void ended++,
      size: { min: 10, max: 10 },
      lanes: [{ name: "jobs", targetWaitMs: 60_000 }],
      admission: "admit-all",
    },
  },
};
const sluice = await start(config);
for (let left = jobs; left > 0; left -= 500) {
  const entries = Array.from({ length: Math.min(500, left) }, () => ({ lane: "jobs", payload: 0 }));
  await sluice.pool("p").enqueueAll(entries);
}
say("ready");
for await (const _ of Deno.stdin.readable) {
  const { user, system } = process.cpuUsage();
  say(JSON.stringify({ ended, cpuUs: user + system }));
}
await sluice.stop();

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}
