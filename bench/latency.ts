/**
 * How long a job waits for its start while workers are free, and what scaling adds to that.
 *
 * @module
 */

import { setImmediate } from "node:timers";
import fastq from "fastq";
import type { Bench, Figures } from "./_bench.ts";
import { LANES, startPool } from "./_pool.ts";
import type { PoolInput } from "../src/config/input.ts";
import { randomStream } from "../src/base/random.ts";
import { quantile } from "../src/base/stats.ts";

const PER_SEC = 2000;
const WORKERS = 10;
const WARM_UP_MS = 1000;
const DURATION_MS = 4000;

/** What is measured beside each other, with the default target of 50 ms. */
const lanes = LANES.map((name) => ({ name }));
const POOLS: Readonly<Record<string, Partial<PoolInput>>> = {
  "1 to 10": { size: { min: 1, max: WORKERS }, lanes },
  "10 scaling": { lanes },
  "10 fixed": { controller: "fixed", lanes },
};

/** Figures in ms, from submit to start: "p50", "p90" and "p99". */
export const latency: Bench = {
  name: "latency",
  about: "ms from submit to start of 1 ms timer jobs at 2,000/s (Poisson), 10 at once",
  rounds: 5,
  cases: [...Object.keys(POOLS), "fastq"],
  measure,
  targets: [
    { about: "M6 p99, 10 workers", over: p99("10 scaling"), by: 1, aim: "at most", bound: 0.05 },
    {
      about: "M6 p99, 10 workers, scaling on / off",
      over: p99("10 scaling"),
      by: p99("10 fixed"),
      aim: "at most",
      bound: 1.1,
    },
    { about: "p99, 10 workers / fastq", over: p99("10 scaling"), by: p99("fastq"), aim: "at most" },
    {
      about: "p99, 1 to 10 workers: as few as keep waits below 25 ms",
      over: p99("1 to 10"),
      by: 1,
      aim: "at most",
    },
  ],
};

function p99(of: string): { of: string; figure: string } {
  return { of, figure: "p99" };
}

async function measure(of: string): Promise<Figures> {
  const waits: number[] = [];
  const beginsAtMs = performance.now() + WARM_UP_MS;
  const job = (submittedAtMs: number): Promise<void> => {
    const nowMs = performance.now();
    if (submittedAtMs >= beginsAtMs) waits.push(nowMs - submittedAtMs);
    return new Promise((resolve) => setTimeout(resolve, 1));
  };
  if (of === "fastq") {
    const queue = fastq<unknown, number, void>(
      (submittedAtMs, done) => void job(submittedAtMs).then(() => done(null)),
      WORKERS,
    );
    await poisson(beginsAtMs + DURATION_MS, () => queue.push(performance.now()));
  } else {
    await using bench = await startPool(({ payload }) => job(Number(payload)), WORKERS, POOLS[of]);
    const { pool } = bench;
    await poisson(
      beginsAtMs + DURATION_MS,
      () => pool.post({ lane: "normal", payload: performance.now() }),
    );
  }
  waits.sort((a, b) => a - b);
  return { p50: quantile(waits, 0.5), p90: quantile(waits, 0.9), p99: quantile(waits, 0.99) };
}

/** Submits at random times. The event loop turns all the while: timers would come too late. */
function poisson(untilMs: number, submit: () => void): Promise<void> {
  const random = randomStream(1, "arrivals");
  let nextAtMs = performance.now();
  return new Promise((resolve) => {
    const turn = (): void => {
      const nowMs = performance.now();
      while (nextAtMs <= nowMs) {
        submit();
        nextAtMs -= Math.log(1 - random()) * 1000 / PER_SEC;
      }
      if (nowMs < untilMs) setImmediate(turn);
      else resolve();
    };
    turn();
  });
}
