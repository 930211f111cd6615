/**
 * What pools run with: a config after parsing, with every default filled in and every plugin bound.
 *
 * @module
 */

import type { Bound } from "../contract/plugin.ts";
import type { Keep } from "../contract/store.ts";
import type { SignalReader } from "../contract/strategy.ts";

/** How long a failed job waits before its next attempt. */
export interface Backoff {
  /** Wait after the first failure, ms; doubles with each further one. */
  readonly baseMs: number;
  /** Longest wait, ms, before jitter. */
  readonly maxMs: number;
  /** Share of the wait that is added by chance, 0 to 1: never earlier, always spread. */
  readonly jitter: number;
}

/** One lane. */
export interface LaneSettings {
  /** Name, unique within the pool. */
  readonly name: string;
  /** Wait that growth aims to stay below, ms. `null`: causes no growth beyond one worker. */
  readonly targetWaitMs: number | null;
  /** Sojourn within which a job is still of use, ms. */
  readonly deadlineMs: number | undefined;
  /** Most jobs that wait: ready, blocked and delayed. `Infinity`: no bound. */
  readonly maxDepth: number;
  /** Most jobs that run in this process. `Infinity`: no bound. */
  readonly maxRunning: number;
  /** Most jobs of one key that run, over all processes. `Infinity`: no bound. */
  readonly maxRunningPerKey: number;
  /** Latest start, ms from the enqueue: dead after that. `Infinity`: none. */
  readonly ttlMs: number;
  /** How often a job may be started before it is dead, >= 1. */
  readonly attempts: number;
  /** Wait between attempts. */
  readonly backoff: Backoff;
  /** Share under contention, > 0. */
  readonly weight: number;
  /** True: paused as long as nobody resumes it. */
  readonly paused: boolean;
  /** Load the lane is expected to carry, for the feasibility check. */
  readonly expect: { readonly perSec: number; readonly serviceMs: number } | undefined;
}

/** One cap with what the core does about it. */
export interface CapSettings {
  /** The plugin with its options. */
  readonly bound: Bound<"cap">;
  /** `cluster`: holds over all processes of the store together; `process`: in each. */
  readonly scope: "cluster" | "process";
  /** Least time between two reports of this process about its part of a cluster cap, ms. */
  readonly reportMs: number;
}

/** Jobs that come by themselves. */
export interface ScheduleSettings {
  /** Lane that they go to. */
  readonly lane: string;
  /** Name of their handler; empty for the only one. */
  readonly type: string;
  /** When they come. */
  readonly cron: string;
  /** Time zone of `cron`. */
  readonly timezone: string;
  /** What to work on. */
  readonly payload: unknown;
  /** Which missed times are made up for: none, the last one, or all. */
  readonly catchUp: "none" | "last" | "all";
}

/** How a pool reacts to a receiver that says "not now". */
export interface CooldownSettings {
  /** Refusals in a row that close the pool, >= 1. */
  readonly after: number;
  /** First wait if the receiver names no time, ms. It doubles. */
  readonly minMs: number;
  /** Longest such wait, ms, >= `minMs`. */
  readonly maxMs: number;
}

/**
 * One pool.
 *
 * @internal
 */
export interface PoolSettings {
  /** Name, unique within the config. */
  readonly name: string;
  /** Handlers by job type; the only one has type "". */
  readonly handlers: ReadonlyMap<string, Bound<"handler">>;
  /** Bounds of the worker count in this process. */
  readonly size: { readonly min: number; readonly max: number };
  /** Lanes, highest priority first, at least one. */
  readonly lanes: readonly LaneSettings[];
  /** How many workers? */
  readonly controller: Bound<"controller">;
  /** A controller that is asked on the same views, without effect. `undefined`: none. */
  readonly shadow: Bound<"controller"> | undefined;
  /** Which lane next? */
  readonly lanePolicy: Bound<"lane-policy">;
  /** How far may it grow? In config order. */
  readonly caps: readonly CapSettings[];
  /** What it does while its receiver says "not now". `undefined`: nothing. */
  readonly cooldown: CooldownSettings | undefined;
  /** Which workers stop? */
  readonly retirement: Bound<"retirement">;
  /** Take this job? */
  readonly admission: Bound<"admission">;
  /** Read before each tick. */
  readonly signals: ReadonlyMap<string, SignalReader>;
  /** Jobs that come by themselves. */
  readonly schedules: readonly ScheduleSettings[];
  /** Time between ticks, ms. */
  readonly tickMs: number;
  /** A process that has not renewed for so long is dead, ms. */
  readonly leaseMs: number;
  /** Longest run of one attempt, ms. `Infinity`: no limit. */
  readonly timeoutMs: number;
  /** How long a drain waits for running jobs, ms. */
  readonly drainMs: number;
  /** How many ended jobs are kept. */
  readonly keep: Keep;
}

/** The admin API. */
export interface AdminSettings {
  /** Address to bind. */
  readonly hostname: string;
  /** Port to bind; 0 picks a free one. */
  readonly port: number;
  /** May read and write. `undefined`: none, so loopback only. */
  readonly adminToken: string | undefined;
  /** May read. */
  readonly viewerToken: string | undefined;
  /** `Host` names answered besides loopback's. */
  readonly allowedHosts: readonly string[];
  /** Where findings are reported. `undefined`: nowhere. */
  readonly alerts?: AlertSettings | undefined;
}

/** Where findings are reported. */
export interface AlertSettings {
  /** Address that is posted to. It may hold a secret. */
  readonly url: string;
  /** Shown as a bearer token. `undefined`: none is. */
  readonly token: string | undefined;
  /** Codes of findings that are not told. */
  readonly ignore: readonly string[];
}

/** A whole config. */
export interface Settings {
  /** Where jobs live. */
  readonly store: Bound<"store">;
  /** The admin API. `undefined`: not configured. */
  readonly admin: AdminSettings | undefined;
  /** Names of payload fields that are not shown. */
  readonly redact: readonly string[];
  /** Pools in config order. */
  readonly pools: readonly PoolSettings[];
  /** The config as given, secrets as `{ "env": … }`: what may be shown. */
  readonly shown: unknown;
}
