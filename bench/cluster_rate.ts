/**
 * How much of a rate several processes use together while work waits, and whether they keep to it.
 *
 * @module
 */

import { delay } from "../src/base/async.ts";
import { quantile } from "../src/base/stats.ts";
import { mostInASecond } from "../tests/_rate.ts";
import type { Bench, Figures } from "./_bench.ts";
import type { Child } from "./_child.ts";
import { shareQueue } from "./_rate_workers.ts";

const SETTLE_MS = 4000;
const DURATION_MS = 20_000;
/** How long the receiver takes to answer, ms. */
const ANSWER_MS = 20;
/** Share of the rate that is urgent: the rest is a backlog. */
const URGENT = 0.1;

const STORES = ["file", "KV Connect"] as const;
const CASES = STORES.flatMap((store) =>
  [1, 4].flatMap((count) => [30, 100, 400].map((perSec) => `${count} on ${store} at ${perSec}/s`))
);

/**
 * Figures: "use", starts per second by the rate; "starts" and "arrivals", the most in any second by the
 * pools' stamps and at the receiver, by the rate; "lagP50Ms", "lagP99Ms" from a stamp to its arrival;
 * "urgentP50" and "urgentP95", how long jobs of the highest lane wait behind the backlog, in intervals of
 * one process's part of the rate;
 * "cpu" of all processes, cores; over KV Connect "reads", "commits" and "wakes" (watches told) per second.
 */
export const clusterRate: Bench = {
  name: "cluster-rate",
  about: "processes that drain one queue under an api-rate-cap for all of them, over HTTP",
  rounds: 1,
  cases: CASES,
  measure,
  targets: CASES.flatMap((of) =>
    [
      { about: `use of the rate, ${of}`, figure: "use", aim: "at least", bound: 0.9 },
      { about: `most starts in a second, ${of}`, figure: "starts", aim: "at most", bound: 1 },
      { about: `most arrivals in a second, ${of}`, figure: "arrivals", aim: "at most", bound: 1 },
    ] as const
  ).map(({ about, figure, aim, bound }) => {
    return { about, over: { of: about.slice(about.indexOf(", ") + 2), figure }, by: 1, aim, bound };
  }),
};

async function measure(of: string): Promise<Figures> {
  const [, processes, store, rate] = /^(\d+) on (.+) at (\d+)/.exec(of)!; // names are made above
  const perSec = Number(rate);
  await using stack = new AsyncDisposableStack();
  const receiver = stack.use(receive());
  const queue = await shareQueue(stack, store!);
  const config = {
    store: queue.store,
    pools: {
      p: {
        handler: { use: "http", with: { url: receiver.url } },
        size: { min: 1, max: 32 },
        lanes: [{ name: "urgent" }, { name: "jobs" }],
        caps: [{ use: "api-rate-cap", with: { callsPerSec: perSec } }],
        admission: "admit-all",
      },
    },
  };
  const urgentPerSec = URGENT * perSec / Number(processes);
  const jobs = perSec * (SETTLE_MS + DURATION_MS + 5000) / 1000;
  const workers = await queue.work(Number(processes), { config, jobs, urgentPerSec });
  await delay(SETTLE_MS);
  const before = await usageOf(workers, queue.server);
  const fromMs = now();
  await delay(DURATION_MS);
  const after = await usageOf(workers, queue.server);
  const toMs = now();
  const perSecOf = (figure: keyof Counted): number =>
    1000 * (after[figure] - before[figure]) / (toMs - fromMs);

  const stamps = new Map(after.starts.map(([id, atMs]) => [id, atMs]));
  const within = (atMs: number): boolean => atMs >= fromMs && atMs < toMs;
  const starts = stamps.values().filter(within).toArray();
  const lags = [...receiver.arrivals].map(([id, atMs]) => atMs - (stamps.get(id) ?? atMs))
    .toSorted((a, b) => a - b);
  const intervalMs = Number(processes) * 1000 / perSec;
  const waits = after.waits.filter(([atMs]) => within(atMs)).map(([, waitMs]) =>
    waitMs / intervalMs
  )
    .toSorted((a, b) => a - b);
  return {
    use: starts.length * 1000 / (toMs - fromMs) / perSec,
    starts: mostInASecond([...stamps.values()]) / perSec,
    arrivals: mostInASecond([...receiver.arrivals.values()]) / perSec,
    lagP50Ms: quantile(lags, 0.5),
    lagP99Ms: quantile(lags, 0.99),
    urgentP50: quantile(waits, 0.5),
    urgentP95: quantile(waits, 0.95),
    cpu: perSecOf("cpuMs") / 1000,
    ...(queue.server === undefined ? {} : {
      reads: perSecOf("reads"),
      commits: perSecOf("commits"),
      wakes: perSecOf("wakes"),
    }),
  };
}

interface Counted {
  readonly cpuMs: number;
  readonly reads: number;
  readonly commits: number;
  readonly wakes: number;
}

interface Usage extends Counted {
  readonly starts: readonly [id: string, atMs: number][];
  readonly waits: readonly [atMs: number, waitMs: number][];
}

async function usageOf(workers: readonly Child[], server: Child | undefined): Promise<Usage> {
  const said = await Promise.all(workers.map((worker) => worker.ask()));
  const asked = await server?.ask() ?? { reads: 0, commits: 0, wakes: 0 };
  const starts = said.flatMap(({ starts }) => starts);
  const waits = said.flatMap(({ waits }) => waits);
  const cpuMs = said.reduce((sum, { cpuMs }) => sum + cpuMs, 0);
  return { ...asked, starts, waits, cpuMs };
}

/** Notes when each job arrives, by its id. */
function receive(): AsyncDisposable & { url: string; arrivals: ReadonlyMap<string, number> } {
  const arrivals = new Map<string, number>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    arrivals.set(request.headers.get("sluice-job-id") ?? "", now());
    await delay(ANSWER_MS);
    return new Response(null, { status: 204 });
  });
  const { hostname, port } = server.addr;
  return {
    url: `http://${hostname}:${port}`,
    arrivals,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

function now(): number {
  return performance.timeOrigin + performance.now();
}
