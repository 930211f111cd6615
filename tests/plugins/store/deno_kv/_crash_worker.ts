/**
 * A process of the crash test: leases jobs of pool "p", takes a moment over each, and writes down what
 * it runs and what it was told of the end.
 */

import { end, openQueue, openStore } from "./_store.ts";

const [path = "", log = "", lease = "1000"] = Deno.args;
const leaseMs = Number(lease);
const CONCURRENCY = 120;
const LONGEST_RUN_MS = 60;

const now = (): number => performance.timeOrigin + performance.now();
const file = await Deno.open(log, { create: true, append: true });
const note = (lines: readonly string[]): void => {
  if (lines.length > 0) file.writeSync(new TextEncoder().encode(`${lines.join("\n")}\n`));
};

const store = await openStore({ path, pollMs: 100 });
const queue = await openQueue(store, {
  lanes: [{ name: "a", maxRunningPerKey: Infinity }, { name: "k", maxRunningPerKey: 1 }],
  leaseMs,
  attempts: [100, 100],
  keep: { done: 50, dead: 50, forMs: Infinity },
  random: Math.random,
  nowMs: now(),
});
let free = CONCURRENCY;
let stopped = false;
let nextBeatMs = 0;
Deno.addSignalListener("SIGTERM", () => stopped = true);

/** What a pool does: a database that cannot be reached is asked again. */
async function again<T>(call: () => Promise<T> | T): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

while (!stopped) {
  if (now() >= nextBeatMs) nextBeatMs = (await again(() => queue.renew(now()))).nextAtMs;
  const want = Math.ceil(free / 2);
  const jobs = free > 0 ? await again(() => queue.lease([want, want], now())) : [];
  note(jobs.map(({ payload, fence }) => `R ${payload} ${fence}`));
  free -= jobs.length;
  for (const job of jobs) {
    setTimeout(async () => {
      const [accepted] = await again(() => queue.settle([end(job)], now()));
      note([`${accepted ? "C" : "X"} ${job.payload} ${job.fence}`]);
      free++;
    }, Math.random() * LONGEST_RUN_MS);
  }
  await new Promise((resolve) => setTimeout(resolve, jobs.length === 0 ? 10 : 1));
}
await again(() => queue.leave(now()));
await store.close();
Deno.exit(0);
