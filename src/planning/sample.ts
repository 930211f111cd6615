/**
 * One sample of a pool: what is there at a time, and what happened since the one before it: how much
 * by the difference of their counts, and the extremes in between. Nothing falls between two samples.
 *
 * @module
 */

import type { LaneExtremes, LiveMeter } from "./extremes.ts";
import type { HeldLane, HeldPool, HoldTimes } from "./hold_times.ts";
import { type Plan, waitsFor } from "./planner.ts";
import type { ScaleEvents } from "./scale_events.ts";
import type { DownstreamUse, PoolView } from "../contract/view.ts";

/** One lane up to one time. Counts run since the pool began; extremes are those since the sample before. */
export interface LaneSample {
  /** Name from the config. */
  readonly name: string;
  /** Wait that growth aims to stay below, ms. `null`: none. */
  readonly targetWaitMs: number | null;
  /** Within how long growth aims to start what waits, ms. `undefined`: it does not. */
  readonly startWithinMs: number | undefined;
  /** Claimable jobs. */
  readonly ready: number;
  /** Jobs that run. */
  readonly running: number;
  /** Wait of the oldest claimable job, ms. */
  readonly oldestWaitMs: number;
  /** Longest wait of a claimable job: of those that have started, and of the oldest that waits still, ms. */
  readonly longestWaitMs: number;
  /** Most jobs that were ready at once. */
  readonly mostReady: number;
  /** Jobs accepted. */
  readonly arrivals: number;
  /** Attempts started. */
  readonly starts: number;
  /** Those that had been claimable for longer than the target wait. */
  readonly late: number;
  /** Sum of the waits of attempts that started, from due to started, ms. */
  readonly waitedMs: number;
  /** Attempts that ended done. */
  readonly completions: number;
  /** Attempts that failed. */
  readonly failures: number;
  /** Attempts that their handler deferred. */
  readonly deferrals: number;
  /** Jobs rejected, or dropped as late. */
  readonly shed: number;
  /** Worker time spent on the lane, ms. */
  readonly servedMs: number;
  /** 95th percentile of waits since they were claimable over the window, ms. 0: none started. */
  readonly waitP95Ms: number;
  /** 99th percentile of waits since they were claimable over the window, ms. 0: none started. */
  readonly waitP99Ms: number;
  /** Attempts that ended in the window and are remembered. */
  readonly ended: number;
  /** Mean run time over the window, ms. 0: none ended. */
  readonly serviceMs: number;
  /** 99th percentile of run times over the window, ms. 0: none ended. */
  readonly serviceP99Ms: number;
  /**
   * Workers that lower lanes left free or to this lane, while they had ready jobs: the fewest since the last
   * sample. `undefined`: they had none.
   */
  readonly kept: number | undefined;
  /** Jobs that may run at once. `null`: no bound. */
  readonly maxRunning: number | null;
  /** Jobs that are due and wait for others of their keys, or for the lane's own rate. */
  readonly blocked: number;
  /** For how long the oldest job that waits for others of its key has been due, ms. */
  readonly oldestBlockedMs: number;
  /**
   * For how long what has held its jobs that were due, ms: all workers busy and no more allowed
   * (`worker`) or asked for (`growth`), a start rate, the lane's `maxRunning`, others of their keys, the
   * lane policy while workers were idle, the store, a circuit breaker of the pool.
   */
  readonly held: Readonly<
    Record<
      "worker" | "growth" | "rate" | "lane" | "key" | "policy" | "store" | "receiver",
      number
    >
  >;
}

/** One pool up to one time. Counts run since the pool began; extremes are those since the sample before. */
export interface Sample {
  /** When it was taken. */
  readonly atMs: number;
  /** Workers that are neither starting, retiring nor stuck. */
  readonly live: number;
  /** Fewest of them. */
  readonly leastLive: number;
  /** Most of them. */
  readonly mostLive: number;
  /** Live workers that run a job. */
  readonly busy: number;
  /** Workers whose handler ignores its abort. */
  readonly stuck: number;
  /** Worker count of the decision in effect. */
  readonly target: number;
  /** The tightest bound: caps and `size.max`. */
  readonly limit: number;
  /** What sets `limit`, or the start rate while that binds: `size.max`, `cap:NAME`, `downstream:NAME` or `cooldown`. */
  readonly boundBy: string;
  /** Bounds of the worker count. */
  readonly size: { readonly min: number; readonly max: number };
  /** True while a start rate or a cool-down holds ready jobs back. */
  readonly rateBound: boolean;
  /** Most starts per second that the decision in effect allows. `null`: no bound. */
  readonly startsPerSec: number | null;
  /** How long the store takes to lease jobs, nearly the least of late, ms. 0: it does so at once. */
  readonly leaseMs: number;
  /** Ticks that had to wait for the event loop. */
  readonly loopBlocks: number;
  /** For how long they had to, ms. */
  readonly loopBlockedMs: number;
  /** While the pool cools down: until when nothing starts, ms since epoch. 0: it does not. */
  readonly holdUntilMs: number;
  /** The named downstream that it waits for, meanwhile. Empty: the receiver has no name, or it does not wait. */
  readonly heldBy: string;
  /** What its jobs have used of downstreams. Counts run since the pool began. */
  readonly used: readonly DownstreamUse[];
  /** Keys whose circuit breakers are not closed. */
  readonly openKeys: number;
  /** Changes of the target, those in one direction within 50 ms counted once. */
  readonly changes: number;
  /** Changes of the target in the other direction than the one before. */
  readonly reversals: number;
  /** Jobs accepted. */
  readonly arrivals: number;
  /** Attempts started. */
  readonly starts: number;
  /** Attempts that ended, in any way. */
  readonly ended: number;
  /** Jobs done. */
  readonly completions: number;
  /** Attempts that failed. */
  readonly failures: number;
  /** Attempts that their handler deferred. */
  readonly deferrals: number;
  /** Jobs rejected, or dropped as late. */
  readonly shed: number;
  /** Integral of the number of busy workers over time, ms. */
  readonly busyMs: number;
  /** Integral of the number of live workers over time, ms. */
  readonly liveMs: number;
  /** Its lanes, highest priority first. */
  readonly lanes: readonly LaneSample[];
}

/** What has come of the jobs of one lane in this process. */
export type LaneTotals = Pick<
  LaneSample,
  | "arrivals"
  | "starts"
  | "late"
  | "waitedMs"
  | "completions"
  | "failures"
  | "deferrals"
  | "shed"
  | "servedMs"
>;

/** A pool as it is measured: its view, and what happened since its last sample. */
export interface MeasuredPool extends HeldPool {
  /** Its lanes, highest priority first. */
  readonly lanes: readonly (HeldLane & LaneTotals & { readonly extremes: LaneExtremes })[];
  /** Its workers. */
  readonly workerTime: LiveMeter;
  /** How long the store takes to lease jobs, nearly the least of late, ms. */
  readonly leaseMs: number;
  /** Ticks that had to wait for the event loop. */
  readonly loopBlocks: number;
  /** For how long they had to, ms. */
  readonly loopBlockedMs: number;
}

/** Takes a sample of a pool. `kept` and `holds`: of each lane. Extremes start over. */
export function sampleOf(
  pool: MeasuredPool,
  plan: Plan,
  { scale, kept, holds }: {
    readonly scale: ScaleEvents;
    readonly kept: readonly (number | undefined)[];
    readonly holds: HoldTimes;
  },
): Sample {
  const { totals, workerTime } = pool;
  workerTime.look(pool.nowMs, pool.live);
  let stuck = 0;
  for (const worker of pool.workers) if (worker.state === "stuck") stuck++;
  const sample = {
    atMs: pool.nowMs,
    live: pool.live,
    leastLive: workerTime.least,
    mostLive: workerTime.most,
    busy: pool.busy,
    stuck,
    target: plan.target,
    limit: plan.limit,
    boundBy: binderOf(pool, plan),
    size: pool.size,
    rateBound: pool.rateBound,
    startsPerSec: bounded(pool.startsPerSec),
    leaseMs: pool.leaseMs,
    loopBlocks: pool.loopBlocks,
    loopBlockedMs: pool.loopBlockedMs,
    holdUntilMs: pool.holdUntilMs,
    heldBy: pool.heldBy,
    used: pool.used.map((use) => ({ ...use })),
    openKeys: pool.openKeys,
    changes: scale.count,
    reversals: scale.reversals,
    arrivals: totals.arrivals,
    starts: totals.starts,
    ended: totals.completions + totals.failures + totals.deferrals,
    completions: totals.completions,
    failures: totals.failures,
    deferrals: totals.deferrals,
    shed: totals.shed,
    busyMs: totals.busyMs,
    liveMs: workerTime.ms,
    lanes: pool.lanes.map((lane) => laneSample(lane, kept[lane.index], holds.of(lane.name))),
  };
  workerTime.clear();
  for (const { extremes } of pool.lanes) extremes.clear();
  return sample;
}

/** Two samples in a row as one. Counts run on, so the later has those of both. */
export function together(earlier: Sample, later: Sample): Sample {
  return {
    ...later,
    leastLive: Math.min(earlier.leastLive, later.leastLive),
    mostLive: Math.max(earlier.mostLive, later.mostLive),
    lanes: later.lanes.map((lane, index) => {
      const before = earlier.lanes[index]!; // they have the same lanes
      return {
        ...lane,
        longestWaitMs: Math.max(before.longestWaitMs, lane.longestWaitMs),
        mostReady: Math.max(before.mostReady, lane.mostReady),
        kept: fewer(before.kept, lane.kept),
      };
    }),
  };
}

function fewer(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? a ?? b : Math.min(a, b);
}

/** A pool that has rested since a sample, up to a time: nothing has happened. */
export function atRest(sample: Sample, atMs: number): Sample {
  const { live } = sample;
  return {
    ...sample,
    atMs,
    leastLive: live,
    mostLive: live,
    liveMs: sample.liveMs + live * (atMs - sample.atMs),
    lanes: sample.lanes.map((lane) => ({
      ...lane,
      ...NO_TRAFFIC,
      longestWaitMs: lane.oldestWaitMs,
      mostReady: lane.ready,
      kept: undefined,
    })),
  };
}

/** Figures of a window in which nothing happened. */
const NO_TRAFFIC = { waitP95Ms: 0, waitP99Ms: 0, ended: 0, serviceMs: 0, serviceP99Ms: 0 };

function laneSample(
  lane: MeasuredPool["lanes"][number],
  kept: number | undefined,
  held: LaneSample["held"],
): LaneSample {
  const { extremes, window: { readyWaitMs, serviceMs } } = lane;
  return {
    name: lane.name,
    targetWaitMs: lane.targetWaitMs,
    startWithinMs: lane.startWithinMs,
    ready: lane.ready,
    running: lane.running,
    oldestWaitMs: lane.oldestWaitMs,
    longestWaitMs: Math.max(extremes.longestWaitMs, lane.oldestWaitMs),
    mostReady: Math.max(extremes.mostReady, lane.ready),
    arrivals: lane.arrivals,
    starts: lane.starts,
    late: lane.late,
    waitedMs: lane.waitedMs,
    completions: lane.completions,
    failures: lane.failures,
    deferrals: lane.deferrals,
    shed: lane.shed,
    servedMs: lane.servedMs,
    waitP95Ms: readyWaitMs?.p95 ?? 0,
    waitP99Ms: readyWaitMs?.p99 ?? 0,
    ended: serviceMs?.count ?? 0,
    serviceMs: serviceMs?.mean ?? 0,
    serviceP99Ms: serviceMs?.p99 ?? 0,
    kept,
    maxRunning: bounded(lane.maxRunning),
    blocked: lane.blocked,
    oldestBlockedMs: lane.oldestBlockedMs,
    held,
  };
}

function bounded(figure: number): number | null {
  return figure === Infinity ? null : figure;
}

/** False after a reload that changed the lanes: what was before says nothing of them. */
export function haveSameLanes({ lanes }: Sample, before: Sample | undefined): boolean {
  return before === undefined ||
    lanes.length === before.lanes.length &&
      lanes.every(({ name }, index) => name === before.lanes[index]?.name);
}

/** What holds jobs back; else the tightest cap, if one is tighter than `size.max`. */
function binderOf(view: PoolView, { proposals, limit, rateCap }: Plan): string {
  if (view.rateBound) return waitsFor(view) ?? rateCap;
  const cap = proposals.find((part) => part.kind !== "controller" && part.workers === limit);
  return cap === undefined ? "size.max" : `${cap.kind}:${cap.by}`;
}
