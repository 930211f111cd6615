/**
 * What a simulation came to.
 *
 * @module
 */

import type { Decision, ShadowReport } from "../contract/decision.ts";
import type { Finding } from "../explain/diagnose.ts";
import type { Quantiles } from "./quantiles.ts";

/** What a simulation came to. All times are ms since it began; figures are rounded to 0.001. */
export interface Report {
  /** Seed of all chance. */
  readonly seed: number;
  /** How long jobs arrived, ms: the scenario's, or less if it was interrupted. */
  readonly durationMs: number;
  /** True if it was interrupted. */
  readonly interrupted?: true;
  /** By name of the pool. */
  readonly pools: Readonly<Record<string, PoolReport>>;
}

/** What one pool came to, over all its processes. */
export interface PoolReport {
  /** By name of the lane. */
  readonly lanes: Readonly<Record<string, LaneReport>>;
  /** Its workers. */
  readonly workers: WorkersReport;
  /** Changes of the target, those in the same direction within 50 ms counted once. */
  readonly scaleEvents: number;
  /** Changes of the target in the other direction than the one before. */
  readonly reversals: number;
  /** The latest decisions, oldest first. */
  readonly decisions: readonly InProcess<Decision>[];
  /** What its last minutes show to be wrong, most pressing first. Empty: nothing. */
  readonly diagnosis: readonly InProcess<Finding>[];
  /** Strategies that threw or answered nonsense, each when it did first. Only if any did. */
  readonly failing?: readonly InProcess<FailingStrategy>[];
  /** What the candidate controller would have done, in each process that is alive. Only with one. */
  readonly shadow?: readonly InProcess<ShadowReport>[];
  /** What was seen over time. */
  readonly series: SeriesReport;
}

/** A strategy that failed. Its last answer stood meanwhile, so the figures are not of what it would do. */
export interface FailingStrategy {
  /** Name of the plugin. */
  readonly plugin: string;
  /** What it threw, or what is wrong with its answer. */
  readonly error: string;
  /** When it failed first. */
  readonly atMs: number;
}

/** What a pool said in one of several processes. */
export type InProcess<T> = T & {
  /** Number of the process, in order of their starts. Only with several. */
  readonly process?: number;
};

/** What one lane came to. A job that arrived is done, dead, shed or left. */
export interface LaneReport {
  /** Jobs that arrived or waited at the beginning. */
  readonly arrived: number;
  /** Attempts that started. */
  readonly started: number;
  /** Jobs done. */
  readonly done: number;
  /** Jobs dead. */
  readonly dead: number;
  /** Jobs rejected, dropped as late, or not taken by a store that failed. */
  readonly shed: number;
  /** Jobs that waited or ran at the end. */
  readonly left: number;
  /** Jobs done per second of `durationMs`. */
  readonly perSec: number;
  /** From due to started, of each attempt. `null`: none started. */
  readonly waitMs: Quantiles | null;
  /** From arrived to done. `null`: none is done. */
  readonly sojournMs: Quantiles | null;
}

/** How many workers there were, in any state. */
export interface WorkersReport {
  /** Fewest. */
  readonly min: number;
  /** Most. */
  readonly peak: number;
  /** At the end. */
  readonly final: number;
  /** On average. */
  readonly mean: number;
  /** Worker time, in worker-seconds. */
  readonly workerSeconds: number;
  /** When the count changed, and to what. A long run shows the last change of each stretch of time. */
  readonly timeline: readonly (readonly [atMs: number, workers: number])[];
}

/** What was seen over time, in stretches of equal length: a figure each. The last one may be shorter. */
export interface SeriesReport {
  /** Length of a stretch, ms. */
  readonly bucketMs: number;
  /** End of the last one. */
  readonly untilMs: number;
  /** Fewest workers allowed at the end of each, over all processes. `null`: no process was alive. */
  readonly min: readonly (number | null)[];
  /** Most workers allowed then, by size and caps. */
  readonly limit: readonly (number | null)[];
  /** By name of the lane. */
  readonly lanes: Readonly<Record<string, LaneSeries>>;
}

/** What was seen of one lane over time. */
export interface LaneSeries {
  /** The wait that growth aims to stay below, ms. `null`: none. */
  readonly targetWaitMs: number | null;
  /** Jobs that arrived. Those that waited at the beginning are left out. */
  readonly arrived: readonly number[];
  /** Jobs done. */
  readonly done: readonly number[];
  /** Jobs dead. */
  readonly dead: readonly number[];
  /** Jobs rejected, dropped as late, or not taken by a store that failed. */
  readonly shed: readonly number[];
  /** The longest wait: of attempts that started, and of the oldest ready job at the end. `null`: not known. */
  readonly ageMs: readonly (number | null)[];
}
