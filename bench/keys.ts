/**
 * What a limit and a rate by key cost: the same jobs with keys in a lane without either.
 *
 * @module
 */

import process from "node:process";
import { start } from "../mod.ts";
import { delay } from "../src/base/async.ts";
import type { LaneInput } from "../src/config/input.ts";
import type { Bench, Figures, Target } from "./_bench.ts";

const WORKERS = 20;
const AT_ONCE = 500;

/** By store: how many jobs, and as many calls of a key a second as hold few of them back. */
const STORES = {
  memory: { jobs: 50_000, calls: 5000 },
  file: { jobs: 3000, calls: 200 },
} as const;

const LANES = {
  none: () => ({}),
  limit: () => ({ maxRunningPerKey: 5 }),
  rate: (calls: number) => ({ ratesPerKey: [{ calls, perMs: 1000 }] }),
} satisfies Record<string, (calls: number) => Partial<LaneInput>>;

const KEYS = [10, 10_000] as const;

/** Figures: "cpuUs" and "perSec" of a no-op job, put in and run. */
export const keys: Bench = {
  name: "keys",
  about:
    "no-op jobs with 10 and 10,000 keys: as they like, with maxRunningPerKey, with ratesPerKey",
  rounds: 3,
  cases: Object.keys(STORES).flatMap((store) =>
    KEYS.flatMap((count) => Object.keys(LANES).map((kind) => `${store}, ${count} keys: ${kind}`))
  ),
  measure,
  targets: Object.keys(STORES).flatMap((store) =>
    KEYS.flatMap((count) => ["limit", "rate"].map((kind) => ratio(`${store}, ${count} keys`, kind)))
  ),
};

function ratio(where: string, kind: string): Target {
  return {
    about: `CPU time of a job, ${where}: ${kind} / none`,
    over: { of: `${where}: ${kind}`, figure: "cpuUs" },
    by: { of: `${where}: none`, figure: "cpuUs" },
    aim: "at most",
  };
}

async function measure(of: string): Promise<Figures> {
  const [, store, count, kind] = /^(\w+), (\d+) keys: (\w+)$/.exec(of)!; // a name from `cases`
  const { jobs, calls } = STORES[store as keyof typeof STORES];
  await using stack = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir();
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  let ended = 0;
  const sluice = stack.use(
    await start({
      store: store === "memory"
        ? "memory"
        : { use: "deno-kv", with: { path: `${folder}/queue.db` } },
      pools: {
        p: {
          handler: () => void ended++,
          size: { min: WORKERS, max: WORKERS },
          lanes: [{
            name: "jobs",
            targetWaitMs: null,
            ...LANES[kind as keyof typeof LANES](calls),
          }],
          admission: "admit-all",
          adaptive: false,
        },
      },
    }),
  );
  const pool = sluice.pool("p");
  const before = process.cpuUsage();
  const startedAtMs = performance.now();
  for (let from = 0; from < jobs; from += AT_ONCE) {
    await pool.enqueueAll(
      Array.from({ length: AT_ONCE }, (_, index) => ({
        lane: "jobs",
        payload: null,
        key: `key ${(from + index) % Number(count)}`,
      })),
    );
  }
  while (ended < jobs) await delay(5);
  const elapsedMs = performance.now() - startedAtMs;
  const { user, system } = process.cpuUsage(before);
  return { cpuUs: (user + system) / jobs, perSec: jobs * 1000 / elapsedMs };
}
