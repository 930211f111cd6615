/**
 * The lanes experiment with durable lanes: urgent jobs in time while batch jobs go on.
 *
 * @module
 */

import type { Bench, Figures, Target } from "./_bench.ts";
import { job, type Payload } from "./_queue.ts";
import { openQueue } from "./_queues.ts";
import { randomStream } from "../src/base/random.ts";
import { quantile } from "../src/base/stats.ts";

const WORKERS = 10;
const BATCH_JOBS = 2000;
const URGENT_MS = 20;
/** Workers that take batch jobs where two are reserved: urgent jobs come once that many are at work. */
const AT_WORK = 8;
const DURATION_MS = 8000;
/** What ends so long after the last was sent still counts. */
const GRACE_MS = 300;

const RATES = [30, 150] as const;
const QUEUES = ["sluice 2+8", "sluice strict", "bullmq priority", "graphile 2+8"] as const;

/** Figures: "p50" and "p99" of urgent jobs from submit to end, ms; "undone" of them; "batch" jobs/s. */
export const durableSeed: Bench = {
  name: "durable-seed",
  about: "urgent jobs of 20 ms over 2,000 batch jobs of 100 to 300 ms, 10 workers, durable queues",
  rounds: 3,
  cases: RATES.flatMap((rate) => QUEUES.map((queue) => `${queue} ${rate}/s`)),
  measure,
  targets: [
    { about: "S4 p99, 30/s, ms", over: at("p99", 30), by: 1, aim: "at most", bound: 27 },
    compare("p99", "at most", "bullmq priority", 0.45),
    compare("p99", "at most", "graphile 2+8", 0.7),
    compare("batch", "at least", "sluice strict", 0.97),
    ...RATES.map((rate): Target => ({
      about: `S4 urgent jobs that are not done, ${rate}/s`,
      over: at("undone", rate),
      by: 1,
      aim: "at most",
      bound: 0,
    })),
  ],
};

function at(figure: string, rate: number, queue = "sluice 2+8"): Target["over"] {
  return { of: `${queue} ${rate}/s`, figure };
}

function compare(figure: string, aim: Target["aim"], to: string, bound: number): Target {
  const about = `S4 ${figure}, 150/s, sluice 2+8 / ${to}`;
  return { about, over: at(figure, 150), by: at(figure, 150, to), aim, bound };
}

async function measure(of: string): Promise<Figures> {
  const [, name, perSec] = /^(.+) (\d+)\/s$/.exec(of)!; // a name from `cases`
  const sojourns: number[] = [];
  let batch = 0;
  let untilMs = Infinity;
  let starts = 0;
  const atWork = Promise.withResolvers<void>();
  const run = async ({ n, urgent, sentAtMs }: Payload): Promise<void> => {
    if (++starts === AT_WORK) atWork.resolve();
    await after(n);
    const nowMs = performance.now();
    if (urgent && nowMs < untilMs + GRACE_MS) sojourns.push(nowMs - sentAtMs);
    if (!urgent && nowMs < untilMs) batch++;
  };
  await using queue = await openQueue(name!, { most: WORKERS, run });
  const random = randomStream(1, "batch");
  const jobs = Array.from({ length: BATCH_JOBS }, () => job(100 + 200 * random()));
  for (let from = 0; from < BATCH_JOBS; from += 500) {
    await queue.addMany(jobs.slice(from, from + 500));
  }
  await queue.work();
  await atWork.promise;
  const beganAtMs = performance.now();
  untilMs = beganAtMs + DURATION_MS;
  const urgent = Number(perSec) * DURATION_MS / 1000;
  const adding: Promise<unknown>[] = [];
  for (let n = 0; n < urgent; n++) {
    await after(beganAtMs + n * 1000 / Number(perSec) - performance.now());
    const sentAtMs = performance.now();
    adding.push(queue.add(job(URGENT_MS, { sentAtMs, urgent: true })));
  }
  await after(untilMs + GRACE_MS - performance.now());
  await Promise.all(adding);
  const undone = urgent - sojourns.length;
  const sorted = sojourns.sort((a, b) => a - b);
  const [p50, p99] = [0.5, 0.99].map((share) => sorted.length > 0 ? quantile(sorted, share) : NaN);
  return { p50: p50!, p99: p99!, undone, batch: batch * 1000 / DURATION_MS };
}

async function after(ms: number): Promise<void> {
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
}
