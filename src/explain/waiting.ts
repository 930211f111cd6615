/**
 * Why a job waits: its place in its lane, what holds it, and when it may start. Pure.
 *
 * @module
 */

import { isWaiting } from "../base/states.ts";
import type { JobRecord } from "../contract/job.ts";
import type { BreakerView, PoolView } from "../contract/view.ts";
import { estimateOf } from "./waiting/estimate.ts";
import { barsOf, shortagesOf } from "./waiting/holds.ts";

/** What may hold a job. */
export type HoldCode =
  | "stopped"
  | "paused"
  | "store"
  | "handler"
  | "delayed"
  | "key-limit"
  | "key-rate"
  | "lane-limit"
  | "start-rate"
  | "cooldown"
  | "not-worked"
  | "no-worker"
  | "busy"
  | "reserved";

/** One thing that holds a job. */
export interface Hold {
  /** What it is, for programs. */
  readonly code: HoldCode;
  /** What it is and what would end it, as a sentence without a period. */
  readonly detail: string;
}

/** Why a job waits. */
export interface Waiting {
  /** Its place among the ready jobs of its lane, from 1. `undefined`: it is delayed or blocked. */
  readonly position: number | undefined;
  /** True if there were too many before it to count: `position` is then the least it can be. */
  readonly atLeast: boolean;
  /** All that holds it, what has to end first before the rest. Empty: it starts at once. */
  readonly holds: readonly Hold[];
  /** When it may start, ms since epoch. `undefined`: no one can say; `basis` says why. */
  readonly startAtMs: number | undefined;
  /** What `startAtMs` rests on, or why there is none. */
  readonly basis: string;
}

/** The pool of a job that waits. */
export interface WaitingPool extends
  Pick<
    PoolView,
    | "pool"
    | "nowMs"
    | "lanes"
    | "workers"
    | "live"
    | "idle"
    | "target"
    | "size"
    | "limit"
    | "rateBound"
    | "holdUntilMs"
    | "heldBy"
    | "startsPerSec"
    | "stale"
  > {
  /** Circuit breakers that are not closed. */
  readonly breakers: readonly BreakerView[];
  /** True while the whole pool is paused. */
  readonly paused: boolean;
  /** True after a drain has begun. */
  readonly draining: boolean;
  /** False: this process runs none of its jobs. */
  readonly worked: boolean;
  /** What set the target last, such as `size.max` or `cap:NAME`. `undefined`: nothing was decided yet. */
  readonly boundBy: string | undefined;
}

/** What is beside a job that waits. */
export interface Beside {
  /** Claimable jobs of its lane that were claimable before it. */
  readonly ahead: number;
  /** True if there were too many to count. */
  readonly atLeast: boolean;
  /** Jobs of its lane with its key that run. 0 for a job without a key. */
  readonly runningOfKey: number;
  /** Most jobs of one key that run. `Infinity`: no bound. */
  readonly maxRunningPerKey: number;
  /** Most starts of one key. Empty: no bound. */
  readonly ratesPerKey: readonly { readonly calls: number; readonly perMs: number }[];
  /** True if this process has a handler of its type. */
  readonly hasHandler: boolean;
  /** Name of the lane policy. */
  readonly lanePolicy: string;
}

/** Says why a job waits. `undefined`: it does not wait, or its lane is no more. */
export function waitingOf(
  job: JobRecord,
  pool: WaitingPool,
  beside: Beside,
): Waiting | undefined {
  const lane = pool.lanes.find(({ name }) => name === job.lane);
  if (lane === undefined || !isWaiting(job.state)) return undefined;
  const bars = [...barsOf(job, pool, lane, beside)];
  const shortages = bars.length > 0 ? [] : [...shortagesOf(pool, lane, beside)];
  const isInLine = !bars.some(({ code }) => isAside(code));
  return {
    position: isInLine ? beside.ahead + 1 : undefined,
    atLeast: isInLine && beside.atLeast,
    holds: [...bars, ...shortages],
    ...estimateOf(job, pool, lane, { beside, bars, shortages }),
  };
}

/** True if the job is not among the ready ones. */
function isAside(code: HoldCode): boolean {
  return code === "delayed" || code === "key-limit" || code === "key-rate";
}
