/**
 * How soon a job starts in a durable queue that has nothing else to do.
 *
 * @module
 */

import type { Bench, Figures, Target } from "./_bench.ts";
import { job } from "./_queue.ts";
import { openQueue } from "./_queues.ts";
import { quantile } from "../src/base/stats.ts";

const PER_SEC = 50;
const DURATION_MS = 5000;
const WORKERS = 10;
/** Not counted: the engine compiles, connections are opened. */
const WARM_UP = 50;

const QUEUES = ["sluice", "bullmq everysec", "bullmq always", "graphile", "kv queue"] as const;

/** Figures in ms: from the call that adds to the start, and how long the call takes. */
export const durableIdle: Bench = {
  name: "durable-idle",
  about: "ms from enqueue to start at 50 jobs/s, 10 at once, in durable queues",
  rounds: 5,
  cases: [...QUEUES],
  measure,
  targets: [
    ratio("start-p50", "bullmq everysec", 1),
    ratio("start-p99", "bullmq everysec", 1.2),
    ratio("start-p50", "bullmq always"),
    ratio("start-p50", "graphile"),
    {
      about: "D4 start-p50, kv queue / sluice",
      over: { of: "kv queue", figure: "start-p50" },
      by: { of: "sluice", figure: "start-p50" },
      aim: "at least",
      bound: 20,
    },
  ],
};

function ratio(figure: string, peer: string, bound?: number): Target {
  return {
    about: `D4 ${figure}, sluice / ${peer}`,
    over: { of: "sluice", figure },
    by: { of: peer, figure },
    aim: "at most",
    ...(bound === undefined ? {} : { bound }),
  };
}

async function measure(of: string): Promise<Figures> {
  const jobs = WARM_UP + PER_SEC * DURATION_MS / 1000;
  const starts: number[] = [];
  const adds: number[] = [];
  const started = Promise.withResolvers<void>();
  await using queue = await openQueue(of, {
    most: WORKERS,
    run: ({ sentAtMs }) => {
      if (starts.push(performance.now() - sentAtMs) === jobs) started.resolve();
    },
  });
  await queue.work();
  const beganAtMs = performance.now();
  const adding: Promise<void>[] = [];
  for (let n = 0; n < jobs; n++) {
    const inMs = beganAtMs + n * 1000 / PER_SEC - performance.now();
    if (inMs > 0) await new Promise((resolve) => setTimeout(resolve, inMs));
    const sentAtMs = performance.now();
    adding.push(
      queue.add(job(n, { sentAtMs })).then(() => void adds.push(performance.now() - sentAtMs)),
    );
  }
  await Promise.all([started.promise, ...adding]);
  return { ...quantiles("start", starts), ...quantiles("add", adds) };
}

function quantiles(name: string, all: readonly number[]): Figures {
  const sorted = all.slice(WARM_UP).sort((a, b) => a - b);
  return { [`${name}-p50`]: quantile(sorted, 0.5), [`${name}-p99`]: quantile(sorted, 0.99) };
}
