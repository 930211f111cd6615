/**
 * Plays set-ups that were drawn and judges what is found first.
 *
 * @module
 */

import type { Finding } from "../../src/explain/diagnose.ts";
import { type PoolReport, simulate } from "../../src/simulate/mod.ts";
import { type Cause, CAUSES, type Draw, failingOf, soundOf } from "./draw.ts";

/** What came of one set-up. */
export interface Outcome {
  /** What was planted. `undefined`: nothing. */
  readonly cause: Cause | undefined;
  /** What was drawn. */
  readonly draw: Draw;
  /** What was found first. `undefined`: nothing. */
  readonly first: Finding | undefined;
  /** All that was found. */
  readonly found: readonly Finding[];
  /** True: nothing if nothing was planted, else the cause, the lane and the setting. */
  readonly isRight: boolean;
}

/** Set-ups by chance turn out other than meant now and then: this many at most are drawn in place of one. */
const TRIES = 20;

/** Share of late and rejected jobs from which a lane is hurt, and below which it is well. */
const HURT = 0.05;
const WELL = 0.02;

/** Share of jobs that have not ended at the end from which they are left. */
const LEFT = 0.25;

/** A worker count that turns back more often swings. */
const TURNS_A_MINUTE = 2;

/** Causes that need not make a job start late. */
const OTHERWISE: readonly Cause[] = ["failing handler", "slower downstream"];

/** Draws and plays set-ups with causes planted, one after the other. */
export async function* failing(draws: number, seed: number): AsyncIterable<Outcome> {
  for (let number = 0; number < draws; number++) {
    const cause = CAUSES[number % CAUSES.length]!;
    yield await outcomeOf((attempt) => failingOf(cause, seed, number + attempt / TRIES), cause);
  }
}

/** Draws and plays sound set-ups. */
export async function* sound(draws: number, seed: number): AsyncIterable<Outcome> {
  for (let number = 0; number < draws; number++) {
    yield await outcomeOf((attempt) => soundOf(seed, number + attempt / TRIES), undefined);
  }
}

/** By the simulator's own count, what was planted hurts, or nothing does and nothing swings: else another is drawn. */
async function outcomeOf(
  draw: (attempt: number) => Draw,
  cause: Cause | undefined,
): Promise<Outcome> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const drawn = draw(attempt);
    const { pools } = await simulate({ pools: { pool: drawn.pool } }, drawn.scenario);
    const report = pools["pool"]!;
    const hurt = hurtIn(report, drawn, HURT);
    const isMeant = cause === undefined
      ? hurtIn(report, drawn, WELL).length === 0 && isSteady(report, drawn)
      : OTHERWISE.includes(cause) || hurt.length > 0 || isLeftIn(report, drawn);
    if (!isMeant) continue;
    const found = report.diagnosis;
    return { cause, draw: drawn, first: found[0], found, isRight: isRight(drawn, hurt, found[0]) };
  }
  throw new Error(`No set-up of ${cause ?? "none"} turns out as meant`);
}

function isRight({ expected }: Draw, hurt: readonly string[], first: Finding | undefined): boolean {
  if (expected === undefined || first === undefined) return expected === first;
  const { code, lane, setting } = first;
  const isLane = expected.lane === undefined
    ? lane === undefined || hurt.includes(lane)
    : lane === expected.lane;
  return expected.codes.includes(code) && isLane && setting === expected.setting;
}

/** Lanes of which this share of the jobs was late or rejected. */
function hurtIn({ lanes }: PoolReport, { pool }: Draw, share: number): readonly string[] {
  return pool.lanes.filter(({ name, targetWaitMs = 100 }) => {
    const { waitMs, shed, arrived, started } = lanes[name]!;
    if (shed >= share * arrived) return true;
    const tail = share < HURT ? waitMs?.p99 : waitMs?.p95;
    return targetWaitMs !== null && started > 0 && (tail ?? 0) > targetWaitMs;
  }).map(({ name }) => name);
}

/** True if what was planted leaves a lane ever more jobs that do not start: of a key, or without a target. */
function isLeftIn({ lanes }: PoolReport, { expected }: Draw): boolean {
  const lane = lanes[expected?.lane ?? ""];
  return lane !== undefined && lane.left > LEFT * lane.arrived;
}

/** True if the worker count turns back as seldom as it may at a steady load. */
function isSteady({ reversals }: PoolReport, { scenario: { durationMs } }: Draw): boolean {
  return reversals <= TURNS_A_MINUTE * durationMs / 60_000;
}

/** What was expected of a set-up and what was found, for people. */
export function lineOf({ cause, draw: { text, expected }, found }: Outcome): string {
  const wanted = expected === undefined
    ? "nothing"
    : `${expected.codes.join("/")} ${expected.lane ?? ""} ${expected.setting}`;
  const seen = found.map(({ code, lane, setting, saw }) =>
    `\n    ${code} ${lane ?? ""} ${setting ?? ""}: ${saw}`
  );
  return `${cause ?? "sound"}: ${text}\n  expected ${wanted}, found${seen.join("") || " nothing"}`;
}
