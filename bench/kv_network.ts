/**
 * How busy workers are while the store is far away: a long lane of short jobs over KV Connect.
 *
 * @module
 */

import process from "node:process";
import { type Sluice, start } from "../mod.ts";
import { delay } from "../src/base/async.ts";
import { TOKEN } from "../tests/_kvconnect/server.ts";
import type { Bench, Figures } from "./_bench.ts";
import { type Child, runScript } from "./_child.ts";

const JOB_MS = 20;
const WORKERS = 8;
/** Jobs that wait at first, for each process. */
const WAITING = 800;
/** Jobs a second that a process can run. */
const PER_SEC = WORKERS * 1000 / JOB_MS;
/** How much of that comes: more, where not half of it. */
const LONG = 1.1;
const HALF = 0.5;
const WARM_UP_MS = 2000;
const WATCHED_MS = 5000;
/** As on a denokv of one's own. */
const MAX_CHECKS = "10";

const LATENCIES = [0, 10, 30, 100] as const;
const PROCESSES = [1, 2, 4] as const;
const CASES = PROCESSES.flatMap((count) => [
  ...LATENCIES.map((ms) => `${count} at ${ms} ms`),
  `${count} at 30 ms, half load`,
]);

/**
 * Figures: "busy" share of the workers' time; "perSec" of jobs; "reads", "writes" and "wakes" of a watch
 * by a job; "cpu", the share of a core that all processes use: they run in one, so above 0.9 it is CPU
 * that limits them.
 */
export const kvNetwork: Bench = {
  name: "kv-network",
  about: `8 workers a process, jobs of 20 ms, requests to the database that take their time`,
  rounds: 3,
  cases: CASES,
  measure,
  targets: LATENCIES.flatMap((ms) => [
    {
      about: `busy share of the workers of one process at ${ms} ms`,
      over: { of: `1 at ${ms} ms`, figure: "busy" },
      by: 1,
      aim: "at least" as const,
      bound: 0.9,
    },
    ...([[2, 1.8], [4, 3.5]] as const).map(([count, bound]) => ({
      about: `jobs/s of ${count} processes / of one at ${ms} ms`,
      over: { of: `${count} at ${ms} ms`, figure: "perSec" },
      by: { of: `1 at ${ms} ms`, figure: "perSec" },
      aim: "at least" as const,
      bound,
    })),
    {
      about: `reads a job of four processes / of one at ${ms} ms`,
      over: { of: `4 at ${ms} ms`, figure: "reads" },
      by: { of: `1 at ${ms} ms`, figure: "reads" },
      aim: "at most" as const,
      bound: 1.3,
    },
  ]),
};

async function measure(of: string): Promise<Figures> {
  const [, processes, latencyMs, half] = /^(\d+) at (\d+) ms(, half load)?$/.exec(of)!; // of `cases`
  const load = half === undefined ? LONG : HALF;
  Deno.env.set("DENO_KV_ACCESS_TOKEN", TOKEN);
  const env = { KV_LATENCY_MS: latencyMs!, KV_MAX_CHECKS: MAX_CHECKS };
  await using server = runScript("_kvconnect_server.ts", ":memory:", env);
  const url = await server.line();
  const sluices = await Promise.all(Array.from({ length: Number(processes) }, () => open(url)));
  const feeding = new AbortController();
  try {
    if (load === LONG) {
      await Promise.all(sluices.map(({ pools }) => pools[0]!.enqueueAll(jobs(WAITING))));
    }
    for (const sluice of sluices) void feed(sluice, load * PER_SEC, feeding.signal);
    await delay(WARM_UP_MS);
    return await watch(sluices, server);
  } finally {
    feeding.abort();
    await Promise.all(sluices.map((sluice) => sluice.stop()));
  }
}

function open(url: string): Promise<Sluice> {
  return start({
    store: { use: "deno-kv", with: { url } },
    pools: {
      mail: {
        handler: { use: "sleep" },
        size: { min: WORKERS, max: WORKERS },
        lanes: [{ name: "urgent", targetWaitMs: 60_000 }, { name: "batch", targetWaitMs: 60_000 }],
        caps: [],
        admission: "admit-all",
        drainMs: 2000,
      },
    },
  });
}

/** Adds jobs one by one, until it is to end. */
async function feed(sluice: Sluice, perSec: number, signal: AbortSignal): Promise<void> {
  const fromMs = performance.now();
  for (let sent = 0; !signal.aborted; await delay(4)) {
    const due = (performance.now() - fromMs) * perSec / 1000;
    for (; sent < due; sent++) sluice.enqueue("mail", jobs(1)[0]!).catch(() => {});
  }
}

async function watch(sluices: readonly Sluice[], server: Child): Promise<Figures> {
  const before = await server.ask();
  const from = sums(sluices);
  const fromMs = performance.now();
  const cpu = process.cpuUsage();
  await delay(WATCHED_MS);
  const ms = performance.now() - fromMs;
  const { user, system } = process.cpuUsage(cpu);
  const to = sums(sluices);
  const after = await server.ask();
  const done = to.completions - from.completions;
  return {
    busy: (to.busyMs - from.busyMs) / (ms * WORKERS * sluices.length),
    perSec: done * 1000 / ms,
    reads: (after.reads - before.reads) / done,
    writes: (after.commits - before.commits) / done,
    wakes: (after.wakes - before.wakes) / done,
    cpu: (user + system) / 1000 / ms,
  };
}

function sums(
  sluices: readonly Sluice[],
): { readonly busyMs: number; readonly completions: number } {
  const totals = sluices.map(({ pools }) => pools[0]!.snapshot().totals);
  const sum = (figure: "busyMs" | "completions"): number =>
    totals.reduce((whole, each) => whole + each[figure], 0);
  return { busyMs: sum("busyMs"), completions: sum("completions") };
}

function jobs(count: number): readonly { readonly lane: string; readonly payload: unknown }[] {
  return Array.from({ length: count }, () => ({ lane: "batch", payload: { ms: JOB_MS } }));
}
