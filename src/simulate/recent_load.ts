/**
 * Makes a scenario of what came to a running pool in the last minutes: as many jobs in each second as
 * came then, at random within it, with run times as uneven as those were.
 *
 * @module
 */

import type { LaneLoadRecord, LoadRecord } from "../planning/load_record.ts";
import { randomStream } from "../base/random.ts";
import { durations } from "./chance.ts";
import type { LaneLoad, RecordedAttempt, RecordedRuns, ScenarioInput } from "./scenario.ts";

/** Seconds whose run times are one distribution: one second alone has too few. */
const SPAN = 30;

/** Failures of one job in a row. */
const MOST_FAILURES = 4;

/** A scenario of the recent load of one pool. The same load and seed give the same scenario. */
export function scenarioOf(pool: string, load: LoadRecord, seed = 1): ScenarioInput {
  const lanes = load.lanes.map((lane) => [lane.name, laneLoad(lane, load.everyMs, seed)] as const);
  const seconds = load.lanes[0]?.offered.length ?? 0;
  return {
    name: `recent load of ${pool}`,
    seed,
    durationMs: seconds * load.everyMs,
    pools: { [pool]: { lanes: Object.fromEntries(lanes) } },
  };
}

function laneLoad(lane: LaneLoadRecord, everyMs: number, seed: number): LaneLoad {
  const random = randomStream(seed, `recent load of ${lane.name}`);
  const drawOf = runTimes(lane, random);
  const failRate = sum(lane.failures) / Math.max(1, sum(lane.timed));
  const runs: RecordedRuns["runs"][number][] = [];
  const addRun = (second: number): void => {
    const draw = drawOf(second);
    const attempts: RecordedAttempt[] = [];
    while (attempts.length < MOST_FAILURES && random() < failRate) {
      attempts.push({ failedMs: draw() });
    }
    runs.push(attempts.length === 0 ? draw() : [...attempts, draw()]);
  };
  const atMs: number[] = [];
  for (let job = 0; job < lane.waiting; job++) addRun(0);
  for (const [second, count] of lane.offered.entries()) {
    const within = Array.from({ length: Math.max(0, count) }, () => (second + random()) * everyMs);
    for (const ms of within.sort((a, b) => a - b)) {
      atMs.push(Math.round(ms));
      addRun(second);
    }
  }
  return {
    backlog: lane.waiting,
    arrivals: { kind: "trace", atMs },
    serviceMs: runs.length === 0 ? { kind: "fixed", ms: 0 } : { kind: "trace", runs },
  };
}

/** Draws run times as they were around a second, or as all were where none ended then. */
function runTimes(
  lane: LaneLoadRecord,
  random: () => number,
): (second: number) => () => number {
  const spans = new Map<number, (() => number) | undefined>();
  const all = drawIn(lane, [0, lane.timed.length], random) ?? (() => 0);
  return (second) => {
    const span = Math.floor(second / SPAN);
    if (!spans.has(span)) {
      spans.set(span, drawIn(lane, [span * SPAN, (span + 1) * SPAN], random));
    }
    return spans.get(span) ?? all;
  };
}

/** Of a lognormal distribution: its mean and the mean of its logarithm are sigma² / 2 apart. */
function drawIn(
  lane: LaneLoadRecord,
  [from, to]: readonly [number, number],
  random: () => number,
): (() => number) | undefined {
  const of = (series: readonly number[]): number => sum(series.slice(from, to));
  const count = of(lane.timed);
  const ms = of(lane.timedMs) / count;
  if (count === 0 || ms === 0) return undefined;
  const variance = Math.max(0, 2 * (Math.log(ms) - of(lane.timedLog) / count));
  const draw = durations({ kind: "lognormal", ms, cv: Math.sqrt(Math.expm1(variance)) }, random);
  return () => Number(draw().toFixed(2));
}

function sum(series: readonly number[]): number {
  return series.reduce((total, figure) => total + figure, 0);
}
