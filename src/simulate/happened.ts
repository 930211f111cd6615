/**
 * What happened to a pool, in the figures that a simulation reports: to lay one over the other.
 *
 * @module
 */

import type { History } from "../planning/history.ts";
import type { PoolReport } from "./report.ts";

/** What came of a lane. */
export interface LaneOutcome {
  /** Name of the lane. */
  readonly lane: string;
  /** Jobs done. */
  readonly done: number;
  /** Jobs rejected, or dropped as late. */
  readonly shed: number;
  /** Longest wait of a claimable job, ms. */
  readonly longestWaitMs: number;
}

/** What came of a pool. */
export interface PoolOutcome {
  /** Workers on average. */
  readonly workers: number;
  /** Most workers. */
  readonly peak: number;
  /** Its lanes, highest priority first. */
  readonly lanes: readonly LaneOutcome[];
}

/** What happened since `fromMs`, by the samples of a history. `undefined`: they are too few. */
export function happenedOf({ samples }: History, fromMs: number): PoolOutcome | undefined {
  const at = samples.findLastIndex(({ atMs }) => atMs <= fromMs + 500);
  const [first, ...rest] = samples.slice(Math.max(0, at));
  const last = rest.at(-1);
  if (first === undefined || last === undefined) return undefined;
  return {
    workers: (last.liveMs - first.liveMs) / (last.atMs - first.atMs),
    peak: Math.max(...rest.map(({ mostLive }) => mostLive)),
    lanes: last.lanes.map((lane, index) => ({
      lane: lane.name,
      done: lane.completions - first.lanes[index]!.completions, // a history has the same lanes throughout
      shed: lane.shed - first.lanes[index]!.shed,
      longestWaitMs: Math.max(...rest.map(({ lanes }) => lanes[index]!.longestWaitMs)),
    })),
  };
}

/** The same of a simulation. */
export function simulatedOf({ workers, lanes, series }: PoolReport): PoolOutcome {
  return {
    workers: workers.mean,
    peak: workers.peak,
    lanes: Object.entries(lanes).map(([lane, { done, shed }]) => ({
      lane,
      done,
      shed,
      longestWaitMs: Math.max(0, ...(series.lanes[lane]?.ageMs ?? []).map((age) => age ?? 0)),
    })),
  };
}
