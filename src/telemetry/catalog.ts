/**
 * What is measured of pools: names as Prometheus has them, and how each is read. Labels hold only what a
 * config names and lists of the code, so their number is bounded by the config.
 *
 * @module
 */

import { type Finding, FINDING_CODES } from "../explain/diagnose.ts";
import type { DeadReason } from "../contract/job.ts";
import type { PoolHandle, PoolSnapshot } from "../runtime/handles.ts";
import type { Distribution, LaneCounters } from "../planning/lane_counters.ts";
import type { LaneView, Totals, WorkerState } from "../contract/view.ts";

/** What the metrics of one pool are read from. */
export interface PoolReading extends PoolSnapshot {
  /** What its recent past shows to be wrong. */
  readonly diagnosis: readonly Finding[];
  /** What has come of the jobs of each lane. */
  readonly tally: readonly LaneCounters[];
  /** Its jobs by state. */
  readonly jobs: ReturnType<PoolHandle["counts"]>;
}

/** Labels of one sample, by name. */
export type Labels = Readonly<Record<string, string>>;

/** One sample. */
export type MetricReading<Value = number> = readonly [labels: Labels, value: Value];

/** A figure of a pool. */
export interface Metric {
  /** Full name; ends in `_total` if it only grows, and in its unit before that. */
  readonly name: string;
  /** Whether it only grows. */
  readonly kind: "gauge" | "counter";
  /** What it says. */
  readonly help: string;
  /** Reads its samples. */
  readonly read: (pool: PoolReading) => readonly MetricReading[];
}

/** Durations by lane. */
export interface DurationMetric {
  /** Full name. */
  readonly name: string;
  /** What it says. */
  readonly help: string;
  /** Reads what there is of one lane, by labels beside those of the pool and the lane. */
  readonly read: (lane: LaneCounters) => readonly MetricReading<Distribution>[];
}

/** Reads a pool once for all metrics. */
export function readPool(pool: PoolHandle): PoolReading {
  const [diagnosis, tally, jobs] = [pool.diagnosis(), pool.tally(), pool.counts()];
  return { ...pool.snapshot(), diagnosis, tally, jobs };
}

const WORKER_STATES: readonly WorkerState[] = ["starting", "idle", "busy", "retiring", "stuck"];

const DEAD_REASONS: readonly DeadReason[] = ["attempts", "fatal", "expired", "late", "payload"];

/** All durations. */
export const DURATIONS: readonly DurationMetric[] = [
  {
    name: "sluice_job_wait_seconds",
    help: "From due to started, of every attempt; blocked: whether its key held it back meanwhile.",
    read: ({ waits, blockedWaits }) => [
      [{ blocked: "false" }, waits],
      ...blockedWaits === undefined ? [] : [[{ blocked: "true" }, blockedWaits] as const],
    ],
  },
  {
    name: "sluice_job_duration_seconds",
    help: "Run time of attempts that ended done or failed.",
    read: (lane) => [[{}, lane.runs]],
  },
];

/** All figures. */
export const METRICS: readonly Metric[] = [
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
  ofPool(
    "rate_bound",
    "1 while a start rate or a cool-down holds ready jobs back.",
    (pool) => +pool.rateBound,
  ),
  ofPool(
    "cooling_down",
    'From when the receiver said "not now" until it took a job again: 1.',
    (pool) => +(pool.holdUntilMs > 0),
  ),
  ofPool("open_keys", "Keys whose circuit breaker is not closed.", (pool) => pool.openKeys),
  ofPool("paused", "1 while the whole pool is paused.", (pool) => +pool.paused),
  ofPool("draining", "1 after a drain began.", (pool) => +pool.draining),
  ofPool(
    "degraded",
    "1 while a strategy fails and its last answer stays in use.",
    (pool) => +pool.degraded,
  ),
  ofPool("stale", "1 while the store cannot be read.", (pool) => +pool.stale),
  ofPool("overridden", "1 while an override is active.", (pool) => +(pool.override !== undefined)),
  {
    name: "sluice_pool_dead_letters",
    kind: "gauge",
    help: "Dead jobs that are kept.",
    read: ({ pool, jobs: { dead } }) => dead === undefined ? [] : [[{ pool }, dead]],
  },
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
  ofJobs("accepted", "Jobs accepted.", (lane) => lane.accepted),
  ofJobs(
    "started",
    "Attempts started.",
    (lane) => lane.waits.count + (lane.blockedWaits?.count ?? 0),
  ),
  ofJobs("late", "Attempts started later than the target wait.", (lane) => lane.late),
  ofJobs("done", "Attempts that ended done.", (lane) => lane.done),
  ofJobs("failed", "Attempts that failed.", (lane) => lane.failed),
  ofJobs("deferred", "Attempts deferred by their handler.", (lane) => lane.deferred),
  ofJobs("cancelled", "Jobs that ended as cancelled.", (lane) => lane.cancelled),
  ofJobs("shed", "Jobs rejected, or dropped as late.", (lane) => lane.shed),
  {
    name: "sluice_jobs_dead_total",
    kind: "counter",
    help: "Jobs that died.",
    read: (pool) =>
      pool.tally.flatMap(({ lane, dead }) =>
        DEAD_REASONS.map((
          reason,
        ): MetricReading => [{ pool: pool.pool, lane, reason }, dead[reason]])
      ),
  },
  {
    ...ofPool("reaped", "Jobs taken back from processes that had died.", (pool) => pool.reaped),
    name: "sluice_jobs_reaped_total",
    kind: "counter",
  },
  counter("overloads_total", "Overloads that handlers reported.", (totals) => totals.overloads),
  counter(
    "worker_busy_seconds_total",
    "Time that workers were busy.",
    (totals) => totals.busyMs / 1_000,
  ),
  ofLane(
    "ready",
    "gauge",
    "Jobs that may start now, in a paused lane once it is resumed.",
    (lane) => lane.ready,
  ),
  ofLane(
    "blocked",
    "gauge",
    "Due jobs that wait for a job of their key.",
    (lane) => lane.blocked,
  ),
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
    "oldest_blocked_seconds",
    "gauge",
    "Time since the oldest blocked job was due.",
    (lane) => lane.oldestBlockedMs / 1_000,
  ),
  ofLane(
    "target_wait_seconds",
    "gauge",
    "Wait that growth aims to stay below.",
    (lane) => lane.targetWaitMs === null ? undefined : lane.targetWaitMs / 1_000,
  ),
  ofLane(
    "arrivals_per_second",
    "gauge",
    "Jobs accepted per second, over 10 s.",
    (lane) => lane.window.arrivalsPerSec,
  ),
  ofLane(
    "served_seconds_total",
    "counter",
    "Worker time spent on the lane.",
    (lane) => lane.servedMs / 1_000,
  ),
];

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

function ofJobs(name: string, help: string, read: (lane: LaneCounters) => number): Metric {
  return {
    name: `sluice_jobs_${name}_total`,
    kind: "counter",
    help,
    read: (pool) => pool.tally.map((lane) => [{ pool: pool.pool, lane: lane.lane }, read(lane)]),
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
      pool.lanes.flatMap((lane): readonly MetricReading[] => {
        const value = read(lane);
        return value === undefined ? [] : [[{ pool: pool.pool, lane: lane.name }, value]];
      }),
  };
}
