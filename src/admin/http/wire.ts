/**
 * The admin API on the wire: what routes take and answer. JSON knows no `Infinity`: where a figure
 * may be unbounded, `null` says so.
 *
 * @module
 */

import type { Decision, DecisionPart } from "../../contract/decision.ts";
import type { Finding } from "../../explain/diagnose.ts";
import type { PoolEvent } from "../../contract/event.ts";
import type { History } from "../../planning/history.ts";
import type { JobRecord, JobState, NewJob, Outcome } from "../../contract/job.ts";
import type { Override, PoolSnapshot, ReloadReport, StopReport } from "../../runtime/handles.ts";
import type { LaneView } from "../../contract/view.ts";
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
  /** Config file that it stands in. Only for a reload. */
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
  /** Why the job was turned away. Only for 429. */
  readonly reason?: string | undefined;
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

/** A pool as shown. */
export interface PoolJson
  extends Omit<PoolSnapshot, "readyOlderThan" | "lanes" | "limit" | "decision"> {
  /** Lanes, highest priority first. */
  readonly lanes: readonly LaneJson[];
  /** The tightest bound of the last decision. `null`: none yet. */
  readonly limit: number | null;
  /** The latest decision. Left out before the first tick. */
  readonly decision?: DecisionJson | undefined;
  /** What its recent past shows to be amiss, most pressing first. */
  readonly diagnosis: readonly Finding[];
}

/** An event as the data of an event stream's message: a decision in it is as shown. */
export type EventJson = PoolEvent extends infer Event
  ? Event extends { readonly decision: Decision }
    ? Omit<Event, "decision"> & { readonly decision: DecisionJson }
  : Event
  : never;

/** A job that was taken in. */
export interface Accepted {
  /** Id of the job, or of the one it duplicates. */
  readonly id: string;
  /** Id of the job with the same `dedupeKey` that has not ended. Only then. */
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
  /** Where it stands. */
  readonly state: JobState;
  /** Its place, what holds it, and when it may start. `null`: it does not wait. */
  readonly waiting: Waiting | null;
}

/** A page of jobs. */
export interface JobPageJson {
  /** Records, redacted: those that ended last first, then the others, oldest first. */
  readonly jobs: readonly JobRecord[];
  /** Give it as `?cursor=` to go on. Left out: this was the last page. */
  readonly cursor?: string | undefined;
}

/** What a change did to a job. */
export interface ChangedJson {
  /** Its id. */
  readonly id: string;
  /** Where it stands now. */
  readonly state: JobState | "removed";
  /** True: it runs, and its handler was asked to end. Left out otherwise. */
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

/** An override in force. */
export interface OverrideJson {
  /** Name of the pool. */
  readonly pool: string;
  /** Bounds and when they end. `null`: the config's hold. */
  readonly override: (Override & { readonly untilMs: number }) | null;
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
  /** How it stands. */
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
  /** Jobs to look at, as reckoned at the start. Left out where nobody knows. */
  readonly total?: number | undefined;
}

/** What a bulk operation is to do: one of `retry`, `discard` and `purge`. */
export interface OperationRequest {
  /** Make dead jobs ready again. */
  readonly retry?: true;
  /** Forget ended jobs: dead ones unless `state` says which. */
  readonly discard?: true;
  /** Cancel jobs that wait. */
  readonly purge?: true;
  /** Only this lane. */
  readonly lane?: string;
  /** Only this state. */
  readonly state?: Exclude<JobState, "running">;
  /** Only jobs with this text in id, key, type, error or payload. */
  readonly match?: string;
}

/** What to override, and for how long. */
export interface OverrideBody extends Override {
  /** Ends after so many ms. */
  readonly expiresInMs: number;
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
  /** What is amiss. Left out when ready. */
  readonly reasons?: readonly string[] | undefined;
}

type Answer<Input, Output, Status extends number> = {
  input: Input;
  output: Output;
  outputFormat: "json";
  status: Status;
};

/** A route: what it takes, what it answers, or a problem. */
type Endpoint<Input, Output, Status extends number = 200> =
  | Answer<Input, Output, Status>
  | Answer<Input, Problem, 400 | 401 | 403 | 404 | 409 | 413 | 415 | 421 | 429 | 500 | 503>;

type Nothing = Record<never, never>;
type OnPool = { param: { pool: string } };
type OnJob = { param: { id: string } };

/**
 * Routes about pools, as `hc` reads them.
 *
 * @internal
 */
export type PoolRoutes = {
  "/api/pools": { $get: Endpoint<Nothing, readonly PoolJson[]> };
  "/api/pools/:pool": { $get: Endpoint<OnPool, PoolJson> };
  "/api/pools/:pool/decisions": {
    $get: Endpoint<OnPool & { query: { limit?: string } }, readonly DecisionJson[]>;
  };
  "/api/pools/:pool/history": {
    $get: Endpoint<OnPool & { query: { afterMs?: string } }, History>;
  };
  "/api/pools/:pool/pause": { $post: Endpoint<OnPool & { json: { lane?: string } }, PausedJson> };
  "/api/pools/:pool/resume": { $post: Endpoint<OnPool & { json: { lane?: string } }, PausedJson> };
  "/api/pools/:pool/drain": {
    $post: Endpoint<OnPool & { json: { deadlineMs?: number } }, StopReport>;
  };
  "/api/pools/:pool/override": {
    $put: Endpoint<OnPool & { json: OverrideBody }, OverrideJson>;
    $delete: Endpoint<OnPool, OverrideJson>;
  };
};

/**
 * Routes about jobs, as `hc` reads them.
 *
 * @internal
 */
export type JobRoutes = {
  "/api/pools/:pool/jobs": {
    $post:
      | Endpoint<
        OnPool & { query: { waitMs?: string }; json: NewJob | readonly NewJob[] },
        Accepted,
        202
      >
      | Answer<
        OnPool & { query: { waitMs?: string }; json: NewJob | readonly NewJob[] },
        Accepted | BulkAccepted,
        200
      >;
    $get: Endpoint<
      OnPool & {
        query: { state?: string; lane?: string; match?: string; limit?: string; cursor?: string };
      },
      JobPageJson
    >;
  };
  "/api/jobs/:id": {
    $get: Endpoint<OnJob & { query: { waitMs?: string } }, JobRecord>;
    $delete: Endpoint<OnJob, ChangedJson>;
  };
  "/api/jobs/:id/cancel": { $post: Endpoint<OnJob, ChangedJson> };
  "/api/jobs/:id/retry": { $post: Endpoint<OnJob, ChangedJson> };
};

/**
 * The route that says why a job waits, as `hc` reads it.
 *
 * @internal
 */
export type WaitingRoutes = {
  "/api/jobs/:id/waiting": { $get: Endpoint<OnJob, WaitingJson> };
};

/**
 * The event stream, as `hc` reads it. Its data are `EventJson`.
 *
 * @internal
 */
export type EventRoutes = {
  "/api/events": {
    $get: {
      input: { query: { pool?: string | string[]; kind?: string | string[]; after?: string } };
      output: ReadableStream<Uint8Array>;
      outputFormat: "body";
      status: 200;
    } | Answer<Nothing, Problem, 400 | 401 | 403 | 421 | 503>;
  };
};

/** A login that counts. */
export interface LoginJson {
  /** What it allows. */
  readonly role: "admin" | "viewer";
  /** When it ends. */
  readonly untilMs: number;
}

/**
 * Login and logout, as `hc` reads them. Only with tokens.
 *
 * @internal
 */
export type LoginRoutes = {
  "/login": { $post: Endpoint<{ json: { token: string } }, LoginJson> };
  "/logout": { $post: Endpoint<Nothing, { readonly loggedOut: true }> };
};

/**
 * Routes about bulk operations, as `hc` reads them.
 *
 * @internal
 */
export type OperationRoutes = {
  "/api/pools/:pool/operations": {
    $post: Endpoint<OnPool & { json: OperationRequest }, OperationJson, 202>;
  };
  "/api/operations": { $get: Endpoint<Nothing, readonly OperationJson[]> };
  "/api/operations/:id": {
    $get: Endpoint<OnJob, OperationJson>;
    $delete: Endpoint<OnJob, OperationJson>;
  };
};

/**
 * Routes about the whole, as `hc` reads them.
 *
 * @internal
 */
export type SystemRoutes = {
  "/healthz": { $get: Answer<Nothing, { readonly ok: true }, 200> };
  "/readyz": { $get: Answer<Nothing, Readiness, 200 | 503> };
  "/api/config": { $get: Endpoint<Nothing, unknown> };
  "/api/plugins": { $get: Endpoint<Nothing, readonly PluginJson[]> };
  "/api/reload": {
    $post: Endpoint<{ query: { dryRun?: string }; json: { config?: unknown } }, ReloadReport>;
  };
};
