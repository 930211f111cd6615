/**
 * Why a pool has its size, and why jobs of it wait, in a sentence: the same on pages and on the command
 * line.
 *
 * @module
 */

import type { Decision } from "../contract/decision.ts";
import { agreeing, counted, duration, grouped } from "../base/format.ts";
import type { BreakerView, LaneView } from "../contract/view.ts";

/** What a pool that has been drained is like. */
export const STOPPED = "It was drained: it runs nothing until the process restarts";

/** What a pool is like that runs in other processes only. */
export const NOT_WORKED = "It takes jobs here and runs none: processes that work it do";

/** What is said of a pool that has decided nothing yet. */
const UNDECIDED = "It has made no decision yet";

/** A pool that drains, or may. */
interface Draining {
  /** The time of all this, ms since epoch. */
  readonly nowMs: number;
  /** Live processes that share its store. */
  readonly peers: number;
  /** Its lanes. */
  readonly lanes: readonly Pick<LaneView, "ready" | "blocked" | "delayed" | "running">[];
  /** The drain. `undefined`: there was none. */
  readonly drain?:
    | { readonly sinceMs: number; readonly untilMs: number; readonly durable: boolean }
    | undefined;
}

/** What the sentence is made from. */
export interface Sized extends Draining {
  /** True once a drain has ended. */
  readonly stopped: boolean;
  /** False: this process runs none of its jobs. */
  readonly worked: boolean;
  /** The latest decision. `undefined`: none was made. */
  readonly decision?: Pick<Decision, "sentence" | "latest"> | undefined;
  /** When it catches up. `undefined`: it is not behind. */
  readonly catchUp?: { readonly text: string } | undefined;
}

/**
 * Why a pool has its size, and when it catches up if it is behind, without a period. One that has
 * stopped has none, whatever it decided last.
 */
export function whyOf(pool: Sized): string {
  const { stopped, decision, catchUp } = pool;
  if (stopped) return STOPPED;
  const draining = drainingText(pool);
  if (draining !== undefined) return draining;
  if (!pool.worked) return NOT_WORKED;
  const why = decision?.latest ?? decision?.sentence ?? UNDECIDED;
  return catchUp === undefined ? why : `${why}. It ${catchUp.text}`;
}

/** How far a drain is, and what becomes of jobs that wait, without a period. `undefined`: it does not drain. */
export function drainingText({ nowMs, peers, lanes, drain }: Draining): string | undefined {
  if (drain === undefined) return undefined;
  const running = sum(lanes, (lane) => lane.running);
  const waiting = sum(lanes, (lane) => lane.ready + lane.blocked + lane.delayed);
  const leftMs = Math.max(0, drain.untilMs - nowMs);
  const left = leftMs > 0
    ? `${agreeing(running, "it has", "they have")} ${duration(leftMs)} to end, or ${
      agreeing(running, "goes", "go")
    } back without a counted attempt`
    : `${agreeing(running, "it goes", "they go")} back without a counted attempt`;
  const runs = running === 0
    ? "no job runs"
    : `${counted(running, "job")} ${agreeing(running, "runs", "run")}: ${left}`;
  const where = peers > 1
    ? "for the other processes"
    : drain.durable
    ? "in the store for the next start"
    : "and will be lost with this process: its store is in memory";
  const waits = waiting === 0
    ? "none waits"
    : `${grouped(waiting)} ${agreeing(waiting, "waits", "wait")} ${where}`;
  return `Draining for ${duration(nowMs - drain.sinceMs)}: ${runs}; ${waits}`;
}

function sum<T>(values: readonly T[], figure: (value: T) => number): number {
  return values.reduce((total, value) => total + figure(value), 0);
}

/** What a circuit breaker holds and why, without a period. */
export function breakerText(
  { key, downstream, state, cause, count, sinceMs, untilMs }: BreakerView,
  nowMs: number,
): string {
  const whose = key === undefined
    ? "All jobs wait"
    : key === ""
    ? "Jobs without a key wait"
    : `Jobs of the key "${key}" wait`;
  const who = downstream === undefined ? "the receiver" : `downstream "${downstream}"`;
  const why = cause === "gone"
    ? `${who} is gone`
    : cause === "failures"
    ? `${counted(count, "attempt")} failed in a row`
    : count === 0
    ? `${who} refused jobs of another process`
    : `${who} refused ${counted(count, "job")} in a row`;
  const next = state === "open"
    ? `one tries again in ${duration(Math.max(0, untilMs - nowMs))}`
    : "one tries now";
  return `${whose} for ${duration(Math.max(0, nowMs - sinceMs))}, since ${why}: ${next}`;
}
