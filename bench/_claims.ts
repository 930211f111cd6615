/**
 * What the published experiments claim besides their tables, each held against a simulated run.
 *
 * @module
 */

import type { PoolInput } from "../src/config/input.ts";
import { type LaneLoad, type PoolReport, simulate } from "../src/simulate/mod.ts";

const FIXED = { kind: "fixed", ms: 20 } as const;

interface Case {
  readonly pool?: Partial<PoolInput>;
  readonly lanes: Readonly<Record<string, LaneLoad>>;
  readonly durationMs: number;
  readonly drain?: boolean;
}

interface Claim {
  /** What the text says. */
  readonly says: string;
  readonly play: Case;
  /** What ours came to. */
  readonly ours: (pool: PoolReport) => string;
  /** Whether that is as the text says. */
  readonly holds: (pool: PoolReport) => boolean;
}

const poisson = (perSec: number): LaneLoad => {
  return { arrivals: { kind: "poisson", perSec }, serviceMs: FIXED };
};

const jobs = (pool: PoolReport): PoolReport["lanes"][string] => pool.lanes["jobs"]!;

/** Most jobs done in any second. */
function busiestSecond({ series: { bucketMs, lanes } }: PoolReport): number {
  const done = lanes["jobs"]!.done;
  const width = Math.round(1000 / bucketMs);
  return Math.max(...done.map((_, from) => sum(done.slice(from, from + width))));
}

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

/** Batch jobs done a second from one time to another, ms. */
function batchRate({ series: { bucketMs, lanes } }: PoolReport, fromMs: number, untilMs: number) {
  const done = lanes["batch"]!.done.slice(fromMs / bucketMs, untilMs / bucketMs);
  return sum(done) * 1000 / (untilMs - fromMs);
}

/** The same load at another throughput: `size.max` has room, and nothing else is changed. */
function atRate(controller: PoolInput["controller"], perSec: number): Case {
  return {
    pool: { controller, size: { min: 2, max: 400 }, adaptive: false, admission: "admit-all" },
    lanes: { jobs: poisson(perSec) },
    durationMs: perSec > 1000 ? 10_000 : 300_000,
  };
}

const waits = (pool: PoolReport): string => {
  const { p99, max } = jobs(pool).waitMs!;
  return `waits p99 ${p99.toFixed(1)}, longest ${max.toFixed(1)} ms`;
};

const DEPTH = { use: "depth-scaler", with: { growAbove: 40 } } as const;

const LANES: Case = {
  pool: {
    size: { min: 10, max: 10 },
    lanes: [{ name: "urgent" }, { name: "batch", targetWaitMs: null }],
    lanePolicy: { use: "reserved-lane", with: { reserve: { urgent: 2 } } },
    admission: "admit-all",
  },
  lanes: {
    urgent: {
      arrivals: {
        kind: "poisson",
        phases: [
          { untilMs: 20_000, perSec: 30 },
          { untilMs: 40_000, perSec: 150 },
          { untilMs: 60_000, perSec: 30 },
        ],
      },
      serviceMs: FIXED,
    },
    batch: { backlog: 4000, serviceMs: { kind: "uniform", min: 100, max: 300 } },
  },
  durationMs: 60_000,
};

const CLAIMS: readonly Claim[] = [
  {
    says: "20 connections and 100 calls a second of 20 ms allow 2 workers; at the cap it sheds",
    play: {
      pool: {
        caps: [
          { use: "db-pool-cap", with: { connections: 20 } },
          { use: "api-rate-cap", with: { callsPerSec: 100, callsPerJob: 1, serviceMs: 20 } },
        ],
      },
      lanes: { jobs: poisson(200) },
      durationMs: 60_000,
    },
    ours: (pool) =>
      `${pool.workers.peak} workers, ${jobs(pool).perSec.toFixed(1)} calls a second and ` +
      `${busiestSecond(pool)} at most, ${jobs(pool).shed} of ${jobs(pool).arrived} shed`,
    holds: (pool) =>
      pool.workers.peak === 2 && busiestSecond(pool) <= 101 && jobs(pool).shed > 4000,
  },
  {
    says: "Below capacity the head is hardly old",
    play: {
      pool: { size: { min: 16, max: 16 } },
      lanes: { jobs: poisson(400) },
      durationMs: 60_000,
    },
    ours: waits,
    holds: (pool) => jobs(pool).waitMs!.p99 < 5,
  },
  {
    says: "Items that started end, and the pool is small again",
    play: {
      lanes: {
        jobs: {
          arrivals: {
            kind: "poisson",
            phases: [{ untilMs: 10_000, perSec: 800 }, { untilMs: 30_000, perSec: 50 }],
          },
          serviceMs: FIXED,
        },
      },
      durationMs: 30_000,
      drain: true,
    },
    ours: (pool) =>
      `${jobs(pool).started} started, ${jobs(pool).done} done; ` +
      `${pool.workers.peak} workers at most, ${
        pool.workers.timeline.findLast(([atMs]) => atMs < 29_000)![1]
      } in the end`,
    holds: (pool) => jobs(pool).started === jobs(pool).done,
  },
  ...[10, 10_000].map((perSec): Claim => ({
    says: `One setting by age for all throughputs: ${perSec} jobs a second`,
    play: atRate("age-scaler", perSec),
    ours: waits,
    holds: (pool) => jobs(pool).waitMs!.p99 < 50,
  })),
  ...[10, 10_000].map((perSec): Claim => ({
    says: `A depth needs another for each: 40 at ${perSec} jobs of ${
      perSec > 10 ? "20 ms" : "1 s"
    } a second`,
    play: perSec > 10 ? atRate(DEPTH, perSec) : {
      ...atRate(DEPTH, perSec),
      lanes: {
        jobs: { arrivals: { kind: "poisson", perSec }, serviceMs: { kind: "fixed", ms: 1000 } },
      },
    },
    ours: waits,
    holds: (pool) => jobs(pool).waitMs!.p99 > 50,
  })),
  {
    says: "When the urgent spike ends, batch is back at its rate",
    play: LANES,
    ours: (pool) =>
      `${batchRate(pool, 5000, 20_000).toFixed(1)}, then ` +
      `${batchRate(pool, 25_000, 40_000).toFixed(1)}, then ` +
      `${batchRate(pool, 45_000, 60_000).toFixed(1)} batch jobs a second`,
    holds: (pool) => {
      const before = batchRate(pool, 5000, 20_000);
      return Math.abs(batchRate(pool, 45_000, 60_000) - before) < 0.1 * before;
    },
  },
];

/** A claim, what ours came to, and whether it holds, of each. */
export async function* claimLines(): AsyncGenerator<string> {
  yield "\nWhat the published experiments claim besides, one run each";
  for (const { says, play, ours, holds } of CLAIMS) {
    const { durationMs, drain = false, lanes, pool } = play;
    const report = await simulate({
      pools: {
        claim: {
          handler: "http",
          size: { min: 2, max: 32 },
          lanes: [{ name: "jobs", targetWaitMs: 50 }],
          ...pool,
        },
      },
    }, {
      durationMs,
      drain,
      timerLateMs: { kind: "exponential", ms: 0.3 },
      pools: { claim: { lanes } },
    });
    const found = report.pools["claim"]!;
    yield `\n${says}\n  ${holds(found) ? "holds  " : "differs"}  ${ours(found)}`;
  }
}
