/**
 * What a scenario may hold: the load that pools are put under.
 *
 * @module
 */

/** A scenario, as JSON or code writes it. All times are ms since it began. */
export interface ScenarioInput {
  /** Where editors find the JSON Schema. Not read. */
  readonly $schema?: string | undefined;
  /** What to call it. */
  readonly name?: string | undefined;
  /** Seed of all chance, a whole number >= 0. @default {1} */
  readonly seed?: number | undefined;
  /** How long jobs arrive, ms, > 0. */
  readonly durationMs: number;
  /** Ends with a drain, as a stop does: jobs that run then may end, and count. @default {false} */
  readonly drain?: boolean | undefined;
  /** What ends so long after the end still counts, ms, >= 0. @default {0} */
  readonly graceMs?: number | undefined;
  /** How late timers fire: those of the pools, and those that end jobs. Omitted: never late. */
  readonly timerLateMs?: Duration | undefined;
  /** How many processes share the store, a whole number >= 1. @default {1} */
  readonly peers?: number | undefined;
  /** How long the store takes to answer a request, ms, >= 0. @default {0} */
  readonly storeMs?: number | undefined;
  /** Where a recorded load comes from. Omitted: it is made up. */
  readonly recorded?: Recorded | undefined;
  /** What goes wrong, and when. @default {[]} */
  readonly faults?: readonly ScenarioFault[] | undefined;
  /** Load by pool. Pools of the config that are not named here are left out. */
  readonly pools: Readonly<Record<string, PoolLoad>>;
}

/** Where a recorded load comes from, and how much of it is missing. Not played. */
export interface Recorded {
  /** Address of the system that it was recorded from. */
  readonly from: string;
  /** When it began, as ISO 8601 in UTC. */
  readonly at: string;
  /** Events that the recorder did not see: as many pieces of jobs are missing. @default {0} */
  readonly missed?: number | undefined;
  /** Jobs whose run time nobody saw: `null` in the traces. @default {0} */
  readonly unknown?: number | undefined;
}

/** The load of one pool. */
export interface PoolLoad {
  /** Load by lane. */
  readonly lanes: Readonly<Record<string, LaneLoad>>;
}

/** The load of one lane. */
export interface LaneLoad {
  /** When jobs arrive. Omitted: none do. */
  readonly arrivals?: Arrivals | undefined;
  /** Jobs that wait at the beginning, a whole number >= 0. @default {0} */
  readonly backlog?: number | undefined;
  /** How long an attempt runs. */
  readonly serviceMs: Duration | Knee | RecordedRuns;
  /** Share of attempts that fail, 0 to 1. @default {0} */
  readonly failRate?: number | undefined;
  /** Share of attempts that ask to be run again later, 0 to 1. @default {0} */
  readonly deferRate?: number | undefined;
  /** How much later, ms, >= 0. @default {1000} */
  readonly deferMs?: number | undefined;
  /**
   * How many keys jobs have, all alike often; or the key of each job in order of arrival, `null` for
   * none. Omitted: jobs have no key.
   */
  readonly keys?: number | readonly (string | null)[] | undefined;
}

/** A rate that holds until a time. */
export interface Phase {
  /** Until then, ms since the beginning. */
  readonly untilMs: number;
  /** Jobs per second, >= 0. */
  readonly perSec: number;
}

/** When jobs arrive, on a schedule that nothing delays. */
export type Arrivals =
  /** Evenly spaced or at random: at one rate, or at one after the other. */
  | { readonly kind: "even" | "poisson"; readonly perSec: number }
  | { readonly kind: "even" | "poisson"; readonly phases: readonly Phase[] }
  /** At a rate for `onMs`, not at all for `offMs`, and so on. */
  | {
    readonly kind: "on-off";
    readonly perSec: number;
    readonly onMs: number;
    readonly offMs: number;
    /** How they arrive while on. @default {"poisson"} */
    readonly spacing?: "even" | "poisson" | undefined;
  }
  /** As many in each minute as were counted there, at random or evenly within it; none after the last. */
  | {
    readonly kind: "counts";
    /** Jobs by minute, whole numbers >= 0, at least one. */
    readonly perMin: readonly number[];
    /** How they arrive within a minute. @default {"poisson"} */
    readonly spacing?: "even" | "poisson" | undefined;
  }
  /** At recorded times, rising. */
  | { readonly kind: "trace"; readonly atMs: readonly number[] };

/** A duration, drawn again each time. */
export type Duration =
  | { readonly kind: "fixed"; readonly ms: number }
  | { readonly kind: "uniform"; readonly min: number; readonly max: number }
  /** `ms` is the mean. */
  | { readonly kind: "exponential"; readonly ms: number }
  /** `ms` is the mean, `cv` the coefficient of variation: standard deviation over mean. */
  | { readonly kind: "lognormal"; readonly ms: number; readonly cv: number }
  /**
   * Through percentiles that were measured, ms, > 0: between two of them, and from 0 to the lowest and from
   * the highest to `max`, as a log-normal is. At least `p50` and one that is higher.
   */
  | {
    readonly kind: "percentiles";
    readonly p50: number;
    readonly p75?: number | undefined;
    readonly p90?: number | undefined;
    readonly p95?: number | undefined;
    readonly p99?: number | undefined;
    /** The longest: none is longer. Omitted: there is no bound. */
    readonly max?: number | undefined;
  };

/**
 * A downstream that bears `slots` jobs of the lane at once: with n of them running, an attempt that
 * starts takes `ms * max(1, n / slots)`, and `1 + collapse * (n - slots)` times that beyond.
 */
export interface Knee {
  /** Which kind of duration it is. */
  readonly kind: "knee";
  /** Mean run time while it is not overloaded, ms. */
  readonly ms: number;
  /** Coefficient of variation of these run times, which are lognormal, >= 0. @default {0} */
  readonly cv?: number | undefined;
  /** How many jobs it bears at once, over all processes, a whole number >= 1. */
  readonly slots: number;
  /** What each job beyond costs all of them, >= 0. @default {0} */
  readonly collapse?: number | undefined;
  /** Whether it says so: handlers of attempts that start beyond call `context.overloaded()`. @default {false} */
  readonly tells?: boolean | undefined;
}

/**
 * What the attempts of each job came to, job by job in order of arrival, those that wait at the
 * beginning first. Jobs beyond the list reset it.
 */
export interface RecordedRuns {
  /** Which kind of duration it is. */
  readonly kind: "trace";
  /** By job: its attempts. `null`: nobody saw them, so a run time of the others is drawn. */
  readonly runs: readonly (RecordedAttempt | readonly RecordedAttempt[] | null)[];
}

/** What one attempt came to; a number is the run time of one that ended well. */
export type RecordedAttempt =
  | number
  /** It failed after this time, ms. `fatal`: for good, whatever attempts were left. */
  | { readonly failedMs: number; readonly fatal?: boolean | undefined }
  /** It asked after this many ms to be run again `forMs` later. */
  | { readonly deferredMs: number; readonly forMs: number };

/** Something that goes wrong at `atMs` for `forMs`. */
export type ScenarioFault =
  /** Attempts that start meanwhile take `factor` times as long. */
  | {
    readonly kind: "slow";
    readonly atMs: number;
    readonly forMs: number;
    /** How many times as long, > 0. @default {3} */
    readonly factor?: number | undefined;
  }
  /** Knees bear `factor` times as many jobs at once, one at least. */
  | {
    readonly kind: "slots";
    readonly atMs: number;
    readonly forMs: number;
    /** How many times as many, > 0. @default {0.5} */
    readonly factor?: number | undefined;
  }
  /** Attempts that end meanwhile fail. */
  | { readonly kind: "down"; readonly atMs: number; readonly forMs: number }
  /** The receiver says "not now" to attempts that end meanwhile, as with 429: `context.overloaded()` and a deferral. */
  | {
    readonly kind: "refuse";
    readonly atMs: number;
    readonly forMs: number;
    /** For how long it asks to be left alone, ms, > 0. Omitted: it does not say. */
    readonly retryAfterMs?: number | undefined;
  }
  /** The store answers with errors. */
  | { readonly kind: "store-error"; readonly atMs: number; readonly forMs: number }
  /** The event loop of each process is blocked: nothing of it runs until the end. */
  | { readonly kind: "block"; readonly atMs: number; readonly forMs: number }
  /** A process dies without a word; another takes its place after `forMs`. */
  | { readonly kind: "kill"; readonly atMs: number; readonly forMs: number };
