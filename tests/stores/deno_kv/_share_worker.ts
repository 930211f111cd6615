/**
 * A process of the tests of caps over several: runs pool "p", and says when each job starts and ends.
 */

import { defineHandler, start } from "../../../mod.ts";
import type { ConfigInput } from "../../../src/config/input.ts";

const [given = "{}"] = Deno.args;
const { pool, store, jobs = 0, runMs = 20, receiver }: {
  pool: ConfigInput["pools"][string];
  store: unknown;
  jobs?: number;
  runMs?: number;
  receiver?: string;
} = JSON.parse(given);

const now = (): number => performance.timeOrigin + performance.now();
const say = (line: string): number => Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));

const handler = defineHandler({
  start: () => now(),
  run: async ({ id }) => {
    const startedAtMs = now();
    if (receiver !== undefined) await (await fetch(receiver, { method: "POST", body: id })).text();
    await new Promise((resolve) => setTimeout(resolve, runMs));
    say(`R ${startedAtMs} ${now()}`);
  },
  stop: (startedAtMs: number) => void say(`W ${startedAtMs} ${now()}`),
});
const config = {
  store: { use: "deno-kv", with: store },
  pools: { p: { ...pool, handler: { use: handler } } },
} as ConfigInput; // a pool with its handler

const sluice = await start(config, {
  observer: (event) => {
    if (event.kind === "job-started") say(`S ${event.atMs} ${event.id}`);
  },
});
for (let left = jobs; left > 0; left -= 500) {
  await sluice.pool("p").enqueueAll(
    Array.from({ length: Math.min(500, left) }, () => ({ lane: "high", payload: 0 })),
  );
}
const telling = setInterval(
  () => say(`P ${now()} ${sluice.pool("p").snapshot().startsPerSec}`),
  100, // as the test expects
);
say("READY");
for await (const _ of Deno.stdin.readable) {
  // Until it is closed.
}
clearInterval(telling);
await sluice.stop();
