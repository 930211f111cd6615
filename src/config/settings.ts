/**
 * What pools run with: a config after parsing, with every default filled in and every plugin bound.
 *
 * @module
 */

import type { Backoff } from "../base/backoff.ts";
import type { Bound } from "../contract/plugin.ts";
import type { Keep } from "../contract/store.ts";
import type { HandOnInput, LaneInput, PoolInput, RateInput, RouteInput } from "./input.ts";
import type { ScheduleInput, SizeInput } from "./time_input.ts";
import type { SharedUse } from "../planning/permits.ts";
import type { SignalReader } from "../contract/strategy.ts";

/** What is given, with every key that may be left out filled in. Comments of the input stay. */
export type Filled<Given> = {
  readonly [Key in keyof Given]-?: Exclude<Given[Key], undefined>;
};

/** One lane. What has no bound is `Infinity`. */
export interface LaneSettings extends
  Omit<
    Filled<LaneInput>,
    | "startWithinMs"
    | "deadlineMs"
    | "timeoutMs"
    | "backoff"
    | "dedupe"
    | "expect"
    | "onDead"
    | "then"
  > {
  /** Within how long growth aims to start what waits, ms. `undefined`: it does not. */
  readonly startWithinMs: number | undefined;
  /** Sojourn within which a job is still of use, ms. `undefined`: always. */
  readonly deadlineMs: number | undefined;
  /** Longest run of one attempt, ms. `undefined`: the pool's. */
  readonly timeoutMs: number | undefined;
  /** Wait between attempts. */
  readonly backoff: Backoff;
  /** Where the record of a dead job is handed on to. `undefined`: nowhere. */
  readonly onDead: HandOnInput | undefined;
  /** Where the result of a done job is handed on to. `undefined`: nowhere. */
  readonly then: HandOnInput | undefined;
  /** What a job's `dedupeKey` does. `undefined`: it is the job's until that ends. */
  readonly dedupe: LaneInput["dedupe"];
  /** Load the lane is expected to carry. `undefined`: not said. */
  readonly expect: LaneInput["expect"];
}

/** True if jobs of a lane need a slot of their key. */
export function hasKeySlots({ maxRunningPerKey, ratesPerKey }: LaneSettings): boolean {
  return maxRunningPerKey < Infinity || ratesPerKey.length > 0;
}

/** One cap with what the core does about it. */
export interface CapSettings {
  /** The plugin with its options. */
  readonly bound: Bound<"cap">;
  /** `cluster`: holds over all processes of the store together; `process`: in each. */
  readonly scope: "cluster" | "process";
  /** Least time between two reports of this process about its part of a cluster cap, ms. */
  readonly reportMs: number;
  /** The named downstream that it is about. `undefined`: none, it is this pool's alone. */
  readonly shared?: SharedUse | undefined;
}

/** A named downstream. */
export interface DownstreamSettings {
  /** What pools call it. */
  readonly name: string;
  /** Connections that it allows. `undefined`: that is not said. */
  readonly connections: number | undefined;
  /** Calls that it takes. Empty: that is not said. */
  readonly rates: readonly RateInput[];
  /** What opens its circuit breaker. `undefined`: it has none. */
  readonly cooldown: CooldownSettings | undefined;
}

/** Jobs that come by themselves, by `cron` or by `everyMs`. The type is empty for the only handler. */
export interface ScheduleSettings extends Omit<Filled<ScheduleInput>, "cron" | "everyMs"> {
  /** When they come. `undefined`: it has an interval. */
  readonly cron: string | undefined;
  /** Their interval, ms. `undefined`: it has a cron text. */
  readonly everyMs: number | undefined;
}

/** Bounds of the worker count by time. */
export type SizeSettings = Filled<SizeInput>;

/** Where jobs go that name no lane. */
export type RouteSettings = Filled<RouteInput>;

/** How a pool reacts to a receiver that says "not now". */
export type CooldownSettings = Filled<Exclude<PoolInput["cooldown"], false | undefined>>;

/**
 * One pool.
 *
 * @internal
 */
export interface PoolSettings extends
  Pick<
    Filled<PoolInput>,
    "size" | "tickMs" | "leaseMs" | "timeoutMs" | "timeoutMsByType" | "drainMs"
  > {
  /** Name, unique within the config. */
  readonly name: string;
  /** Handlers by job type; the only one has type "". */
  readonly handlers: ReadonlyMap<string, Bound<"handler">>;
  /** Bounds by time instead of `size`. */
  readonly sizes: readonly SizeSettings[];
  /** Lanes, highest priority first, at least one. */
  readonly lanes: readonly LaneSettings[];
  /** Lanes of jobs that name none, in order. */
  readonly routes: readonly RouteSettings[];
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
  /** The same of downstreams that it uses and that have a circuit breaker, by name. */
  readonly cooldowns: ReadonlyMap<string, CooldownSettings>;
  /** Which workers stop? */
  readonly retirement: Bound<"retirement">;
  /** Take this job? */
  readonly admission: Bound<"admission">;
  /** Read before each tick. */
  readonly signals: ReadonlyMap<string, SignalReader>;
  /** Jobs that come by themselves. */
  readonly schedules: readonly ScheduleSettings[];
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
  /** Path that a proxy takes off. */
  readonly basePath?: string | undefined;
  /** Addresses of proxies that say what they take off. */
  readonly trustedProxies?: readonly string[] | undefined;
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
  /** Named downstreams in config order. */
  readonly downstreams: readonly DownstreamSettings[];
  /** Pools in config order. */
  readonly pools: readonly PoolSettings[];
  /** The config as given, secrets as `{ "env": … }`: what may be shown. */
  readonly shown: unknown;
}
