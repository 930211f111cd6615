/**
 * The handles a user holds: a running config, its pools, a job.
 *
 * @module
 */

import type { Decision, ShadowReport } from "../contract/decision.ts";
import type { Finding } from "../explain/diagnose.ts";
import type { ConfigSource } from "../config/resolver.ts";
import type { AuditEntry, ConfigChange, Observer } from "../contract/event.ts";
import type { History } from "../planning/history.ts";
import type { LoadRecord } from "../planning/load_record.ts";
import type { ResultOf } from "../contract/job_types.ts";
import type { JobRecord, NewJob, Outcome } from "../contract/job.ts";
import type { Bound } from "../contract/plugin.ts";
import type { PoolSettings } from "../config/settings.ts";
import type { Change, Changed, JobPage, JobQuery } from "../contract/store.ts";
import type { LaneCounters } from "../planning/lane_counters.ts";
import type { BreakerView, PoolView } from "../contract/view.ts";

/** An accepted job. `Result` is what its handler returns. */
export interface JobHandle<Result = unknown> {
  /** Unique within the store. */
  readonly id: string;
  /** True if this is an earlier job with the same `dedupeKey` or `idempotency`, and no second one was stored. */
  readonly duplicate: boolean;
  /** Resolves when the job has ended; never rejects. */
  readonly done: Promise<Outcome<Result>>;
}

/** A frozen copy of a pool's view, with what only the outside needs. */
export interface PoolSnapshot extends PoolView {
  /** Jobs that come by themselves, in config order. */
  readonly schedules: readonly ScheduleView[];
  /** False: this process takes jobs of it and runs none, as `pools` of its start says. */
  readonly worked: boolean;
  /** True while a strategy fails and its last good answer stays in use. */
  readonly degraded: boolean;
  /** True after `drain`. */
  readonly draining: boolean;
  /**
   * The drain: when it began, when jobs that still run are aborted and go back, ms since epoch, and
   * whether the store keeps those that wait until the next start. `undefined`: there was none.
   */
  readonly drain:
    | { readonly sinceMs: number; readonly untilMs: number; readonly durable: boolean }
    | undefined;
  /** True once a drain has ended: nothing runs any more, until the process is restarted. */
  readonly stopped: boolean;
  /** True while the whole pool is paused. */
  readonly paused: boolean;
  /** Circuit breakers that are not closed, the pool's first, then those of keys, at most 100 in all. */
  readonly breakers: readonly BreakerView[];
  /** Bounds in effect instead of the config's. `undefined`: none. */
  readonly override: (Override & { readonly untilMs: number }) | undefined;
  /** The latest decision. `undefined` before the first tick. */
  readonly decision: Decision | undefined;
  /** What the candidate controller would have done. `undefined`: none is configured. */
  readonly shadow: ShadowReport | undefined;
  /** How long its oldest call to the store has gone without an answer, ms: jobs are not claimed meanwhile. */
  readonly storeWaitMs: number;
  /** When its store last failed to take a job. `undefined`: it has taken one since, or never failed to. */
  readonly storeRefusedAtMs: number | undefined;
  /**
   * When it catches up: in how long (`null`: never as things are, or unknown), the jobs a second
   * that come to the lanes that are behind and those that start (`null`: not known yet), the workers that
   * would be enough (`null`: none more, or something else is missing), and all of that in words without
   * a period. `undefined`: it is not behind.
   */
  readonly catchUp?:
    | {
      readonly inMs: number | null;
      readonly comePerSec: number | null;
      readonly goPerSec: number | null;
      readonly workers: number | null;
      readonly text: string;
    }
    | undefined;
  /** Changes of the target since the pool began, those in one direction within 50 ms counted once. */
  readonly scaleEvents: number;
  /** Changes of the target in the other direction than the one before. */
  readonly reversals: number;
  /** Jobs that this process has taken back from members that had died, since the pool began. */
  readonly reaped: number;
}

/** Jobs that come by themselves. */
export interface ScheduleView {
  /** Unique within its pool; the same in all processes, until a reload changes the schedule. */
  readonly id: string;
  /** Lane that they go to. */
  readonly lane: string;
  /** Their type. Empty: the pool has one handler. */
  readonly type: string;
  /** When they come. `undefined`: by an interval. */
  readonly cron: string | undefined;
  /** Their interval, ms. `undefined`: they come by `cron`. */
  readonly everyMs: number | undefined;
  /** Time zone of `cron`. */
  readonly timezone: string;
  /** Longest wait from a time until its job is due, drawn by chance, ms. */
  readonly jitterMs: number;
  /** False: no job at a time at which the latest job has not ended. */
  readonly overlap: boolean;
  /** Which missed times are made up for: none, the last one, or all. */
  readonly catchUp: "none" | "last" | "all";
  /** True: someone has paused it, in any process; its times pass without a job. */
  readonly paused: boolean;
  /** The next time, ms since epoch. `undefined`: it is paused, or never comes again. */
  readonly nextAtMs: number | undefined;
  /** The latest time that was dealt with, ms since epoch; before the first, when it began. `undefined`: not read yet. */
  readonly lastAtMs: number | undefined;
  /** Id of its latest job. `undefined`: it has none yet, or is not read yet. */
  readonly lastJob: string | undefined;
  /** The latest time that had no job since the one before had not ended, ms since epoch. `undefined`: none. */
  readonly skippedAtMs: number | undefined;
}

/** Bounds to hold for a while. */
export interface Override {
  /** Instead of `size.min`. */
  readonly min?: number | undefined;
  /** Instead of `size.max`; at most `size.max`. */
  readonly max?: number | undefined;
  /** Instead of what the controller asks for. Caps still hold. */
  readonly target?: number | undefined;
}

/** What a stop came to. */
export interface StopReport {
  /** Ids of jobs that did not end before the deadline and went back, uncharged. */
  readonly handedBack: readonly string[];
  /** Ids of jobs whose handlers ignore their abort. */
  readonly stuck: readonly string[];
  /** Jobs that have ended, or go back, and of which the store has not taken that: they run again. */
  readonly unstored: number;
  /** Jobs still waiting in the store. */
  readonly waiting: number;
}

/** What is left after a slice. */
export interface SliceReport {
  /** Jobs that are ready, run here, or were due before the slice was to end: 0, or there is more to do. */
  readonly left: number;
}

/** How a config is reloaded. */
export interface ReloadOptions {
  /** True: only says what would change. @default {false} */
  readonly dryRun?: boolean | undefined;
  /**
   * True: no module is loaded that is not loaded yet, and no variable of the environment is read
   * that the config does not refer to yet. What comes over HTTP is held to it.
   *
   * @default {false}
   */
  readonly sealed?: boolean | undefined;
}

/** What a reload came to. */
export interface ReloadReport {
  /** What has changed, or would; empty: nothing. Only a dry run has any that are `refused`. */
  readonly changes: readonly ConfigChange[];
  /** Modules in use whose files have changed since they were loaded: only a restart runs their new code. */
  readonly stale: readonly string[];
  /** True: nothing was changed. */
  readonly dryRun: boolean;
}

/**
 * How a job is run as a call.
 *
 * @internal
 */
export interface RunOptions {
  /**
   * Gives up: the call throws the signal's reason at once, and the job is cancelled, unless it is a
   * duplicate of one that was there before.
   */
  readonly signal?: AbortSignal | undefined;
}

/** One running pool. */
export interface PoolHandle<Submit extends NewJob = NewJob> {
  /** Name from the config. */
  readonly name: string;
  /** What it runs with. */
  readonly settings: PoolSettings;
  /** A frozen copy of its view. */
  snapshot(): PoolSnapshot;
  /**
   * Jobs in the store by state, as counted last: whole pool, or one lane. In `done` are cancelled jobs too.
   * Those that have ended are not counted by lane, nor by each store: `undefined` then.
   */
  counts(lane?: string): {
    readonly ready: number;
    readonly blocked: number;
    readonly delayed: number;
    readonly running: number;
    readonly done?: number | undefined;
    readonly dead?: number | undefined;
  };
  /** Decisions, newest first. @param limit Most of them. @default {20} */
  explain(limit?: number): readonly Decision[];
  /** What has come of the jobs of each lane, highest priority first: counts and distributions for metrics. */
  tally(): readonly LaneCounters[];
  /** Its recent past: samples, oldest first. */
  history(): History;
  /**
   * What came to it recently, second by second. `undefined`: it began just now.
   *
   * @param forMs How much of the last ten minutes, ms. @default {600000}
   */
  recentLoad(forMs?: number): LoadRecord | undefined;
  /** What its recent past shows to be wrong, most pressing first. Empty: nothing. */
  diagnosis(): readonly Finding[];
  /**
   * Stores a job; resolves once it is stored.
   *
   * @throws {RejectedError} If admission or the lane's depth turns it away, and it is no duplicate.
   * @throws {IdempotencyError} If its idempotency key was used for another one.
   * @throws {TypeError} If the lane, type or payload does not fit.
   * @throws {RangeError} If a number is out of range.
   */
  enqueue<Type extends string>(
    job: Submit & { readonly type?: Type },
  ): Promise<JobHandle<ResultOf<Submit, Type>>>;
  /**
   * Runs a job like a function: stores it, waits for its end and answers what its handler returned.
   *
   * @throws {JobError} If the job ends without a result.
   * @throws {unknown} The reason of `signal`, if it aborts.
   * @throws {Error} As `enqueue` does.
   */
  run<Type extends string>(
    job: Submit & { readonly type?: Type },
    options?: RunOptions,
  ): Promise<ResultOf<Submit, Type>>;
  /** Stores many jobs at once. One answer each, in order: a handle, or the error it would have thrown. */
  enqueueAll(
    jobs: readonly Submit[],
  ): Promise<readonly (JobHandle<ResultOf<Submit, string>> | Error)[]>;
  /**
   * Stores a job and forgets it: like `enqueue`, but a fault of the store goes to the observers, as a
   * `job-unstored` event, or to the log where nobody observes; and so, as `job-shed`, does a rejection
   * of a job with a key that a durable store has to look for first.
   */
  post(job: Submit): void;
  /** Stops starting jobs of a lane, or of all. Running ones go on. */
  pause(lane?: string): Promise<void>;
  /** Resumes a lane, or the whole pool. */
  resume(lane?: string): Promise<void>;
  /**
   * Closes a circuit breaker in all processes: one job starts in each, then two at once, then four, until it
   * opens again. False: none was open.
   *
   * @param key Whose; empty for jobs without a key. Omitted: those of the pool and of its downstreams.
   * @throws {StoreError} If the store fails: it is closed in this process, in others once the store works.
   */
  closeBreaker(key?: string): Promise<boolean>;
  /** Overrides the bounds for a while. @throws {RangeError} If they do not fit `size` or are not whole. */
  override(bounds: Override, expiresInMs: number): void;
  /** Ends the override: the bounds are the config's again. */
  clearOverride(): void;
  /** The schedules, as the store knows them: a snapshot has what this process last read. */
  schedules(): Promise<readonly ScheduleView[]>;
  /**
   * Adds a job of a schedule now, past admission; or lets its times pass without a job, in all processes;
   * or not any more: its times begin again then. `undefined`: no schedule has the id.
   */
  changeSchedule(
    id: string,
    change: "run" | "pause" | "resume",
  ): Promise<ScheduleView | undefined>;
  /** Looks a job up. */
  find(id: string): Promise<JobRecord | undefined>;
  /** Lists jobs: oldest first, or with `order` those that ended last. */
  list(query: JobQuery): Promise<JobPage>;
  /** Cancels, revives or removes a job. */
  change(id: string, change: Change): Promise<Changed>;
  /** Starts no job, lets running jobs end, returns the rest to their lanes at the deadline. */
  drain(deadlineMs?: number): Promise<StopReport>;
}

/** A running config. `Jobs` maps pool names to what may be enqueued there. */
export interface Sluice<Jobs extends Record<string, NewJob> = Record<string, NewJob>> {
  /** Address of the admin API. `undefined`: none is served. */
  readonly adminUrl: string | undefined;
  /** The config as given, secrets as `{ "env": … }`. */
  readonly config: unknown;
  /** Aborts once `stop` has drained the pools: what would hold their server ends then. */
  readonly stopped: AbortSignal;
  /** What its jobs live in. */
  readonly store: Bound<"store">;
  /** Pools in config order. */
  readonly pools: readonly PoolHandle[];
  /** One pool. @throws {TypeError} If there is none of that name. */
  pool<Name extends keyof Jobs & string>(name: Name): PoolHandle<Jobs[Name]>;
  /** Stores a job; resolves once it is stored. Throws as `PoolHandle.enqueue` does. */
  enqueue<Name extends keyof Jobs & string, Type extends string>(
    pool: Name,
    job: Jobs[Name] & { readonly type?: Type },
  ): Promise<JobHandle<ResultOf<Jobs[Name], Type>>>;
  /** Runs a job like a function. Throws as `PoolHandle.run` does. */
  run<Name extends keyof Jobs & string, Type extends string>(
    pool: Name,
    job: Jobs[Name] & { readonly type?: Type },
    options?: RunOptions,
  ): Promise<ResultOf<Jobs[Name], Type>>;
  /** Stores a job and forgets it. Throws as `PoolHandle.post` does. */
  post<Name extends keyof Jobs & string>(pool: Name, job: Jobs[Name]): void;
  /**
   * W3C trace context of anyone who calls, as a job enqueued now carries it: for jobs that are gathered
   * and enqueued later. `undefined`: there is none, or nothing is traced.
   */
  traceparent(): string | undefined;
  /**
   * Tells `observer` of every event until the function it returns is called. With `jobs: false` only of
   * what comes with no job and no decision: then these events need not be made.
   */
  observe(observer: Observer, options?: { readonly jobs?: boolean }): () => void;
  /** Tells the observers what someone did from outside: an `audit` event. */
  audit(entry: AuditEntry): void;
  /**
   * Reloads the config: all of it, or nothing. What is configured as before goes on untouched,
   * with its memory; a changed strategy is swapped between two ticks; code of modules that are loaded
   * is not loaded again.
   *
   * @param config Path, `file:` URL or config to run instead. Omitted: what it was started with is
   * read again.
   * @throws {ConfigError} If there is any fault, or a change that only a restart can make: nothing has changed.
   */
  reload(config?: ConfigSource, options?: ReloadOptions): Promise<ReloadReport>;
  /**
   * Looks what there is to do, and waits until it is done; at most `forMs`, and no longer than the pools
   * run. They work in any case: this is for platforms that let a process live only as long as it
   * answers a request, so that the answer can be held as long as there is work.
   */
  slice(forMs: number): Promise<SliceReport>;
  /** Drains all pools and frees everything. Safe to call again. */
  stop(): Promise<StopReport>;
  /** Stops. */
  [Symbol.asyncDispose](): Promise<void>;
}
