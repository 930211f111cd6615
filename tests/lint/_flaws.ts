/**
 * What a flaw of a config is, and the lanes that the tables of flaws are made of.
 *
 * @module
 */

import type { ConcernCode, Platform, Severity } from "../../src/lint/mod.ts";
import type { Given } from "./_configs.ts";

/** One lane. */
export type Lane = NonNullable<NonNullable<Given["pool"]>["lanes"]>[number];

/** A config with one known flaw. */
export interface Flaw {
  readonly code: ConcernCode;
  readonly severity: Severity;
  readonly pointer: string;
  readonly given: Given;
  /** The same with the change that the concern asks for. */
  readonly mended: Given;
  readonly platform?: Platform;
  readonly numbers: Readonly<Record<string, number>>;
  readonly change: RegExp;
}

/** The lanes of the lanes experiment: urgent jobs of 20 ms beside batch jobs of 200 ms, on ten workers. */
export const SEED_LANES = [
  { name: "urgent", targetWaitMs: 50, expect: { perSec: 30, serviceMs: 20 } },
  {
    name: "batch",
    targetWaitMs: null,
    startWithinMs: 600_000,
    expect: { perSec: 45, serviceMs: 200 },
  },
] as const;

/** The spike of the autoscaling experiment. */
export const SPIKE = [{ name: "jobs", expect: { perSec: 800, serviceMs: 20 } }] as const;

/** Ten times the spike. */
export const FLOOD = [{ name: "jobs", expect: { perSec: 8000, serviceMs: 20 } }] as const;

/** The lanes of the lanes experiment with this many attempts. */
export function attemptsOf(attempts: number): readonly Lane[] {
  return SEED_LANES.map((lane) => ({ ...lane, attempts }));
}

/** A pool with a reserve for short jobs beside long ones. */
export function reserveOf(urgent: number, perSec: number): NonNullable<Given["pool"]> {
  return {
    size: { min: 20, max: 20 },
    lanes: [
      { name: "urgent", targetWaitMs: 20, attempts: 1, expect: { perSec, serviceMs: 20 } },
      { name: "batch", targetWaitMs: null, attempts: 1, expect: { perSec: 7.5, serviceMs: 2000 } },
    ],
    lanePolicy: { use: "reserved-lane", with: { reserve: { urgent } } },
    drainMs: 30_000,
  };
}

/** Few batch jobs without a target below urgent ones, and room to grow. */
export function filled(lanePolicy: NonNullable<Given["pool"]>["lanePolicy"]): Given {
  return {
    pool: {
      size: { min: 2, max: 40 },
      lanes: [
        { name: "urgent", expect: { perSec: 30, serviceMs: 20 } },
        { name: "batch", targetWaitMs: null, expect: { perSec: 1, serviceMs: 200 } },
      ],
      lanePolicy,
    },
  };
}

/** Eight workers busy with jobs that nobody waits for. */
export const RARE = { name: "batch", expect: { perSec: 2, serviceMs: 4000 } } as const;

/** A lane whose jobs keep `workers` busy and may wait long. */
export function load(workers: number, serviceMs: number): Lane {
  return {
    name: "x",
    targetWaitMs: 60_000,
    expect: { perSec: workers * 1000 / serviceMs, serviceMs },
  };
}

/** A lane of few jobs that run so long and may wait long. */
export function run(serviceMs: number): Lane {
  return { name: "x", targetWaitMs: 60_000, expect: { perSec: 0.5, serviceMs } };
}
