/**
 * The admin API on the wire: what routes take and answer. JSON knows no `Infinity`: where a figure
 * may be unbounded, `null` says so.
 *
 * @module
 */

import type { Decision, DecisionPart } from "../../contract/decision.ts";
import type { Finding } from "../../explain/diagnose.ts";
import type { Happening } from "./happening.ts";
import type { History } from "../../planning/history.ts";
import type { PoolEvent } from "../../contract/event.ts";
import type { JobState, Outcome } from "../../contract/job.ts";
import type { Override, PoolHandle, PoolSnapshot, ScheduleView } from "../../runtime/handles.ts";
import type { LaneView, Signal } from "../../contract/view.ts";
import type { Waiting } from "../../explain/waiting.ts";

/** How a 404 begins where there is no such route: what the route is about may well be there. */
export const NO_ROUTE = "No route is";

/** Longest time an answer is held, ms. */
export const LONGEST_WAIT_MS = 60_000;

/** One fault of a request. */
export interface ProblemError {
  /** JSON Pointer into the body, or `?name` for a query parameter. Empty for the whole body. */
  readonly pointer: string;
  /** What is wrong, what is wanted, what to do. */
  readonly detail: string;
  /** Config file that it is in. Only for a reload. */
  readonly file?: string | undefined;
  /** Line in that file, from 1. */
  readonly line?: number | undefined;
  /** Column in that line, from 1. */
  readonly column?: number | undefined;
}

/** Why a request was refused: `application/problem+json`. */
export interface Problem {
  /** Always `about:blank`: the status says what kind of problem it is. */
  readonly type: "about:blank";
  /** Name of the status. */
  readonly title: string;
  /** The status. */
  readonly status: number;
  /** What is wrong and what to do. */
  readonly detail: string;
  /** Each fault with its place. Only for 400. */
  readonly errors?: readonly ProblemError[] | undefined;
  /** Names that exist. Only for a 404 of a pool. */
  readonly pools?: readonly string[] | undefined;
  /** When to come back, ms. Only for 429. */
  readonly retryAfterMs?: number | undefined;
  /** Why the job was rejected. Only for 429. */
  readonly reason?: string | undefined;
  /** What became of each job of many. */
  readonly results?: readonly unknown[] | undefined;
}

/** A lane as shown. */
export interface LaneJson extends Omit<LaneView, "maxRunning"> {
  /** How many of its jobs may run at once in this process. `null`: no bound. */
  readonly maxRunning: number | null;
}

/** What a strategy asked for, as shown. */
export interface DecisionPartJson extends Omit<DecisionPart, "workers"> {
  /** Workers it asked for or allows. `null`: no bound. */
  readonly workers: number | null;
}

/** A decision as shown. */
export interface DecisionJson extends Omit<Decision, "proposals"> {
  /** What each strategy asked for. */
  readonly proposals: readonly DecisionPartJson[];
}

/** A reading of a downstream system, as shown. */
export interface SignalJson extends Omit<Signal, "value"> {
  /** The last value read. `null`: it is no finite number. */
  readonly value: number | null;
}

/** A pool as shown. */
export interface PoolJson extends
  Omit<
    PoolSnapshot,
    "readyOlderThan" | "lanes" | "limit" | "startsPerSec" | "signals" | "decision"
  > {
  /** Lanes, highest priority first. */
  readonly lanes: readonly LaneJson[];
  /** The tightest bound of the last decision. `null`: none yet. */
  readonly limit: number | null;
  /** Most starts per second that the last decision allows, fractions too. `null`: no bound. */
  readonly startsPerSec: number | null;
  /** Readings of downstream systems by name, as configured under `signals`. */
  readonly signals: Readonly<Record<string, SignalJson>>;
  /** The latest decision. Left out before the first tick. */
  readonly decision?: DecisionJson | undefined;
  /** What its recent past shows to be wrong, most pressing first. */
  readonly diagnosis: readonly Finding[];
  /** Its jobs by state, as counted last. In `done` are cancelled jobs too. */
  readonly jobs: ReturnType<PoolHandle["counts"]>;
}

/** The recent past of a pool as shown. */
export interface HistoryJson extends History {
  /** What people and the system did to it in the last hour, oldest first. */
  readonly happenings: readonly Happening[];
}

/** An event as the data of an event stream's message: a decision in it is as shown. */
export type EventJson = PoolEvent extends infer Event
  ? Event extends { readonly decision: Decision }
    ? Omit<Event, "decision"> & { readonly decision: DecisionJson }
  : Event
  : never;

/** What happened, as far as it is kept. */
export interface PastEventsJson {
  /** Since when events are kept: the start of the process, as a rule. ms since epoch. */
  readonly keptSinceMs: number;
  /** Newest first. */
  readonly events: readonly EventJson[];
}

/** An accepted job. */
export interface Accepted {
  /** Id of the job, or of the one it duplicates. */
  readonly id: string;
  /** Id of the job that has the same `dedupeKey`: no second one was stored. Only then. */
  readonly duplicateOf?: string | undefined;
  /** How it ended. Only with `?waitMs=`, and if it ended in time. */
  readonly outcome?: Outcome | undefined;
}

/** What became of one job of many. */
export type BulkResult =
  | { readonly id: string }
  | { readonly duplicateOf: string }
  | { readonly error: string; readonly retryAfterMs?: number | undefined };

/** What became of many jobs, in order. */
export interface BulkAccepted {
  /** One answer a job. */
  readonly results: readonly BulkResult[];
}

/** Why a job waits. */
export interface WaitingJson {
  /** Its id. */
  readonly id: string;
  /** Its state. */
  readonly state: JobState;
  /** When that was so, ms since epoch. */
  readonly nowMs: number;
  /** Its place, what holds it, and when it may start. `null`: it does not wait. */
  readonly waiting: Waiting | null;
}

/** What a change did to a job. */
export interface ChangedJson {
  /** Its id. */
  readonly id: string;
  /** Its state now. */
  readonly state: JobState | "removed";
  /** True: it runs, and its handler was asked to stop. Left out otherwise. */
  readonly cancelling?: true | undefined;
}

/** What a pause or resume did. */
export interface PausedJson {
  /** Name of the pool. */
  readonly pool: string;
  /** Name of the lane. `null`: the whole pool. */
  readonly lane: string | null;
  /** True: no job of it starts. */
  readonly paused: boolean;
}

/** What closing a circuit breaker did. */
export interface BreakerClosedJson {
  /** Name of the pool. */
  readonly pool: string;
  /** The key whose jobs it is about; empty for jobs without a key. `null`: all of the pool. */
  readonly key: string | null;
  /** True: it was open or half-open, and is closed now. False: it was closed. */
  readonly closed: boolean;
}

/** An override in effect. */
export interface OverrideJson {
  /** Name of the pool. */
  readonly pool: string;
  /** Bounds and when they end. `null`: the config's hold. */
  readonly override: (Override & { readonly untilMs: number }) | null;
}

/** The latest job of a schedule. */
export interface ScheduledJobJson {
  /** Its id. */
  readonly id: string;
  /** Its state. `deleted`: it has ended, and is no longer kept. */
  readonly state: JobState | "deleted";
  /** When it was added. Left out: it is deleted. */
  readonly createdAtMs?: number | undefined;
  /** When it ended. Left out: it has not, or is deleted. */
  readonly endedAtMs?: number | undefined;
  /** Why it failed. Only of a dead job. */
  readonly error?: string | undefined;
}

/** A schedule as shown. */
export interface ScheduleJson extends Omit<ScheduleView, "lastJob" | "lastAtMs"> {
  /** Name of its pool. */
  readonly pool: string;
  /** When its latest job was added, ms since epoch. Left out: it has none yet. */
  readonly lastAtMs?: number | undefined;
  /** Its latest job. Left out: it has none yet, or its process ended before it said which. */
  readonly job?: ScheduledJobJson | undefined;
}

/** Long work on many jobs. */
export interface OperationJson {
  /** Its id. */
  readonly id: string;
  /** Name of the pool. */
  readonly pool: string;
  /** What it does: make dead jobs ready, forget ended ones, cancel those that wait. */
  readonly action: "retry" | "discard" | "purge";
  /** Only this lane. Left out: all. */
  readonly lane?: string | undefined;
  /** Only this state. Left out: those that the action is for. */
  readonly state?: JobState | undefined;
  /** Only jobs with this text in them. Left out: all. */
  readonly match?: string | undefined;
  /** Its status. */
  readonly status: "running" | "done" | "cancelled" | "failed";
  /** When it began. */
  readonly startedAtMs: number;
  /** When it ended. Left out while it runs. */
  readonly endedAtMs?: number | undefined;
  /** Jobs looked at so far. */
  readonly seen: number;
  /** Jobs that matched. */
  readonly matched: number;
  /** Jobs that were changed; the others had changed by themselves. */
  readonly changed: number;
  /** Jobs to look at, as computed at the start. Left out if unknown. */
  readonly total?: number | undefined;
}

/** What a bulk operation is to do: one of `retry`, `discard` and `purge`. */
export interface OperationRequest {
  /** Makes dead jobs ready again: all of the pool, unless lane and match choose. */
  readonly retry?: true | undefined;
  /** Forgets ended jobs, dead ones unless state says which: all of the pool, unless lane and match choose. */
  readonly discard?: true | undefined;
  /** Cancels jobs that wait, delayed, ready and blocked ones unless state says which: all of the pool, unless lane and match choose. */
  readonly purge?: true | undefined;
  /** Only this lane. */
  readonly lane?: string | undefined;
  /** Only this state. */
  readonly state?: Exclude<JobState, "running"> | undefined;
  /** Only jobs with this text in id, key, type, error or payload, in any case. */
  readonly match?: string | undefined;
  /** Only jobs of this group of failures, as `GET /api/failures` names it. */
  readonly group?: string | undefined;
}

/** What is to differ from a job that is enqueued again. What is left out is as it was. */
export interface AgainBody {
  /** Name of a lane of its pool. */
  readonly lane?: string | undefined;
  /** Which of the pool's handlers runs it. */
  readonly type?: string | undefined;
  /** Its key. `null`: none. */
  readonly key?: string | null | undefined;
  /** Its payload, as it was shown: what is still `[redacted]` in it is as it was. */
  readonly payload?: unknown;
}

/** What to override, and for how long. */
export interface OverrideBody extends Override {
  /** How long the override lasts, ms. */
  readonly expiresInMs: number;
}

/** What to pause, or to go on with. */
export interface PauseBody {
  /** Only this lane; else the pool. */
  readonly lane?: string | undefined;
}

/** Which circuit breaker to close. */
export interface BreakerBody {
  /** Only that of this key; empty for jobs without a key. Else that of the pool. */
  readonly key?: string | undefined;
}

/** How to drain. */
export interface DrainBody {
  /** Jobs that have not ended by then go back. Default: the pool's drainMs. */
  readonly deadlineMs?: number | undefined;
}

/** What to load. */
export interface ReloadBody {
  /** A config instead of the file; it may not name modules that are not loaded. */
  readonly config?: Readonly<Record<string, unknown>> | undefined;
}

/** Who logs in. */
export interface LoginBody {
  /** The admin or the viewer token. */
  readonly token: string;
}

/** A plugin in use. */
export interface PluginJson {
  /** Name of its pool. Empty for the store, which all pools share. */
  readonly pool: string;
  /** What it is: `store`, `controller`, `lane-policy`, `cap`, `retirement`, `admission` or `handler`. */
  readonly kind: string;
  /** Its name. */
  readonly name: string;
  /** Job type that it runs. Only for one of several handlers. */
  readonly type?: string | undefined;
  /** Its options as given, redacted. */
  readonly with?: unknown;
  /** What its options may be, as JSON Schema (draft-07). */
  readonly options: object;
}

/** Whether the system can take and run jobs. */
export interface Readiness {
  /** True: all pools run and their stores answer. */
  readonly ready: boolean;
  /** What is wrong. Left out when ready. */
  readonly reasons?: readonly string[] | undefined;
}

/** A login that counts. */
export interface LoginJson {
  /** What it allows. */
  readonly role: "admin" | "viewer";
  /** When it ends. */
  readonly untilMs: number;
}

/** What a logout answers. */
export interface LogoutJson {
  /** The session has ended, or there was none. */
  readonly loggedOut: true;
}

/** What a process answers that is there. */
export interface HealthJson {
  /** It is. */
  readonly ok: true;
}

/** The config as given, secrets as `{ env }`. */
export type ConfigJson = Readonly<Record<string, unknown>>;

/** What goes over the wire where it is not JSON: text of that type. */
export interface Media<Type extends string> {
  /** Only for inference; never present at run time. */
  readonly "~type": Type;
}
