/**
 * What a pool with nothing to do costs.
 *
 * @module
 */

import process from "node:process";
import type { Bench, Figures, Target } from "./_bench.ts";
import { heapBytes } from "./_heap.ts";
import { startPool } from "./_pool.ts";

const WORKERS = 1000;
const SETTLE_MS = 500;
const WATCH_MS = 2000;
/** A process that has not ended by then is kept alive. */
const STAYS_MS = 5000;

/**
 * Figures: "bytesPerWorker" of heap; "cpuMs" that 1,000 idle workers use in 2 s, beside "noPoolCpuMs";
 * "timersBeforeJob" and "timersAfterJob": 1 if a process is kept
 * alive by its idle pool.
 */
export const idle: Bench = {
  name: "idle",
  about: "a pool of 1,000 idle workers",
  rounds: 3,
  cases: ["pool"],
  v8Flags: "--expose-gc",
  measure,
  targets: [
    {
      about: "bytes of heap per idle worker",
      over: { of: "pool", figure: "bytesPerWorker" },
      by: 1,
      aim: "at most",
    },
    ...["timersBeforeJob", "timersAfterJob"].map((figure): Target => ({
      about: figure,
      over: { of: "pool", figure },
      by: 1,
      aim: "at most",
      bound: 0,
    })),
  ],
};

async function measure(): Promise<Figures> {
  await bytesOf(1);
  const one = await bytesOf(1);
  const bytesPerWorker = (await bytesOf(1 + WORKERS) - one) / WORKERS;
  const noPoolCpuMs = await cpuMsOver(WATCH_MS);
  await using _ = await startPool(() => {}, WORKERS);
  await pause(SETTLE_MS);
  const cpuMs = await cpuMsOver(WATCH_MS);
  const timersBeforeJob = await isKeptAlive("") ? 1 : 0;
  const timersAfterJob = await isKeptAlive('pool.post({ lane: "batch", payload: 1 });') ? 1 : 0;
  return { bytesPerWorker, cpuMs, noPoolCpuMs, timersBeforeJob, timersAfterJob };
}

async function bytesOf(workers: number): Promise<number> {
  const before = heapBytes();
  await using bench = await startPool(() => {}, workers);
  const used = heapBytes() - before;
  const { live } = bench.pool.snapshot();
  if (live !== workers) throw new Error(`Expected ${workers} live workers but found ${live}`);
  return used;
}

async function cpuMsOver(forMs: number): Promise<number> {
  const before = process.cpuUsage();
  await pause(forMs);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Whether a process that starts a pool and then does `more` goes on for longer than a few seconds. */
async function isKeptAlive(more: string): Promise<boolean> {
  const pool = new URL("./_pool.ts", import.meta.url);
  const code = `import { startPool } from "${pool}";
    const { pool } = await startPool(() => {}, ${WORKERS});
    ${more}`;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["eval", `--config=${import.meta.dirname}/../deno.json`, code],
    stderr: "inherit",
  }).spawn();
  let killed = false;
  const timer = setTimeout(() => {
    killed = true;
    child.kill();
  }, STAYS_MS);
  await child.status;
  clearTimeout(timer);
  return killed;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
