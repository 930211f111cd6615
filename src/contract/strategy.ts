/**
 * The kinds of strategies. Each is a pure function of a view: time is `view.nowMs`, chance is
 * `context.random`, the outside world is `view.signals`.
 *
 * @module
 */

import type { PlacedJob } from "./job.ts";
import type { LaneView, PoolView } from "./view.ts";

/** What a controller asks for. */
export interface Proposal {
  /** Wanted worker count, >= 0. Fractions are rounded up; bounds are the core's. */
  readonly workers: number;
  /** Why, with the numbers that decided. */
  readonly reason: string;
  /** Ask again then, at the latest. Needed for a change that no event will cause. */
  readonly reviewAtMs?: number | undefined;
}

/** A limit on starts, in any window of a length. */
export interface StartLimit {
  /** Starts in each window, >= 0, fractions too: N = the next whole number of them in N / `starts` windows. */
  readonly starts: number;
  /** Length of a window, ms, 1,000 to 86,400,000. */
  readonly perMs: number;
  /**
   * How many starts of lanes below the highest may come at once after a pause; else they lie `perMs` /
   * `starts` apart. >= 1. @default {1}
   */
  readonly burst?: number | undefined;
  /** Name of the lane whose starts it holds. @default {all lanes} */
  readonly lane?: string | undefined;
}

/** How far a pool may grow, and how fast jobs may start. */
export interface Limit {
  /** Most workers, >= 0. `Infinity`: no bound. 0 stops the pool. */
  readonly workers: number;
  /**
   * Most starts per second, fractions too: N = the next whole number of them in any N / `startsPerSec`
   * seconds. Omitted: no bound.
   */
  readonly startsPerSec?: number | undefined;
  /** More limits on starts: all of them hold. */
  readonly rates?: readonly StartLimit[] | undefined;
  /** Why, with the numbers that decided. */
  readonly reason: string;
  /** Ask again then, at the latest. */
  readonly reviewAtMs?: number | undefined;
}

/**
 * How many workers? Asked at each tick, when an arrival is left waiting (at most once a turn of the
 * event loop), and at `reviewAtMs`.
 */
export type Controller = (view: PoolView) => Proposal;

/** How far may the pool grow? Asked after the controller, with what is wanted so far. */
export type Cap = (view: PoolView, wanted: number) => Limit;

/**
 * Which lane does the next free worker serve? `eligible` holds the lanes that may be served now, highest
 * priority first, at least one. `undefined` leaves the worker idle.
 */
export type LanePolicy = (view: PoolView, eligible: readonly LaneView[]) => LaneView | undefined;

/**
 * Which workers stop now? Asked each tick, with 0 too. Ids of workers: an idle one leaves at once, a
 * busy one after its job. Ids beyond `excess` are honoured as far as the minimum allows, for strategies that replace workers.
 */
export type Retirement = (view: PoolView, excess: number) => readonly string[];

/** Whether a job is accepted. */
export type Verdict =
  | { readonly admit: true }
  | {
    readonly admit: false;
    /** Why, in words for the one who enqueues. */
    readonly reason: string;
    /** When to come back, ms, >= 0. */
    readonly retryAfterMs: number;
  };

/** Take this job, or turn it away with a time to come back? */
export interface Admission {
  /** Asked at each enqueue, before the job is stored. */
  submit(job: PlacedJob, view: PoolView): Verdict;
  /**
   * Asked when a worker is about to start a job that became claimable `ageMs` ago, for the first time.
   * False drops it as late. One that is past its lane's `deadlineMs` is dropped without being asked about.
   */
  take?(lane: LaneView, ageMs: number, view: PoolView): boolean;
}

/** Reads one downstream figure before each tick. */
export type SignalReader = () => number | Promise<number>;
