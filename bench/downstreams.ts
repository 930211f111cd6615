/**
 * What two pools that share a named downstream use of it together, at a receiver that counts.
 *
 * @module
 */

import { delay } from "../src/base/async.ts";
import { mostInASecond } from "../tests/_rate.ts";
import type { Bench, Figures } from "./_bench.ts";
import { shareQueue } from "./_rate_workers.ts";

const SETTLE_MS = 4000;
const DURATION_MS = 10_000;
const JOBS = 4000;

/** How long the receiver takes to answer, ms. */
const ANSWER_MS = 40;

const CONNECTIONS = 12;
const CALLS_PER_SEC = 60;

/** What a job of each pool needs. */
const NEEDS = { mails: 1, reports: 2 } as const;

const CASES = ["connections", "rate"].flatMap((what) =>
  ["file", "KV Connect"].flatMap((store) => [1, 4].map((count) => `${what}, ${count} on ${store}`))
);

/**
 * Figures: "most", connections in use at once or calls in any second at the receiver, by what there is;
 * "starts", calls in any second by the stamps of starts; "use", the mean by what there is; "least", the
 * part of the pool that has less, of what is used.
 */
export const downstreams: Bench = {
  name: "downstreams",
  about: "two pools of one or four processes that share 12 connections, or 60 calls a second",
  rounds: 1,
  cases: CASES,
  measure,
  targets: CASES.flatMap((of) => [
    { about: `most, ${of}`, over: { of, figure: "most" }, by: 1, aim: "at most", bound: 1 },
    { about: `use, ${of}`, over: { of, figure: "use" }, by: 1, aim: "at least", bound: 0.9 },
    {
      about: `least pool, ${of}`,
      over: { of, figure: "least" },
      by: 1,
      aim: "at least",
      bound: 0.4,
    },
  ]),
};

async function measure(of: string): Promise<Figures> {
  const [, what, processes, store] = /^(.+), (\d+) on (.+)$/.exec(of)!; // names are made above
  await using stack = new AsyncDisposableStack();
  const receiver = stack.use(receive());
  const queue = await shareQueue(stack, store!);
  const bears = what === "connections"
    ? { connections: CONNECTIONS }
    : { rates: [{ calls: CALLS_PER_SEC, perMs: 1000 }] };
  const pools = Object.entries(NEEDS).map(([name, each]) => [name, {
    handler: { use: "http", with: { url: `${receiver.url}/${name}` } },
    size: { min: 1, max: 20 },
    lanes: [{ name: "jobs" }],
    uses: { shared: each },
    adaptive: false,
    admission: "admit-all",
  }]);
  const config = {
    store: queue.store,
    downstreams: { shared: bears },
    pools: Object.fromEntries(pools),
  };
  const workers = await queue.work(Number(processes), { config, jobs: JOBS });
  await delay(SETTLE_MS);
  receiver.begin();
  await delay(DURATION_MS);
  const { most, mean, calls } = receiver.end();
  const asked: readonly Asked[] = await Promise.all(workers.map((worker) => worker.ask()));
  const starts = asked.flatMap(({ starts }) => starts)
    .flatMap(([, atMs, pool]) => Array.from({ length: NEEDS[pool] }, () => atMs));
  const all = mean.mails + mean.reports;
  return what === "connections"
    ? {
      most: most / CONNECTIONS,
      use: all / CONNECTIONS,
      least: Math.min(mean.mails, mean.reports) / all,
    }
    : {
      most: mostInASecond(calls.map(({ atMs }) => atMs)) / CALLS_PER_SEC,
      starts: mostInASecond(starts) / CALLS_PER_SEC,
      use: calls.length * 1000 / DURATION_MS / CALLS_PER_SEC,
      least: Math.min(
        ...Object.keys(NEEDS).map((name) => calls.filter(({ pool }) => pool === name).length),
      ) / calls.length,
    };
}

type PoolName = keyof typeof NEEDS;

interface Asked {
  readonly starts: readonly (readonly [id: string, atMs: number, pool: PoolName])[];
}

interface Seen {
  readonly most: number;
  readonly mean: Readonly<Record<PoolName, number>>;
  readonly calls: readonly { readonly atMs: number; readonly pool: PoolName }[];
}

/** Counts what is in use: a request of a pool is as many calls, and connections, as its jobs need. */
function receive(): AsyncDisposable & { url: string; begin(): void; end(): Seen } {
  const used: Record<PoolName, number> = { mails: 0, reports: 0 };
  const area: Record<PoolName, number> = { mails: 0, reports: 0 };
  let calls: { atMs: number; pool: PoolName }[] = [];
  let most = 0;
  let lastMs = now();
  let beganMs = lastMs;
  const change = (pool: PoolName, by: number): void => {
    pass();
    used[pool] += by;
    most = Math.max(most, used.mails + used.reports);
  };
  const pass = (): void => {
    const atMs = now();
    for (const pool of ["mails", "reports"] as const) area[pool] += used[pool] * (atMs - lastMs);
    lastMs = atMs;
  };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const pool = request.url.endsWith("/mails") ? "mails" : "reports";
    const atMs = now();
    for (let count = 0; count < NEEDS[pool]; count++) calls.push({ atMs, pool });
    change(pool, NEEDS[pool]);
    await delay(ANSWER_MS);
    change(pool, -NEEDS[pool]);
    return new Response(null, { status: 204 });
  });
  const { hostname, port } = server.addr;
  return {
    url: `http://${hostname}:${port}`,
    begin() {
      pass();
      area.mails = area.reports = most = 0;
      beganMs = lastMs;
      calls = [];
    },
    end() {
      pass();
      const forMs = lastMs - beganMs;
      return { most, mean: { mails: area.mails / forMs, reports: area.reports / forMs }, calls };
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

function now(): number {
  return performance.timeOrigin + performance.now();
}
