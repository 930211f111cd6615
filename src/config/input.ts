/**
 * What a config may hold, for those who write it in code. A file holds the same without functions
 * and plugins.
 *
 * @module
 */

import type { DedupeInput } from "./dedupe_input.ts";
import type { EnvRef } from "./secrets.ts";
import type { FindingCode } from "../explain/diagnose.ts";
import type { CapInput, HandlerInput, SignalInput, SlotInput } from "./slot_input.ts";
import type { ScheduleInput, SizeInput } from "./time_input.ts";

export type { DedupeInput } from "./dedupe_input.ts";

/** A config, as JSON or code writes it. */
export interface ConfigInput {
  /** Where editors find the JSON Schema. Not read. */
  readonly $schema?: string | undefined;
  /** Where do jobs live? One store for all pools. @default {"memory"} */
  readonly store?: SlotInput<"store"> | undefined;
  /** The admin API. In code it is off without this key; `sluice run` always serves it. */
  readonly admin?: AdminInput | undefined;
  /** What handlers call, by name: what it bears is shared by all pools that name it in `uses`. @default {{}} */
  readonly downstreams?: Readonly<Record<string, DownstreamInput>> | undefined;
  /** Pools by name. At least one. */
  readonly pools: Readonly<Record<string, PoolInput>>;
  /** Modules from outside the config's folder that `use` may name, written exactly so. @default {[]} */
  readonly allowModules?: readonly string[] | undefined;
  /**
   * Names of fields that are never shown, in any case and with any separators; `[]`: none. Passwords in
   * addresses never are.
   *
   * @default {those of usual secrets}
   */
  readonly redact?: readonly string[] | undefined;
}

/** The admin API. */
export interface AdminInput {
  /** Address to bind. @default {"127.0.0.1"} */
  readonly hostname?: string | undefined;
  /** Port to bind. 0 picks a free one. @default {8787} */
  readonly port?: number | undefined;
  /** Who may use it. Without it: only this machine. */
  readonly tokens?: {
    /** May read and write; at least 16 characters. */
    readonly admin: EnvRef;
    /** May read; at least 16 characters. */
    readonly viewer?: EnvRef | undefined;
  } | undefined;
  /** Allowed `Host` names besides loopback's, while there is no token. @default {[]} */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Path that a proxy takes off before it hands a request on, such as `/queue`. @default {""} */
  readonly basePath?: string | undefined;
  /** Addresses of proxies whose `X-Forwarded-Prefix` is used in place of `basePath`. @default {[]} */
  readonly trustedProxies?: readonly string[] | undefined;
  /** Where alerts are sent, when findings begin and when they end. */
  readonly alerts?: {
    /** Address that gets a POST. A reference, if it holds a secret. */
    readonly url: string | EnvRef;
    /** Sent as a bearer token. */
    readonly token?: EnvRef | undefined;
    /** Findings that send no alert. @default {["fixed-would-do"]} */
    readonly ignore?: readonly FindingCode[] | undefined;
  } | undefined;
}

/**
 * What one thing that handlers call bears, over all pools and processes.
 *
 * @internal
 */
export interface DownstreamInput {
  /** Connections that it allows. A whole number >= 0; 0 stops the pools that use it. */
  readonly connections?: number | undefined;
  /** Calls that it takes: all of them hold. */
  readonly rates?: readonly RateInput[] | undefined;
  /**
   * One circuit breaker for all pools that use it: once the receiver refuses jobs of one pool, none
   * starts in any. Without it each pool has its own.
   */
  readonly cooldown?: BreakerInput | undefined;
}

/**
 * What opens a circuit breaker, and for how long.
 *
 * @internal
 */
export interface BreakerInput {
  /** Refusals in a row that open it. A whole number >= 1. @default {3} */
  readonly after?: number | undefined;
  /** First wait if the receiver names no time, ms, > 0; doubles with each further refusal. @default {1000} */
  readonly minMs?: number | undefined;
  /** Longest such wait, ms, >= `minMs`. @default {60000} */
  readonly maxMs?: number | undefined;
  /** Failures in a row that open it too, those by `Fatal` aside. A whole number >= 1. Omitted: none do. */
  readonly failures?: number | undefined;
  /**
   * Whether it opens too when the receiver is gone for good (`http`: at 410): jobs wait then, instead
   * of being dead.
   *
   * @default {false}
   */
  readonly gone?: boolean | undefined;
}

/**
 * Circuit breakers of one pool.
 *
 * @internal
 */
export interface PoolBreakerInput extends BreakerInput {
  /**
   * Which jobs have a breaker together: `pool`: all of the pool; `key`: those of one `key`, such as a
   * customer or a destination.
   *
   * @default {"pool"}
   */
  readonly by?: "pool" | "key" | undefined;
}

/**
 * Calls in a window.
 *
 * @internal
 */
export interface RateInput {
  /** Calls in any window, > 0. */
  readonly calls: number;
  /** Length of the window, ms, 1,000 to 10,000. */
  readonly perMs: number;
  /**
   * How many jobs of lanes below the highest may start at once after a pause, in each pool, >= 1; else
   * they are spread over the window evenly.
   *
   * @default {1}
   */
  readonly burst?: number | undefined;
}

/**
 * Starts of the jobs of one key.
 *
 * @internal
 */
export interface KeyRateInput {
  /** How many jobs of a key start in any window. A whole number >= 1. */
  readonly calls: number;
  /** Length of the window, ms, 1,000 to 86,400,000. */
  readonly perMs: number;
  /**
   * How many jobs of a key may start at once, and run at once. A whole number from 1 to 100: the largest
   * up to it of which whole ones make up `calls`, or 99 % of them, is used.
   *
   * @default {calls, 100 at most}
   */
  readonly burst?: number | undefined;
}

/**
 * Where the end of a job leads to: a job of another lane.
 *
 * @internal
 */
export interface HandOnInput {
  /** Name of the pool. */
  readonly pool: string;
  /** Lane that the job goes to. */
  readonly lane: string;
  /** Handler of the job. Needed where the pool has `handlers`. */
  readonly type?: string | undefined;
}

/** One pool: workers, lanes, what they run and what steers them. */
export interface PoolInput {
  /** What a worker does for each job. Either this or `handlers`. */
  readonly handler?: HandlerInput | undefined;
  /** What a worker does, by the `type` of the job. Either this or `handler`. */
  readonly handlers?: Readonly<Record<string, HandlerInput>> | undefined;
  /** Bounds of the worker count in each process. */
  readonly size: {
    /** Fewest workers in each process. A whole number >= 0. */
    readonly min: number;
    /** Most workers in each process. A whole number >= 1; 100,000 at most. */
    readonly max: number;
  };
  /** Bounds of `size` by time of day: those whose time came last hold. `size` holds before any. @default {[]} */
  readonly sizes?: readonly SizeInput[] | undefined;
  /** Lanes, highest priority first. At least one. */
  readonly lanes: readonly LaneInput[];
  /** Lanes of jobs that name none: the first route that fits. @default {[]} */
  readonly routes?: readonly RouteInput[] | undefined;
  /** How many workers? @default {"age-scaler"} */
  readonly controller?: SlotInput<"controller"> | undefined;
  /**
   * A candidate controller: it is asked too, but its answer has no effect. Shows where the two
   * differ.
   */
  readonly shadow?: {
    /** How many workers would it have? */
    readonly controller: SlotInput<"controller">;
  } | undefined;
  /** Which lane does the next free worker serve? @default {"reserved-lane"} */
  readonly lanePolicy?: SlotInput<"lane-policy"> | undefined;
  /** How far may it grow? All of them hold. @default {[]} */
  readonly caps?: readonly CapInput[] | undefined;
  /**
   * Downstreams that a job needs, by name, each with how much of it: connections that a worker
   * holds, and calls that a job makes. A whole number >= 1.
   *
   * @default {{}}
   */
  readonly uses?: Readonly<Record<string, number>> | undefined;
  /** Whether `adaptive-cap` is added to the caps: it refuses growth that brings no throughput. @default {true} */
  readonly adaptive?: boolean | undefined;
  /**
   * Pauses starts for a while when the receiver says "not now": once `after` attempts in a row
   * called `context.overloaded()` and threw `RetryLater`, as `http` does at 429, 503 and 529.
   * false: never.
   */
  readonly cooldown?: false | PoolBreakerInput | undefined;
  /** Which workers stop? @default {"cooperative"} */
  readonly retirement?: SlotInput<"retirement"> | undefined;
  /** Take this job, or reject it? @default {"shed-at-cap"} */
  readonly admission?: SlotInput<"admission"> | undefined;
  /** Functions read before each tick, by the name that strategies know them by. */
  readonly signals?: Readonly<Record<string, SignalInput>> | undefined;
  /** Jobs on a schedule: one at each time, however many processes run. @default {[]} */
  readonly schedules?: readonly ScheduleInput[] | undefined;
  /** `onDead` of all its lanes that have none of their own, but for the one that it names. @default {none} */
  readonly onDead?: HandOnInput | undefined;
  /** `then` of all its lanes that have none of their own, but for the one that it names. @default {none} */
  readonly then?: HandOnInput | undefined;
  /** Time between ticks, ms, >= 1. An idle pool does not tick. @default {50} */
  readonly tickMs?: number | undefined;
  /**
   * Time without a renewal after which a process is dead and its jobs go back to their lanes, ms,
   * >= 1.
   *
   * @default {30000}
   */
  readonly leaseMs?: number | undefined;
  /** Longest run of one attempt, ms, > 0; then its signal aborts, and it has failed. @default {60000} */
  readonly timeoutMs?: number | undefined;
  /** The same by the `type` of the job, in place of what its lane or the pool has. @default {{}} */
  readonly timeoutMsByType?: Readonly<Record<string, number>> | undefined;
  /** How long a stop waits for running jobs, ms, >= 0. @default {30000} */
  readonly drainMs?: number | undefined;
  /** How many ended jobs are kept. */
  readonly keep?: {
    /** Done and cancelled jobs to keep. A whole number >= 0. @default {1000} */
    readonly done?: number | undefined;
    /** Dead jobs to keep. A whole number >= 0. @default {10000} */
    readonly dead?: number | undefined;
    /** How long ended jobs are kept, ms, > 0. @default {86400000} */
    readonly forMs?: number | undefined;
  } | undefined;
}

/**
 * Where jobs go that name no lane.
 *
 * @internal
 */
export interface RouteInput {
  /** What a job has to have: all that is named. `*` matches any text. @default {all jobs} */
  readonly if?: {
    /** Type of the job. Only where the pool has `handlers`. */
    readonly type?: string | undefined;
    /** Key of the job: one without a key has none that fits, not even `*`. */
    readonly key?: string | undefined;
  } | undefined;
  /** Lane that it goes to. */
  readonly lane: string;
}

/** One lane. */
export interface LaneInput {
  /** Name, unique within the pool. 200 characters at most, as names of pools, types and signals. */
  readonly name: string;
  /**
   * Wait that growth aims to stay below, ms, > 0. null: this lane causes no growth beyond one
   * worker, unless it has a `startWithinMs`.
   *
   * @default {the controller's}
   */
  readonly targetWaitMs?: number | null | undefined;
  /**
   * Beside `"targetWaitMs": null`: growth aims to start what waits within so long, ms, >= 0, and
   * nothing is rejected or late for it. 0: as fast as the caps allow.
   *
   * @default {never}
   */
  readonly startWithinMs?: number | undefined;
  /**
   * Sojourn within which a job is still of use, ms, > 0, from when it was first due: neither retries nor
   * waiting for its key move it. What starts later is dead, reason `late`.
   *
   * @default {always}
   */
  readonly deadlineMs?: number | undefined;
  /**
   * Most jobs that wait, as each process last saw it. A whole number >= 1; more are rejected.
   *
   * @default {no bound}
   */
  readonly maxDepth?: number | undefined;
  /**
   * Most jobs that run in each process. A whole number >= 1. A handler that ignores its abort
   * counts until it ends.
   *
   * @default {no bound}
   */
  readonly maxRunning?: number | undefined;
  /** Most running jobs of one key, over all processes. A whole number >= 1. @default {no bound} */
  readonly maxRunningPerKey?: number | undefined;
  /** Most starts of one key, over all processes: all of them hold for each key by itself. @default {[]} */
  readonly ratesPerKey?: readonly KeyRateInput[] | undefined;
  /**
   * Latest start, ms from the enqueue, > 0; 100 years at most. Jobs that have not started by then
   * are dead, reason `expired`, those that wait for a retry too.
   *
   * @default {never}
   */
  readonly ttlMs?: number | undefined;
  /**
   * How often a job may be started before it is dead. A whole number >= 1.
   *
   * @default {5; with `backoff.delaysMs` one more than it has, with `backoff.forMs` as many as fit}
   */
  readonly attempts?: number | undefined;
  /** Longest run of one attempt of this lane, ms, > 0. @default {the pool's} */
  readonly timeoutMs?: number | undefined;
  /** How long a failed job waits before its next attempt. */
  readonly backoff?: {
    /**
     * The waits themselves, ms, >= 0, in place of `baseMs`, `factor` and `maxMs`: after the first
     * failure, the second and so on; the last one goes on.
     *
     * @default {computed}
     */
    readonly delaysMs?: readonly number[] | undefined;
    /** Wait after the first failure, ms, >= 0. @default {1000} */
    readonly baseMs?: number | undefined;
    /** How many times as long the wait after each further failure is, >= 1. @default {2} */
    readonly factor?: number | undefined;
    /** Longest wait before jitter, ms, >= `baseMs`; 100 years at most. @default {60000} */
    readonly maxMs?: number | undefined;
    /** Share of the wait that chance adds, 0 to 1. @default {0.5} */
    readonly jitter?: number | undefined;
    /**
     * How long after it was first due a job may still be retried, ms, > 0: one that would start later is
     * dead. A revive begins it again.
     *
     * @default {as long as it has attempts}
     */
    readonly forMs?: number | undefined;
  } | undefined;
  /** Lane that gets a job for each job that is dead, once: its record is the payload. @default {the pool's} */
  readonly onDead?: HandOnInput | undefined;
  /** Lane that gets a job for each job that is done, once: its result is the payload. @default {the pool's} */
  readonly then?: HandOnInput | undefined;
  /** What a job's `dedupeKey` does. @default {until the job ends} */
  readonly dedupe?: DedupeInput | undefined;
  /** Share under contention, > 0, for policies of your own: none of the built-in ones reads it. @default {1} */
  readonly weight?: number | undefined;
  /**
   * Starts paused, until it is resumed. A pause or resume by a user outlives a restart with the
   * same value.
   *
   * @default {false}
   */
  readonly paused?: boolean | undefined;
  /** Expected load of the lane, for the computations of `check`. */
  readonly expect?: {
    /** Jobs per second, >= 0. */
    readonly perSec: number;
    /** Mean run time of a job, ms, > 0. */
    readonly serviceMs: number;
  } | undefined;
}
