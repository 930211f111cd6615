/**
 * How many requests to a database over KV Connect pools make: on Deno Deploy they are what costs.
 *
 * @module
 */

import { type Sluice, start } from "../mod.ts";
import { delay } from "../src/base/async.ts";
import { type Server, startServer, TOKEN } from "../tests/_kvconnect/server.ts";
import type { Bench, Figures } from "./_bench.ts";

/** What a pool asks for because it starts comes within that, ms. */
const STARTS_WITHIN_MS = 6000;
/** How long a pool is watched, ms. */
const WATCHED_MS = 20_000;
/** Jobs of a burst. */
const BURST = 1000;

/** A case: how many workers there are, what is sent, and what the figures are divided by. */
interface Case {
  readonly workers: number;
  readonly drive: (sluice: Sluice) => Promise<number>;
}

const CASES: Readonly<Record<string, Case>> = {
  "start": { workers: 8, drive: () => Promise.resolve(1) },
  "idle, a second": { workers: 8, drive: idle },
  "a job a second": { workers: 8, drive: trickle },
  "1,000 jobs, 8 at a time": { workers: 8, drive: burst },
  "1,000 jobs, 100 at a time": { workers: 100, drive: burst },
};

/** Figures "reads" and "writes": for a second or for a job, as the case says. */
export const requests: Bench = {
  name: "requests",
  about: "requests to the database over KV Connect, jobs of 20 ms",
  rounds: 3,
  cases: Object.keys(CASES),
  measure,
  targets: [],
};

async function measure(of: string): Promise<Figures> {
  const { workers, drive } = CASES[of]!; // one of the names above
  Deno.env.set("DENO_KV_ACCESS_TOKEN", TOKEN);
  await using server = startServer({ path: ":memory:" });
  let from = counted(server);
  await using sluice = await start({
    store: { use: "deno-kv", with: { url: server.url } },
    pools: {
      mail: {
        handler: { use: "sleep" },
        size: { min: workers, max: workers },
        lanes: [{ name: "urgent", targetWaitMs: 60_000 }, { name: "batch", targetWaitMs: 60_000 }],
      },
    },
  });
  if (of !== "start") {
    await delay(STARTS_WITHIN_MS);
    from = counted(server);
  }
  const by = await drive(sluice);
  const to = counted(server);
  return { reads: (to.reads - from.reads) / by, writes: (to.writes - from.writes) / by };
}

/** Watches a pool that has nothing to do. Answers seconds. */
async function idle(): Promise<number> {
  await delay(3 * WATCHED_MS); // heartbeats are 10 s apart
  return 3 * WATCHED_MS / 1000;
}

/** Sends a job each second and waits for its end. Answers how many. */
async function trickle(sluice: Sluice): Promise<number> {
  const jobs = WATCHED_MS / 1000;
  for (let sent = 0; sent < jobs; sent++) {
    const { done } = await sluice.enqueue("mail", job());
    await Promise.all([done, delay(1000)]);
  }
  return jobs;
}

/** Sends many jobs in one call and waits for the last. Answers how many. */
async function burst(sluice: Sluice): Promise<number> {
  const taken = await sluice.pools[0]!.enqueueAll(Array.from({ length: BURST }, job));
  await Promise.all(taken.map((each) => each instanceof Error ? Promise.reject(each) : each.done));
  return BURST;
}

function job(): { readonly lane: string; readonly payload: unknown } {
  return { lane: "batch", payload: { ms: 20 } };
}

interface Counted {
  readonly reads: number;
  readonly writes: number;
}

function counted({ requests }: Server): Counted {
  return { reads: requests.snapshot_read, writes: requests.atomic_write };
}
