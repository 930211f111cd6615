/**
 * Makes the report on one pool of what was counted.
 *
 * @module
 */

import type { Decision, ShadowReport } from "../contract/decision.ts";
import { thousandths } from "../base/format.ts";
import type { LaneMeter, PoolMeter } from "./meter.ts";
import type { Durations, Quantiles } from "./quantiles.ts";
import type { ScenarioPool } from "./read_scenario.ts";
import type { PoolSettings } from "../config/settings.ts";
import type { PoolHandle } from "../runtime/handles.ts";
import type { FailingStrategy, InProcess, LaneReport, PoolReport } from "./report.ts";

/** The pool in one process. */
export interface InOne {
  /** What may be asked of it. */
  readonly handle: PoolHandle;
  /** False if the process was killed. */
  readonly alive: boolean;
  /** Strategies that failed in it. */
  readonly failing: readonly FailingStrategy[];
}

/** What a report on one pool is made from. */
export interface PoolResult {
  /** What was played. */
  readonly pool: ScenarioPool;
  /** What was counted. */
  readonly meter: PoolMeter;
  /** The pool in each process, in order of their starts, dead ones too. */
  readonly processes: readonly InOne[];
  /** When the scenario began, ms since epoch. */
  readonly startMs: number;
  /** When it ended, ms since it began. */
  readonly endMs: number;
  /** How long jobs arrived, ms. */
  readonly durationMs: number;
}

/** Reports on one pool. */
export function poolReport(result: PoolResult): PoolReport {
  const { pool, meter, processes, startMs, endMs, durationMs } = result;
  const { workers } = meter;
  const failing = ofAll(processes, (one) => one.failing.filter(isLive(pool.settings)));
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
      mean: thousandths(endMs > 0 ? workerMs / endMs : workers.count),
      workerSeconds: thousandths(workerMs / 1000),
      timeline: workers.timeline.map(([atMs, count]) => [thousandths(atMs), count]),
    },
    scaleEvents: processes.reduce((sum, { handle }) => sum + handle.snapshot().scaleEvents, 0),
    reversals: processes.reduce((sum, { handle }) => sum + handle.snapshot().reversals, 0),
    decisions: ofAll(processes, ({ handle }) => handle.explain(Infinity).map(since(startMs)))
      .toSorted((a, b) => a.atMs - b.atMs),
    diagnosis: ofAll(processes, ({ handle, alive }) => alive ? handle.diagnosis() : []),
    ...failing.length === 0 ? {} : { failing },
    ...pool.settings.shadow === undefined ? {} : { shadow: ofAll(processes, shadowOf) },
    series: meter.series.report(pool.settings.lanes),
  };
}

/** A candidate that fails is reported with its counts. */
function isLive({ shadow }: PoolSettings): (failing: FailingStrategy) => boolean {
  return ({ plugin }) => shadow === undefined || plugin !== `shadow ${shadow.name}`;
}

function shadowOf({ handle, alive }: InOne): readonly ShadowReport[] {
  const { shadow } = handle.snapshot();
  return alive && shadow !== undefined ? [shadow] : [];
}

function laneReport(meter: LaneMeter, durationMs: number): LaneReport {
  const { arrived, started, done, dead, shed } = meter;
  return {
    arrived,
    started,
    done,
    dead,
    shed,
    left: arrived - done - dead - shed,
    perSec: thousandths(durationMs > 0 ? done * 1000 / durationMs : 0),
    waitMs: quantilesOf(meter.waits),
    sojournMs: quantilesOf(meter.sojourns),
  };
}

function quantilesOf(durations: Durations): Quantiles | null {
  const quantiles = durations.quantiles();
  if (quantiles === undefined) return null;
  const { p50, p95, p99, max } = quantiles;
  return {
    p50: thousandths(p50),
    p95: thousandths(p95),
    p99: thousandths(p99),
    max: thousandths(max),
  };
}

/** What each process says, with its number if there are several. */
function ofAll<T extends object>(
  processes: readonly InOne[],
  read: (process: InOne) => readonly T[],
): readonly InProcess<T>[] {
  return processes.flatMap((one, process) =>
    processes.length === 1 ? read(one) : read(one).map((each) => ({ process, ...each }))
  );
}

/** A decision with its times since the beginning. */
function since(startMs: number): (decision: Decision) => Decision {
  return (decision) => ({
    ...decision,
    atMs: thousandths(decision.atMs - startMs),
    untilMs: thousandths(decision.untilMs - startMs),
    inputs: { ...decision.inputs, oldestWaitMs: thousandths(decision.inputs.oldestWaitMs) },
  });
}
