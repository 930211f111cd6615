/**
 * When a job that waits may start, and what says so.
 *
 * @module
 */

import type { JobRecord } from "../../contract/job.ts";
import type { LaneView } from "../../contract/view.ts";
import type { Beside, Hold, HoldCode, Waiting, WaitingPool } from "../waiting.ts";
import { counted, duration, rate } from "../../base/format.ts";

/** What was found out about a job before its start is estimated. */
export interface WaitingFacts {
  /** What is beside it. */
  readonly beside: Beside;
  /** What holds this very job. */
  readonly bars: readonly Hold[];
  /** What there is too little of. */
  readonly shortages: readonly Hold[];
}

/** Why there is no estimate under what holds it. */
const UNTIL: Partial<Readonly<Record<HoldCode, string>>> = {
  stopped: "Unknown: depends on the next start",
  paused: "Unknown: depends on the resume",
  store: "Unknown: depends on the store",
  handler: "Unknown: depends on the config",
  cooldown: "Unknown: depends on the receiver",
  "key-limit": "Unknown: depends on when the jobs of its key end",
};

/** Estimates when a job may start: from the pace of its lane, or from how long its jobs take. */
export function estimateOf(
  job: JobRecord,
  pool: WaitingPool,
  lane: LaneView,
  { beside: { ahead, atLeast }, bars, shortages }: WaitingFacts,
): Pick<Waiting, "startAtMs" | "basis"> {
  const bar = bars.find(({ code }) => code !== "delayed" && code !== "key-rate");
  if (bar !== undefined) return unknown(UNTIL[bar.code] ?? "Unknown: depends on what holds it");
  if (bars.length > 0) return whenDue(job, lane);
  if (shortages.some(({ code }) => code === "cooldown")) {
    return unknown("Unknown: depends on the receiver");
  }
  if (!pool.worked) return unknown("Unknown: depends on the processes that work its pool");
  if (shortages.length === 0) return { startAtMs: pool.nowMs, basis: "A worker is free" };
  if (atLeast) return unknown("Unknown: too many jobs come before it to count");
  return afterOthers(ahead, pool, lane);
}

function whenDue({ dueAtMs }: JobRecord, lane: LaneView): Pick<Waiting, "startAtMs" | "basis"> {
  const { waitMs } = lane.window;
  if (waitMs === undefined) {
    return { startAtMs: dueAtMs, basis: "When it is due: no job of its lane started recently" };
  }
  const basis = `When it is due, and ${duration(waitMs.p50)} more: the median wait of its lane now`;
  return { startAtMs: Math.ceil(dueAtMs + waitMs.p50), basis };
}

function afterOthers(
  ahead: number,
  { nowMs, live, lanes }: WaitingPool,
  lane: LaneView,
): Pick<Waiting, "startAtMs" | "basis"> {
  const { completionsPerSec, failuresPerSec, windowMs } = lane.window;
  const endsPerSec = completionsPerSec + failuresPerSec;
  if (endsPerSec > 0) {
    const pace = `${counted(rate(endsPerSec), "job")} a second over the last ${duration(windowMs)}`;
    const startAtMs = Math.ceil(nowMs + ((ahead + 1) * 1_000) / endsPerSec);
    return { startAtMs, basis: `At the pace of its lane: ${pace}` };
  }
  const above = lanes.slice(0, lane.index).filter(({ paused }) => !paused)
    .reduce((sum, { ready }) => sum + ready, 0);
  if (above > 0) {
    return unknown(
      `Unknown: lanes above have ${above} ready, and no job of its own lane ended recently`,
    );
  }
  if (live === 0 || lane.meanServiceMs === 0) {
    return unknown("Unknown: no job of its lane has ended yet");
  }
  const each = `${live} ${live === 1 ? "worker" : "workers"} and ${
    duration(lane.meanServiceMs)
  } a job`;
  return {
    startAtMs: Math.ceil(nowMs + ((ahead + 1) * lane.meanServiceMs) / live),
    basis: `With ${each} of its lane`,
  };
}

function unknown(basis: string): Pick<Waiting, "startAtMs" | "basis"> {
  return { startAtMs: undefined, basis };
}
