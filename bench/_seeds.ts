/**
 * What the published experiments (autoscaling, lanes) say, and where the scenario of each figure is.
 *
 * @module
 */

import type { LaneReport, PoolReport } from "../src/simulate/mod.ts";

/** One figure of a scenario. */
export interface Figure {
  /** What it is. */
  readonly name: string;
  /** Reads it. NaN: there is none. */
  readonly read: (pool: PoolReport) => number;
  /** What the experiment publishes. `undefined`: nothing. */
  readonly published?: number | undefined;
  /** Why ours is another, where it is. */
  readonly reason?: string | undefined;
}

/** One scenario below `tests/scenarios/`. */
export interface SeedScenario {
  /** What to call it. */
  readonly name: string;
  /** Its folder. */
  readonly folder: string;
  /** Plays it with Poisson arrivals instead of even ones. */
  readonly poisson: boolean;
  /** What is compared. */
  readonly figures: readonly Figure[];
}

const LOADER =
  "a loop that sleeps 1/800 s a job sends some 440 jobs/s: at those 18 is what it reaches";
const FEWER = "16 are what Little's law asks for";
const START = "set by the first jobs, which all begin at once";
const EVEN = "the published figure holds for even arrivals only";

function autoscaling(arrivals: "even" | "poisson", rule: "step" | "deadline"): SeedScenario {
  const isSeed = rule === "step";
  return {
    name: `50, 800, 50 jobs/s, ${arrivals}, ${isSeed ? "the published rule" : "the default"}`,
    folder: `autoscaling_${arrivals}_${rule}`,
    poisson: false,
    figures: [
      { name: "workers before and after", read: ({ workers }) => workers.min, published: 2 },
      {
        name: "peak workers",
        read: ({ workers }) => workers.peak,
        published: 18,
        reason: isSeed ? LOADER : FEWER,
      },
      { name: "longest wait, ms", read: ({ lanes }) => lanes["jobs"]?.waitMs?.max ?? NaN },
      { name: "p99 of waits, ms", read: ({ lanes }) => lanes["jobs"]?.waitMs?.p99 ?? NaN },
      { name: "reversals", read: ({ reversals }) => reversals },
    ],
  };
}

type Published = readonly [
  p50: number | undefined,
  p99: number | undefined,
  done: number,
  batch: number,
];

function lanes(
  policy: string,
  perSec: 30 | 150,
  [p50, p99, done, batch]: Published,
  poisson = false,
): SeedScenario {
  const urgent =
    (read: (lane: LaneReport) => number | undefined) => ({ lanes }: PoolReport): number =>
      lanes["urgent"] === undefined ? NaN : read(lanes["urgent"]) ?? NaN;
  const reason = poisson ? EVEN : undefined;
  return {
    name: `lanes, ${policy}, ${perSec}/s urgent, ${poisson ? "poisson" : "even"}`,
    folder: `lanes_${policy}_${perSec}`,
    poisson,
    figures: [
      {
        name: "urgent p50, ms",
        read: urgent(({ sojournMs }) => sojournMs?.p50),
        published: p50,
        reason,
      },
      {
        name: "urgent p99, ms",
        read: urgent(({ sojournMs }) => sojournMs?.p99),
        published: p99,
        reason: reason ?? START,
      },
      { name: "urgent done", read: urgent((lane) => lane.done), published: done, reason },
      {
        name: "batch jobs/s",
        read: ({ lanes }) => lanes["batch"]?.perSec ?? NaN,
        published: batch,
        reason,
      },
    ],
  };
}

const LANES = [
  ["fifo", 30, [undefined, undefined, 0, 52.6]],
  ["fifo", 150, [undefined, undefined, 0, 53.6]],
  ["strict", 30, [32.4, 104, 240, 48.1]],
  ["strict", 150, [24.4, 129.5, 1200, 37.4]],
  ["dedicated", 30, [20.2, 21.4, 240, 41.5]],
  ["dedicated", 150, [1487, 2924, 832, 42.5]],
  ["reserved", 30, [20.2, 21.4, 240, 41.2]],
  ["reserved", 150, [22.5, 54, 1200, 35.4]],
] as const;

/** All scenarios of both seeds. */
export const seedScenarios: readonly SeedScenario[] = [
  autoscaling("even", "step"),
  autoscaling("poisson", "step"),
  autoscaling("even", "deadline"),
  autoscaling("poisson", "deadline"),
  ...LANES.map(([policy, perSec, published]) => lanes(policy, perSec, published)),
  ...LANES.map(([policy, perSec, published]) => lanes(policy, perSec, published, true)),
];
