/**
 * Metrics in Prometheus' text format, from snapshots.
 *
 * @module
 */

import { type Finding, FINDING_CODES } from "../diagnose.ts";
import type { PoolSnapshot } from "../sluice.ts";
import type { LaneView, Totals, WorkerState } from "../view.ts";

/** Content type of the format. */
export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** What the metrics of one pool are read from. */
export interface PoolReading extends PoolSnapshot {
  /** What its recent past shows to be amiss. */
  readonly diagnosis: readonly Finding[];
}

type Labels = Readonly<Record<string, string>>;
type Reading = readonly [labels: Labels, value: number];

interface Metric {
  readonly name: string;
  readonly kind: "gauge" | "counter";
  readonly help: string;
  readonly read: (pool: PoolReading) => readonly Reading[];
}

const WORKER_STATES: readonly WorkerState[] = ["starting", "idle", "busy", "retiring", "stuck"];

const METRICS: readonly Metric[] = [
  {
    name: "sluice_pool_workers",
    kind: "gauge",
    help: "Workers by what they are doing.",
    read: (pool) =>
      WORKER_STATES.map((state) => [
        { pool: pool.pool, state },
        pool.workers.filter((worker) => worker.state === state).length,
      ]),
  },
  ofPool("target", "Workers that the last decision asked for.", (pool) => pool.target),
  ofPool("limit", "Tightest bound of the last decision.", (pool) => pool.limit),
  ofPool("size_min", "Fewest workers allowed.", (pool) => pool.size.min),
  ofPool("size_max", "Most workers allowed.", (pool) => pool.size.max),
  ofPool("peers", "Live processes that share the store.", (pool) => pool.peers),
  ofPool("rate_bound", "1 while a start rate holds ready jobs back.", (pool) => +pool.rateBound),
  ofPool("paused", "1 while the whole pool is paused.", (pool) => +pool.paused),
  ofPool("draining", "1 after a drain began.", (pool) => +pool.draining),
  ofPool(
    "degraded",
    "1 while a strategy fails and its last answer stands.",
    (pool) => +pool.degraded,
  ),
  ofPool("stale", "1 while the store cannot be read.", (pool) => +pool.stale),
  ofPool("overridden", "1 while an override holds.", (pool) => +(pool.override !== undefined)),
  {
    name: "sluice_pool_diagnosis",
    kind: "gauge",
    help: "1 while the recent past of the pool shows this finding.",
    read: (pool) =>
      FINDING_CODES.map((code) => [
        { pool: pool.pool, code },
        +pool.diagnosis.some((finding) => finding.code === code),
      ]),
  },
  ofScale("scale_events_total", "Changes of the target.", (pool) => pool.scaleEvents),
  ofScale(
    "scale_reversals_total",
    "Changes of the target that turned back.",
    (pool) => pool.reversals,
  ),
  counter("jobs_accepted_total", "Jobs accepted.", (totals) => totals.arrivals),
  counter("jobs_started_total", "Attempts started.", (totals) => totals.starts),
  counter("jobs_done_total", "Attempts that ended done.", (totals) => totals.completions),
  counter("jobs_failed_total", "Attempts that failed.", (totals) => totals.failures),
  counter(
    "jobs_deferred_total",
    "Attempts put off by their handler.",
    (totals) => totals.deferrals,
  ),
  counter("jobs_shed_total", "Jobs turned away or dropped as late.", (totals) => totals.shed),
  counter("overloads_total", "Overloads that handlers reported.", (totals) => totals.overloads),
  counter(
    "job_run_seconds_total",
    "Run time of ended attempts.",
    (totals) => totals.serviceMs / 1_000,
  ),
  counter(
    "worker_busy_seconds_total",
    "Time that workers were busy.",
    (totals) => totals.busyMs / 1_000,
  ),
  ofLane("ready", "gauge", "Claimable jobs.", (lane) => lane.ready),
  ofLane("blocked", "gauge", "Due jobs held by a pause or a key limit.", (lane) => lane.blocked),
  ofLane("delayed", "gauge", "Jobs due later.", (lane) => lane.delayed),
  ofLane("running", "gauge", "Jobs running in this process.", (lane) => lane.running),
  ofLane("paused", "gauge", "1 while the lane or its pool is paused.", (lane) => +lane.paused),
  ofLane(
    "oldest_wait_seconds",
    "gauge",
    "Age of the oldest claimable job.",
    (lane) => lane.oldestWaitMs / 1_000,
  ),
  ofLane(
    "target_wait_seconds",
    "gauge",
    "Wait that growth aims to stay below.",
    (lane) => lane.targetWaitMs === null ? undefined : lane.targetWaitMs / 1_000,
  ),
  ofLane("arrivals_per_second", "gauge", "Smoothed arrival rate.", (lane) => lane.arrivalsPerSec),
  ofLane(
    "served_seconds_total",
    "counter",
    "Worker time spent on the lane.",
    (lane) => lane.servedMs / 1_000,
  ),
];

/** Renders all metrics of all pools. */
export function renderMetrics(pools: readonly PoolReading[]): string {
  const lines: string[] = [];
  for (const metric of METRICS) {
    lines.push(`# HELP ${metric.name} ${metric.help}`, `# TYPE ${metric.name} ${metric.kind}`);
    for (const pool of pools) {
      for (const [labels, value] of metric.read(pool)) {
        lines.push(`${metric.name}{${renderLabels(labels)}} ${renderValue(value)}`);
      }
    }
  }
  return `${lines.join("\n")}\n`;
}

function ofPool(name: string, help: string, read: (pool: PoolSnapshot) => number): Metric {
  return {
    name: `sluice_pool_${name}`,
    kind: "gauge",
    help,
    read: (pool) => [[{ pool: pool.pool }, read(pool)]],
  };
}

function ofScale(name: string, help: string, read: (pool: PoolSnapshot) => number): Metric {
  return { ...ofPool(name, help, read), name: `sluice_${name}`, kind: "counter" };
}

function counter(name: string, help: string, read: (totals: Totals) => number): Metric {
  return {
    name: `sluice_${name}`,
    kind: "counter",
    help,
    read: (pool) => [[{ pool: pool.pool }, read(pool.totals)]],
  };
}

function ofLane(
  name: string,
  kind: Metric["kind"],
  help: string,
  read: (lane: LaneView) => number | undefined,
): Metric {
  return {
    name: `sluice_lane_${name}`,
    kind,
    help,
    read: (pool) =>
      pool.lanes.flatMap((lane): readonly Reading[] => {
        const value = read(lane);
        return value === undefined ? [] : [[{ pool: pool.pool, lane: lane.name }, value]];
      }),
  };
}

function renderLabels(labels: Labels): string {
  return Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`).join(",");
}

function escapeLabel(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function renderValue(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (value === Infinity) return "+Inf";
  return value === -Infinity ? "-Inf" : String(value);
}
