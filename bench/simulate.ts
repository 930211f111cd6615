/**
 * How many jobs a second of wall time the simulator plays.
 *
 * @module
 */

import type { PoolInput } from "../src/config/input.ts";
import { type LaneLoad, type Report, simulate } from "../src/simulate/mod.ts";
import type { Bench, Figures } from "./_bench.ts";

/** Long enough that start-up does not count, ms of virtual time. */
const WARM_MS = 50_000;
const ONE_LANE_MS = 400_000;
const LANES_MS = 1_600_000;

interface Case {
  readonly pool: Omit<PoolInput, "handler">;
  readonly lanes: Readonly<Record<string, LaneLoad>>;
  readonly durationMs: number;
}

const cases: Readonly<Record<string, Case>> = {
  "one lane": {
    pool: { size: { min: 2, max: 32 }, lanes: [{ name: "jobs" }] },
    lanes: {
      jobs: {
        arrivals: { kind: "poisson", perSec: 800 },
        serviceMs: { kind: "fixed", ms: 20 },
      },
    },
    durationMs: ONE_LANE_MS,
  },
  "lanes of the seed": {
    pool: {
      size: { min: 10, max: 10 },
      lanes: [{ name: "urgent" }, { name: "batch" }],
      lanePolicy: { use: "reserved-lane", with: { reserve: { urgent: 2 } } },
      admission: "admit-all",
    },
    lanes: {
      urgent: {
        arrivals: { kind: "even", perSec: 150 },
        serviceMs: { kind: "fixed", ms: 20 },
      },
      batch: { backlog: 100_000, serviceMs: { kind: "uniform", min: 100, max: 300 } },
    },
    durationMs: LANES_MS,
  },
};

/** The benchmark. */
export const simulation: Bench = {
  name: "simulate",
  about: "simulated jobs done per second of wall time, virtual clock",
  rounds: 3,
  cases: Object.keys(cases),
  measure,
  targets: [
    target("S1 one lane, default controller", "one lane", 100_000),
    target("S2 lanes of the seed at 150 urgent jobs a second", "lanes of the seed", 50_000),
  ],
};

function target(about: string, of: string, bound: number): Bench["targets"][number] {
  return { about, over: { of, figure: "jobs/s" }, by: 1, aim: "at least", bound };
}

async function measure(of: string): Promise<Figures> {
  const { pool, lanes, durationMs } = cases[of]!; // the bench names its own cases
  const play = (durationMs: number): Promise<Report> =>
    simulate({ pools: { bench: { handler: "unused", ...pool } } }, {
      durationMs,
      pools: { bench: { lanes } },
    });
  await play(WARM_MS);
  const beganMs = performance.now();
  const report = await play(durationMs);
  const tookMs = performance.now() - beganMs;
  const done = Object.values(report.pools.bench!.lanes).reduce((sum, lane) => sum + lane.done, 0);
  return { "jobs/s": done * 1000 / tookMs, "us/job": tookMs * 1000 / done };
}
