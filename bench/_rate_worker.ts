/**
 * A process of `cluster-rate`, `downstreams` and `refusing`: runs the config it is given, puts `jobs` into
 * each pool, of the `keys` in turn, says that it is ready, and adds urgent ones by chance. At each line on
 * standard input it prints its starts so far and what CPU it has taken.
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
  /** Into the lane `urgent` of the first pool. @default {0} */
  readonly urgentPerSec?: number;
}

const { config, jobs, keys = [], urgentPerSec = 0 }: Given = JSON.parse(Deno.args[0]!); // from the bench
const starts: [id: string, atMs: number, pool: string][] = [];
const waits: [atMs: number, waitMs: number][] = []; // of urgent ones
const sluice = await start(config, {
  observer: (event) => {
    if (event.kind !== "job-started") return;
    starts.push([event.id, event.atMs, event.pool]);
    if (event.lane === "urgent") waits.push([event.atMs, event.waitMs]);
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
let timer: ReturnType<typeof setTimeout> | undefined;
const addLater = (): void => {
  const gapMs = -Math.log(1 - Math.random()) * 1000 / urgentPerSec;
  timer = setTimeout(() => {
    sluice.pools[0]!.post({ lane: "urgent", payload: null });
    addLater();
  }, gapMs);
};
if (urgentPerSec > 0) addLater();
say("ready");
for await (const _ of Deno.stdin.readable) {
  const { user, system } = process.cpuUsage();
  say(JSON.stringify({ starts, waits, cpuMs: (user + system) / 1000 }));
}
clearTimeout(timer);
await sluice.stop();

function say(line: string): void {
  let rest = new TextEncoder().encode(`${line}\n`);
  while (rest.length > 0) rest = rest.subarray(Deno.stdout.writeSync(rest));
}
