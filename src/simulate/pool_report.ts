/**
 * Makes the report on one pool of what was counted.
 *
 * @module
 */

import type { Decision } from "../decision.ts";
import type { LaneMeter, PoolMeter } from "./meter.ts";
import type { Durations, Quantiles } from "./quantiles.ts";
import type { Pool } from "./read_scenario.ts";
import type { LaneReport, PoolReport, SimulatedDecision } from "./report.ts";

/** What a report on one pool is made from. */
export interface PoolResult {
  /** What was played. */
  readonly pool: Pool;
  /** What was counted. */
  readonly meter: PoolMeter;
  /** Decisions by process, each oldest first. */
  readonly decisions: readonly (readonly Decision[])[];
  /** When the scenario began, ms since epoch. */
  readonly startMs: number;
  /** When it ended, ms since it began. */
  readonly endMs: number;
  /** How long jobs arrived, ms. */
  readonly durationMs: number;
}

/** Reports on one pool. */
export function poolReport(result: PoolResult): PoolReport {
  const { pool, meter, decisions, startMs, endMs, durationMs } = result;
  const { workers } = meter;
  const lanes = pool.settings.lanes.map(({ name }) =>
    [name, laneReport(meter.lane(name), durationMs)] as const
  );
  const workerMs = workers.workerMs(endMs);
  return {
    lanes: Object.fromEntries(lanes),
    workers: {
      min: workers.min,
      peak: workers.peak,
      final: workers.count,
      mean: round(endMs > 0 ? workerMs / endMs : workers.count),
      workerSeconds: round(workerMs / 1000),
      timeline: workers.timeline.map(([atMs, count]) => [round(atMs), count]),
    },
    ...meter.scaling(),
    decisions: inOrder(decisions, startMs),
  };
}

function laneReport(meter: LaneMeter, durationMs: number): LaneReport {
  const { arrived, started, done, failed, shed } = meter;
  return {
    arrived,
    started,
    done,
    failed,
    shed,
    left: arrived - done - failed - shed,
    perSec: round(durationMs > 0 ? done * 1000 / durationMs : 0),
    waitMs: quantilesOf(meter.waits),
    sojournMs: quantilesOf(meter.sojourns),
  };
}

function quantilesOf(durations: Durations): Quantiles | null {
  const quantiles = durations.quantiles();
  if (quantiles === undefined) return null;
  const { p50, p95, p99, max } = quantiles;
  return { p50: round(p50), p95: round(p95), p99: round(p99), max: round(max) };
}

function inOrder(
  byProcess: readonly (readonly Decision[])[],
  startMs: number,
): readonly SimulatedDecision[] {
  const several = byProcess.length > 1;
  const all = byProcess.flatMap((decisions, process) =>
    decisions.map((decision): SimulatedDecision => ({
      ...(several ? { process } : {}),
      ...decision,
      atMs: round(decision.atMs - startMs),
      untilMs: round(decision.untilMs - startMs),
      inputs: { ...decision.inputs, oldestWaitMs: round(decision.inputs.oldestWaitMs) },
    }))
  );
  return all.sort((a, b) => a.atMs - b.atMs);
}

/** Times since epoch have no more digits than these. */
function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
