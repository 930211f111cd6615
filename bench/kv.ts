/**
 * The durable store: enqueue, claim and finish, each acknowledged after its commit, on a file. Beside it
 * what the database does alone: one `set` after another, each a commit.
 *
 * @module
 */

import { start } from "../mod.ts";
import type { Leased, Queue } from "../src/contract/store.ts";
import { quantile } from "../src/base/stats.ts";
import { bind } from "../src/contract/bind.ts";
import type {} from "../src/contract/plugin.ts";
import { silentLogger } from "../src/runtime/log.ts";
import { denoKv } from "../stores/deno_kv/mod.ts";
import type { Bench, Figures } from "./_bench.ts";

const PAYLOAD = { type: "email", to: "someone@example.org", body: "x".repeat(120) };

/** Producers and jobs at once of each case, and how many jobs go through. */
const LOADS: Readonly<Record<string, readonly [producers: number, most: number, jobs: number]>> = {
  "1/1": [1, 1, 1000],
  "16/16": [16, 16, 8000],
  "256/400": [256, 400, 30_000],
  "1000/2000": [1000, 2000, 60_000],
};

/** Backlogs that claims are measured at. */
const BACKLOGS: Readonly<Record<string, number>> = { "claim 10k": 10_000, "claim 200k": 200_000 };

/** Figures: "perSec" of jobs or commits; "ms" of one commit, claim, or enqueue to start. */
export const kv: Bench = {
  name: "kv",
  about: "jobs/s through deno-kv on a file, producers/at once, against bare commits",
  rounds: 5,
  cases: ["bare", ...Object.keys(LOADS), "pool 1000/2000", "idle", ...Object.keys(BACKLOGS)],
  measure,
  targets: [
    {
      about: "jobs/s, 1000/2000 / bare commits/s: half of what a prototype did",
      over: { of: "1000/2000", figure: "perSec" },
      by: { of: "bare", figure: "perSec" },
      aim: "at least",
      bound: 9,
    },
    ...["1/1", "16/16", "256/400", "pool 1000/2000"].map((of) => ({
      about: `jobs/s, ${of} / bare commits/s`,
      over: { of, figure: "perSec" },
      by: { of: "bare", figure: "perSec" },
      aim: "at least" as const,
    })),
    {
      about: "D idle enqueue to start p50 / one bare commit as seldom",
      over: { of: "idle", figure: "ms" },
      by: { of: "idle", figure: "setMs" },
      aim: "at most",
      bound: 3,
    },
    {
      about: "the same / one of bare commits in a row, which find all at hand",
      over: { of: "idle", figure: "ms" },
      by: { of: "bare", figure: "ms" },
      aim: "at most",
    },
    {
      about: "claim of 100 at a backlog of 200,000 / 10,000",
      over: { of: "claim 200k", figure: "ms" },
      by: { of: "claim 10k", figure: "ms" },
      aim: "at most",
      bound: 1.3,
    },
  ],
};

function measure(of: string): Promise<Figures> {
  return inFolder(async (path) => {
    if (of === "bare") return await bare(path);
    if (of === "idle") return await idle(path);
    if (of === "pool 1000/2000") return await throughPool(path);
    const backlog = BACKLOGS[of];
    return await withQueue(
      path,
      (queue) => backlog === undefined ? load(queue, LOADS[of]!) : claims(queue, backlog),
    );
  });
}

/** One commit after another, as `await kv.set` makes them. */
async function bare(path: string): Promise<Figures> {
  using db = await Deno.openKv(path);
  const times: number[] = [];
  for (let index = 0; index < 2000; index++) {
    const startMs = performance.now();
    await db.set(["bench", index], PAYLOAD);
    times.push(performance.now() - startMs);
  }
  const sum = times.reduce((total, ms) => total + ms, 0);
  return { perSec: 1000 * times.length / sum, ms: quantile(times.sort((a, b) => a - b), 0.5) };
}

/** Producers that await each enqueue, and as many jobs at once as given. */
async function load(
  queue: Queue,
  [producers, most, jobs]: readonly [number, number, number],
): Promise<Figures> {
  let sent = 0;
  let done = 0;
  let free = most;
  let freed = (): void => {};
  const produce = async (): Promise<void> => {
    while (sent++ < jobs) await queue.add([entry()], now());
  };
  const run = async (job: Leased): Promise<void> => {
    await null; // the handler
    await queue.settle([end(job)], now());
    free++;
    done++;
    freed();
  };
  const consume = async (): Promise<void> => {
    while (done < jobs) {
      const leased = free < most / 2 ? [] : await queue.lease([free], now());
      free -= leased.length;
      for (const job of leased) run(job);
      if (leased.length > 0) continue;
      await new Promise<void>((resolve) => {
        freed = resolve;
        setTimeout(resolve, 1);
      });
    }
  };
  const startMs = performance.now();
  await Promise.all([consume(), ...Array.from({ length: producers }, produce)]);
  return { perSec: 1000 * jobs / (performance.now() - startMs) };
}

/** The time of a claim of 100 jobs from a backlog of lone ones. */
async function claims(queue: Queue, backlog: number): Promise<Figures> {
  for (let added = 0; added < backlog; added += 5000) {
    await queue.add(Array.from({ length: Math.min(5000, backlog - added) }, entry), now());
  }
  const times: number[] = [];
  for (let claim = 0; claim < 60; claim++) {
    const startMs = performance.now();
    await queue.lease([100], now());
    times.push(performance.now() - startMs);
  }
  return { ms: quantile(times.sort((a, b) => a - b), 0.5) };
}

/** The same through a pool, with all that it steers and shows. */
async function throughPool(path: string): Promise<Figures> {
  const [producers, most, jobs] = LOADS["1000/2000"]!;
  let done = 0;
  const ended = Promise.withResolvers<void>();
  const handler = (): void => {
    if (++done === jobs) ended.resolve();
  };
  const lanes = [{ name: "a", targetWaitMs: 60_000 }];
  const pools = { bench: { handler, size: { min: most, max: most }, lanes } };
  const sluice = await start({ store: { use: denoKv, with: { path } }, pools });
  let sent = 0;
  const produce = async (): Promise<void> => {
    while (sent++ < jobs) await sluice.enqueue("bench", { lane: "a", payload: PAYLOAD });
  };
  const startMs = performance.now();
  await Promise.all([ended.promise, ...Array.from({ length: producers }, produce)]);
  const perSec = 1000 * jobs / (performance.now() - startMs);
  await sluice.stop();
  return { perSec };
}

/** From enqueue to start in a pool that has nothing else to do, and bare commits in between. */
async function idle(path: string): Promise<Figures> {
  using db = await Deno.openKv(`${path}.bare`);
  const waits: number[] = [];
  const sets: number[] = [];
  const pause = () => new Promise((resolve) => setTimeout(resolve, 5));
  let started = (): void => {};
  const handler = (): void => started();
  const pools = { bench: { handler, size: { min: 1, max: 1 }, lanes: [{ name: "a" }] } };
  const sluice = await start({ store: { use: denoKv, with: { path } }, pools });
  for (let index = 0; index < 300; index++) {
    const startMs = performance.now();
    const running = new Promise<void>((resolve) => started = resolve);
    await sluice.enqueue("bench", { lane: "a", payload: PAYLOAD });
    await running;
    waits.push(performance.now() - startMs);
    await pause();
    const setAtMs = performance.now();
    await db.set(["bench", index], PAYLOAD);
    sets.push(performance.now() - setAtMs);
    await pause();
  }
  await sluice.stop();
  const p50 = (times: number[]) => quantile(times.sort((a, b) => a - b), 0.5);
  return { ms: p50(waits), setMs: p50(sets) };
}

async function withQueue(path: string, use: (queue: Queue) => Promise<Figures>): Promise<Figures> {
  const binding = bind(denoKv, { path });
  if (!binding.ok) throw new TypeError(binding.issues.map(({ message }) => message).join("; "));
  const store = await binding.bound.create({
    pool: "",
    lanes: [],
    size: { min: 0, max: 0 },
    random: Math.random,
    log: silentLogger(),
  });
  const queue = await store.open({
    pool: "bench",
    lanes: [{ name: "a", maxRunningPerKey: Infinity }],
    leaseMs: 30_000,
    attempts: [5],
    keep: { done: 1000, dead: 10_000, forMs: 86_400_000 },
    random: Math.random,
    nowMs: now(),
    listener: { wake() {}, cancelled() {}, ended() {} },
  });
  try {
    return await use(queue);
  } finally {
    await queue.leave(now());
    await store.close();
  }
}

async function inFolder(use: (path: string) => Promise<Figures>): Promise<Figures> {
  const folder = await Deno.makeTempDir();
  try {
    return await use(`${folder}/bench.db`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function now(): number {
  return performance.timeOrigin + performance.now();
}

function entry(): Parameters<Queue["add"]>[0][number] {
  return {
    lane: 0,
    type: "",
    payload: PAYLOAD,
    key: undefined,
    dueAtMs: 0,
    expiresAtMs: Infinity,
    dedupeKey: undefined,
    traceparent: undefined,
  };
}

function end(job: Leased): Parameters<Queue["settle"]>[0][number] {
  const rest = { dueAtMs: 0, result: undefined, reason: undefined, error: undefined };
  return { job, fence: job.fence, to: "done", charged: true, ...rest };
}
