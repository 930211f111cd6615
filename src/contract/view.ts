/**
 * What a strategy may read: the live, read-only face of one pool.
 *
 * All times are ms since epoch (`…AtMs`, `nowMs`), all durations are ms, all shares 0 to 1.
 *
 * @module
 */

/** A reading of a downstream system, sampled before each tick. */
export interface Signal {
  /** The last value read. 0 until the first reading succeeded. */
  readonly value: number;
  /** True while the reader fails: `value` is then the last known one. */
  readonly stale: boolean;
}

/** Quantiles of durations that ended within a window, ms. */
export interface Summary {
  /** How many ended in the window, > 0. */
  readonly count: number;
  /** Arithmetic mean, ms. */
  readonly mean: number;
  /** Median, ms. */
  readonly p50: number;
  /** 95th percentile, ms. */
  readonly p95: number;
  /** 99th percentile, ms. */
  readonly p99: number;
}

/** Rates and durations over the latest window. */
export interface WindowStats {
  /** Length of the window, ms. Shorter than its full length while the pool is young. */
  readonly windowMs: number;
  /** Jobs accepted per second. */
  readonly arrivalsPerSec: number;
  /** Jobs done per second. */
  readonly completionsPerSec: number;
  /** Attempts failed per second. Deferrals are not failures. */
  readonly failuresPerSec: number;
  /** Jobs rejected or dropped as late per second. */
  readonly shedPerSec: number;
  /** Run time of attempts. `undefined`: none ended in the window. */
  readonly serviceMs: Summary | undefined;
  /** From due to started. `undefined`: none started in the window. */
  readonly waitMs: Summary | undefined;
  /** The same without the time that a job was blocked: from claimable to started. */
  readonly readyWaitMs: Summary | undefined;
}

/** One lane. Live and reused between calls; a snapshot holds a frozen copy. */
export interface LaneView {
  /** Name from the config. */
  readonly name: string;
  /** Place in priority order, 0 is the highest. */
  readonly index: number;
  /** Share under contention, > 0. */
  readonly weight: number;
  /**
   * How many of its jobs may run at once in this process: as the config says, less the handlers that run
   * on though their attempt was given up. `Infinity`: no bound.
   */
  readonly maxRunning: number;
  /** Wait that growth aims to stay below, ms. `null`: none. */
  readonly targetWaitMs: number | null;
  /**
   * In a lane without a target: within how long growth aims to start what waits, ms. 0: as fast as the
   * caps allow. `undefined`: the lane causes no growth beyond one worker.
   */
  readonly startWithinMs: number | undefined;
  /** Sojourn within which a job is still of use, ms. `undefined`: always. */
  readonly deadlineMs: number | undefined;
  /**
   * Jobs that may start now: due, and neither blocked nor in a paused lane; in a snapshot those of a
   * paused lane too. Whole store. Jobs that were leased ahead of their start are among them.
   */
  readonly ready: number;
  /**
   * Due jobs that no worker could start: blocked by their key, and all that are due while the lane is
   * paused; in a snapshot those of their key alone.
   */
  readonly blocked: number;
  /** Jobs due later: delays and retry back-off. */
  readonly delayed: number;
  /** Jobs running in this process. */
  readonly running: number;
  /** Time since the oldest ready job became claimable, ms. 0 if none is ready. */
  readonly oldestWaitMs: number;
  /** Time since the oldest job that its key holds back was due, ms. 0 if there is none: no worker would help. */
  readonly oldestBlockedMs: number;
  /** True while the lane or its pool is paused. */
  readonly paused: boolean;
  /** Smoothed arrival rate (time constant 1 s, bias-corrected), jobs per second. */
  readonly arrivalsPerSec: number;
  /** Smoothed run time of an attempt, ms. 0 until one has ended. */
  readonly meanServiceMs: number;
  /** Worker time spent on this lane so far, running jobs included, ms. */
  readonly servedMs: number;
  /** Attempts ended so far whose run time counts: a deferral's or an aborted one's does not. */
  readonly timed: number;
  /** Sum of the run times of these, ms. */
  readonly timedMs: number;
  /** Sum of the natural logarithms of these run times in ms, each taken as 0.01 ms at least. */
  readonly timedLog: number;
  /** Rates and durations of the last tick's window. */
  readonly window: WindowStats;
}

/** Counts since the pool began. Differences of two readings give every window. */
export interface Totals {
  /** Jobs accepted. */
  readonly arrivals: number;
  /** Attempts started. */
  readonly starts: number;
  /** Attempts that ended done. */
  readonly completions: number;
  /** Attempts that failed. Deferrals are not failures. */
  readonly failures: number;
  /** Jobs rejected, by `maxDepth` or by admission, or dropped as late. */
  readonly shed: number;
  /** Sum of run times of ended attempts, ms. */
  readonly serviceMs: number;
  /** Sum of squared run times of ended attempts, ms². */
  readonly serviceMsSq: number;
  /** Integral of the number of busy workers over time, ms. */
  readonly busyMs: number;
  /** Attempts that ended with `RetryLater`. */
  readonly deferrals: number;
  /** Calls of `context.overloaded()`. */
  readonly overloads: number;
}

/** What a worker is doing. */
export type WorkerState = "starting" | "idle" | "busy" | "retiring" | "stuck";

/** One worker. */
export interface WorkerView {
  /** Unique within the pool for its whole life. */
  readonly id: string;
  /** What it is doing. `retiring`: leaves after its job; `stuck`: its handler ignores the abort. */
  readonly state: WorkerState;
  /** When it was created. */
  readonly startedAtMs: number;
  /** When it entered `state`. */
  readonly sinceMs: number;
  /** Jobs it has ended. */
  readonly jobsDone: number;
}

/**
 * Why a circuit breaker is open: the receiver refused jobs (`context.overloaded()` and a deferral), they
 * failed, or it is gone for good (410).
 */
export type BreakerCause = "overloaded" | "failures" | "gone";

/** A circuit breaker that is not closed. */
export interface BreakerView {
  /** Whose jobs wait. Empty: those without a key. `undefined`: all of the pool. */
  readonly key: string | undefined;
  /** The named downstream that refused them: all pools that use it wait. `undefined`: none. */
  readonly downstream?: string | undefined;
  /** `open`: no job starts. `half-open`: one does, to see whether the receiver takes it. */
  readonly state: "open" | "half-open";
  /** Why it opened last. */
  readonly cause: BreakerCause;
  /** When it opened first, ms since epoch. */
  readonly sinceMs: number;
  /** When it is half-open, ms since epoch. */
  readonly untilMs: number;
  /** Refusals and failures in a row. */
  readonly count: number;
}

/** What the jobs of a pool have used of one downstream, since it began. */
export interface DownstreamUse {
  /** Its name. */
  readonly downstream: string;
  /** Calls of `context.used()`. */
  readonly calls: number;
  /** Those that failed. */
  readonly failed: number;
  /** Sum of how long they took, ms. */
  readonly ms: number;
}

/** All that a strategy may read. Live: values hold for the call only. */
export interface PoolView {
  /** Name from the config. */
  readonly pool: string;
  /** Time of this decision, ms since epoch. */
  readonly nowMs: number;
  /** Lanes, highest priority first. */
  readonly lanes: readonly LaneView[];
  /** All workers, oldest first. */
  readonly workers: readonly WorkerView[];
  /** Workers that are neither starting, retiring nor stuck. */
  readonly live: number;
  /** Live workers that run a job. */
  readonly busy: number;
  /** Live workers that run none. */
  readonly idle: number;
  /** Worker count of the last decision. */
  readonly target: number;
  /** Bounds from the config or an override. */
  readonly size: { readonly min: number; readonly max: number };
  /** The tightest bound of the last decision: caps and `size.max`. */
  readonly limit: number;
  /** True while a start rate or a cool-down, not workers, holds ready jobs back. */
  readonly rateBound: boolean;
  /**
   * While the receiver says "not now": until when nothing starts, ms since epoch. Once that is past, one
   * job asks again. 0: the pool does not cool down.
   */
  readonly holdUntilMs: number;
  /** The named downstream that it waits for, meanwhile. Empty: the receiver has no name, or it does not wait. */
  readonly heldBy: string;
  /** What its jobs have used, by `context.used()`, in the order of first use; 100 at most. */
  readonly used: readonly DownstreamUse[];
  /** Keys whose circuit breakers are not closed: their jobs wait, others start. */
  readonly openKeys: number;
  /** Most starts per second that the last decision allows, fractions too. `Infinity`: no bound. */
  readonly startsPerSec: number;
  /** Counts since the pool began. */
  readonly totals: Totals;
  /** Rates and durations of the last tick's window. */
  readonly window: WindowStats;
  /** Live processes that share this pool's store, this one included. */
  readonly peers: number;
  /** True while the store cannot be read: counts are the last known ones. */
  readonly stale: boolean;
  /** Readings of downstream systems by name, as configured under `signals`. */
  readonly signals: Readonly<Record<string, Signal>>;
  /**
   * Ready jobs that have waited at least `ageMs`, over all lanes.
   * O(log n) in memory; a store that knows only the head answers 0 or 1 a lane.
   */
  readyOlderThan(ageMs: number): number;
}
