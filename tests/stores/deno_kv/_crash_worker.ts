/**
 * A worker process of a fleet: leases jobs of pool "p", takes a moment over each, and writes down what
 * it runs and what it was told of the end.
 */

import type { Leased, Settlement } from "../../../src/contract/store.ts";
import { failInTurn } from "./_faulty.ts";
import { openAt, rulesOf, type WorkerOptions } from "./_fleet.ts";
import { end, openQueue } from "./_store.ts";

const options: WorkerOptions = JSON.parse(Deno.args[0] ?? "");
const { path, leaseMs, aheadMs, faultEvery, oddShare } = options;
const CONCURRENCY = 120;
const LONGEST_RUN_MS = 60;

const now = (): number => performance.timeOrigin + performance.now() + aheadMs;
const file = await Deno.open(options.log, { create: true, append: true });
const note = (lines: readonly string[]): void => {
  if (lines.length > 0) file.writeSync(new TextEncoder().encode(`${lines.join("\n")}\n`));
};

if (faultEvery > 0) failInTurn(faultEvery);
const store = await again(() => openAt(path));
const rules = { ...rulesOf(leaseMs), random: Math.random };
const queue = await again(() => openQueue(store, { ...rules, nowMs: now() }));
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
  if (jobs.length === 0) await again(() => queue.count(now())); // what is due becomes ready
  note(jobs.map((job) => `R ${nameOf(job)} ${job.fence}`));
  free -= jobs.length;
  for (const job of jobs) {
    setTimeout(async () => {
      const settlement = endOf(job);
      const [accepted] = await again(() => queue.settle([settlement], now()));
      const { to } = settlement;
      const isEnd = to === "done" || to === "dead";
      note([`${accepted ? isEnd ? "C" : "B" : "X"} ${nameOf(job)} ${job.fence} ${to}`]);
      free++;
    }, Math.random() * LONGEST_RUN_MS);
  }
  await new Promise((resolve) => setTimeout(resolve, jobs.length === 0 ? 10 : 1));
}
await again(() => queue.leave(now()));
await store.close();
Deno.exit(0);

function nameOf({ payload }: Leased): string {
  return Array.isArray(payload) ? `${payload[0]}` : "lost its payload";
}

function endOf(job: Leased): Settlement {
  const chance = Math.random() / oddShare;
  if (chance < 0.4) {
    return end(job, "retry", { dueAtMs: now() + Math.random() * 200, error: "odd" });
  }
  if (chance < 0.8) return end(job, "back");
  if (chance < 1) return end(job, "dead", { reason: "fatal", error: "odd" });
  return end(job);
}
