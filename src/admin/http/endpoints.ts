/**
 * Every endpoint of the admin API: what it takes, what it answers, and what that means. Routes, their
 * checks, the types of `hc`, the calls of the command line and the OpenAPI document come from here: a
 * new one is an entry below and a handler. The first sentence of its comment is its summary;
 * `deno task openapi` writes the comments into the document.
 *
 * @module
 */

import type { LoadRecord } from "../../planning/load_record.ts";
import type { JobRecord, JobState, NewJob } from "../../contract/job.ts";
import type { ReloadReport, StopReport } from "../../runtime/handles.ts";
import type {
  Accepted,
  AgainBody,
  BreakerBody,
  BreakerClosedJson,
  BulkAccepted,
  ChangedJson,
  ConfigJson,
  DecisionJson,
  DrainBody,
  HealthJson,
  HistoryJson,
  LoginBody,
  LoginJson,
  LogoutJson,
  Media,
  OperationJson,
  OperationRequest,
  OverrideBody,
  OverrideJson,
  PastEventsJson,
  PauseBody,
  PausedJson,
  PluginJson,
  PoolJson,
  Readiness,
  ReloadBody,
  WaitingJson,
} from "./wire.ts";
import type { ScheduleEndpoints } from "./schedule_endpoints.ts";
import type { FailuresJson } from "./wire_failures.ts";
import type { JobCountJson, JobPageJson, PoolsJobPageJson } from "./wire_lists.ts";
import type { WhatIfBody, WhatIfJson } from "./wire_what_if.ts";

/**
 * Pools: look, pause, resume, drain, override.
 *
 * @internal
 */
export interface PoolEndpoints {
  /** All pools, each with its last decision and diagnosis. */
  "GET /api/pools": { answers: { 200: readonly PoolJson[] }; problems: 400 };
  /** One pool. */
  "GET /api/pools/:pool": { answers: { 200: PoolJson }; problems: 400 | 404 };
  /**
   * Half a page for a chat, as Markdown: what is wrong, figures, the last five decisions, the top three
   * errors, commands; times in UTC.
   */
  "GET /api/pools/:pool/report": {
    answers: { 200: Media<"text/markdown"> };
    problems: 400 | 404;
  };
  /** Decisions, newest first. */
  "GET /api/pools/:pool/decisions": {
    query: {
      /** Most entries, from 1; more than 1000 count as 1000. Default: 20. */
      limit?: number;
    };
    answers: { 200: readonly DecisionJson[] };
    problems: 400 | 404;
  };
  /**
   * The recent past: a sample a second for two minutes, one a minute for an hour before. Oldest first.
   * A pool at rest takes no samples: the last one remains valid. Beside them, what people and the system did.
   */
  "GET /api/pools/:pool/history": {
    query: {
      /** Only what came after this, ms since epoch. */
      afterMs?: number;
    };
    answers: { 200: HistoryJson };
    problems: 400 | 404;
  };
  /** What came to a pool in the last ten minutes, second by second: what `sluice whatif` plays again. */
  "GET /api/pools/:pool/load": {
    query: {
      /** How much of it, ms, from 2000; more than 600000 count as 600000. Default: 600000. */
      forMs?: number;
    };
    answers: { 200: LoadRecord };
    problems: 400 | 404 | 409;
  };
  /**
   * Simulates the last ten minutes with changes of the config, beside the pools. One question is
   * answered at a time, each within a minute.
   */
  "POST /api/pools/:pool/whatif": {
    body: WhatIfBody;
    answers: { 200: WhatIfJson };
    problems: 400 | 404 | 409 | 413 | 415 | 503;
  };
  /** Pauses a lane, or the whole pool: no job starts; running jobs continue. */
  "POST /api/pools/:pool/pause": {
    body: PauseBody;
    answers: { 200: PausedJson };
    problems: 400 | 404 | 409 | 413 | 415 | 503;
  };
  /** Resumes a lane, or the whole pool. */
  "POST /api/pools/:pool/resume": {
    body: PauseBody;
    answers: { 200: PausedJson };
    problems: 400 | 404 | 409 | 413 | 415 | 503;
  };
  /**
   * Closes a circuit breaker in all processes: one job starts in each, then two at once, then four. It
   * opens again if the receiver refuses them.
   */
  "POST /api/pools/:pool/close-breaker": {
    body: BreakerBody;
    answers: { 200: BreakerClosedJson };
    problems: 400 | 404 | 409 | 413 | 415 | 503;
  };
  /** Starts no job, lets running jobs end, returns the rest to their lanes at the deadline. */
  "POST /api/pools/:pool/drain": {
    body: DrainBody;
    answers: { 200: StopReport };
    problems: 400 | 404 | 413 | 415;
  };
  /** Overrides the bounds for a while. */
  "PUT /api/pools/:pool/override": {
    body: OverrideBody;
    answers: { 200: OverrideJson };
    problems: 400 | 404 | 409 | 413 | 415;
  };
  /** Ends the override: the bounds are the config's again. */
  "DELETE /api/pools/:pool/override": {
    answers: { 200: OverrideJson };
    problems: 400 | 404 | 409;
  };
}

/**
 * Jobs: take in, look up, list, change.
 *
 * @internal
 */
export interface JobEndpoints {
  /**
   * Enqueues a job, or up to 1,000. 202: stored. 200: a duplicate, a job that was waited for, or one
   * answer each of many. 429 with Retry-After: rejected; of many, only if all were.
   */
  "POST /api/pools/:pool/jobs": {
    query: {
      /** Waits for the end of the job before it answers, ms (60,000 at most). One job only. */
      waitMs?: number;
    };
    headers: {
      /**
       * Sent again with the same key, the job of the first request is answered as duplicateOf, also for
       * ten minutes after it has ended; with the same key and another body the answer is 422. It is the
       * dedupeKey too of a job that has none. Of many jobs each gets KEY#PLACE.
       */
      "Idempotency-Key"?: string;
    };
    body: NewJob | readonly NewJob[];
    answers: { 200: Accepted | BulkAccepted; 202: Accepted };
    problems: 400 | 404 | 413 | 415 | 422 | 429 | 503;
  };
  /**
   * Jobs in pages: those that ended last first, then the others, oldest first. A page may be short and
   * still have a cursor: go on until there is none.
   */
  "GET /api/pools/:pool/jobs": {
    query: {
      /** Only this state: delayed, ready, blocked, running, done, dead or cancelled. */
      state?: JobState;
      /** Only this lane. */
      lane?: string;
      /** Only jobs with this text in id, key, type, error or payload, in any case. */
      match?: string;
      /** Only jobs of this group of failures, as `GET /api/failures` names it. */
      group?: string;
      /** Most entries, from 1; more than 500 count as 500. Default: 50. */
      limit?: number;
      /** Cursor of the page before, with the same filters. */
      cursor?: string;
    };
    answers: { 200: JobPageJson };
    problems: 400 | 404 | 503;
  };
  /**
   * Jobs of all pools in one order, in pages: those that ended last first, then the others. A page may be
   * short and still have a cursor: go on until there is none.
   */
  "GET /api/jobs": {
    query: {
      /** Only this state: delayed, ready, blocked, running, done, dead or cancelled. */
      state?: JobState;
      /** Only lanes of this name. */
      lane?: string;
      /** Only jobs with this text in id, key, type, error or payload, in any case. */
      match?: string;
      /** Only jobs of this group of failures, as `GET /api/failures` names it. */
      group?: string;
      /** Most entries, from 1; more than 500 count as 500. Default: 50. */
      limit?: number;
      /** Cursor of the page before, with the same filters. */
      cursor?: string;
    };
    answers: { 200: PoolsJobPageJson };
    problems: 400 | 503;
  };
  /**
   * Why jobs are dead, grouped by what their errors have in common. Looks at the latest dead jobs of each
   * pool, 5,000 shared by all pools and 500 of each at least, and again after two seconds at the earliest.
   */
  "GET /api/failures": {
    query: {
      /** Only this pool. */
      pool?: string;
    };
    answers: { 200: FailuresJson };
    problems: 400 | 503;
  };
  /** How many jobs there are. With a `lane`, `match` or `group` the latest 5,000 are looked at. */
  "GET /api/pools/:pool/jobs/count": {
    query: {
      /** Only this state: delayed, ready, blocked, running, done, dead or cancelled. */
      state?: JobState;
      /** Only this lane. */
      lane?: string;
      /** Only jobs with this text in id, key, type, error or payload, in any case. */
      match?: string;
      /** Only dead jobs of this group of `GET /api/failures`. */
      group?: string;
    };
    answers: { 200: JobCountJson };
    problems: 400 | 404 | 503;
  };
  /** One job. */
  "GET /api/jobs/:id": {
    query: {
      /** Waits for the end of the job before it answers, ms (60,000 at most). */
      waitMs?: number;
    };
    answers: { 200: JobRecord };
    problems: 400 | 404 | 503;
  };
  /**
   * Why a job waits: its place, what holds it, and when it may start. The place is counted among the
   * first 5,000 ready jobs of its lane.
   */
  "GET /api/jobs/:id/waiting": { answers: { 200: WaitingJson }; problems: 400 | 404 | 503 };
  /** Deletes a job that has ended. */
  "DELETE /api/jobs/:id": { answers: { 200: ChangedJson }; problems: 400 | 404 | 409 | 503 };
  /** Cancels a job; a running one is asked to stop. */
  "POST /api/jobs/:id/cancel": { answers: { 200: ChangedJson }; problems: 400 | 404 | 409 | 503 };
  /**
   * Enqueues a new job like this one, with changes. It has no delay, dedupeKey or ttlMs of it, and what is
   * hidden of its payload is taken over unseen.
   */
  "POST /api/jobs/:id/again": {
    body: AgainBody;
    answers: { 202: Accepted };
    problems: 400 | 404 | 413 | 415 | 429 | 503;
  };
  /** Makes a dead job ready again, with all its attempts. */
  "POST /api/jobs/:id/retry": { answers: { 200: ChangedJson }; problems: 400 | 404 | 409 | 503 };
}

/**
 * Bulk operations: start, look, cancel.
 *
 * @internal
 */
export interface OperationEndpoints {
  /**
   * Retries, discards or purges all jobs that match, in the background. Without lane, state and match it
   * takes all jobs of the pool: `{ purge: true }` alone cancels every job that waits, and nothing asks
   * first. At most 8 run at once: 429 with Retry-After beyond.
   */
  "POST /api/pools/:pool/operations": {
    body: OperationRequest;
    answers: { 202: OperationJson };
    problems: 400 | 404 | 413 | 415 | 429;
  };
  /** Operations, newest first. */
  "GET /api/operations": { answers: { 200: readonly OperationJson[] }; problems: 400 };
  /** One operation, with its progress. */
  "GET /api/operations/:id": { answers: { 200: OperationJson }; problems: 400 | 404 };
  /** Cancels an operation and waits until it has stopped. */
  "DELETE /api/operations/:id": { answers: { 200: OperationJson }; problems: 400 | 404 };
}

/**
 * The whole: events, config, plugins, reload, metrics, health.
 *
 * @internal
 */
export interface SystemEndpoints {
  /**
   * Events as they happen, as server-sent events. Data of a message is one event as JSON. Besides come
   * `beat` every 15 s, `gap` when events were lost (`{ missed }`), and `end` when the server stops. At
   * most 100 streams at once, unless the app was made with another number: 503 with Retry-After beyond.
   */
  "GET /api/events": {
    query: {
      /** Only this pool, and events about no single one; may be given several times. */
      pool?: readonly string[];
      /** Only this kind of event; may be given several times. */
      kind?: readonly string[];
      /** Goes on after this id, as Last-Event-ID does. */
      after?: string;
    };
    headers: {
      /** Goes on after this id, as far as events are kept. */
      "Last-Event-ID"?: string;
    };
    answers: { 200: Media<"text/event-stream"> };
    problems: 400 | 503;
  };
  /**
   * What people and the system did since the process began, newest first: changes through the admin API,
   * each with who made it, and events that come with no job and no decision. The latest 200 of each kind
   * are kept.
   */
  "GET /api/events/past": {
    query: {
      /** Only this pool, and events about no single one; may be given several times. */
      pool?: readonly string[];
      /** Only this kind of event, such as audit; may be given several times. */
      kind?: readonly string[];
      /** Only events since then, ms since epoch. */
      sinceMs?: number;
      /** Most entries, from 1; more than 1000 count as 1000. Default: 100. */
      limit?: number;
    };
    answers: { 200: PastEventsJson };
    problems: 400;
  };
  /** The current config. */
  "GET /api/config": { answers: { 200: ConfigJson }; problems: 400 };
  /** The store and the plugins of each pool, with what their options may be. */
  "GET /api/plugins": { answers: { 200: readonly PluginJson[] }; problems: 400 };
  /** Reloads the config: all or nothing. */
  "POST /api/reload": {
    query: {
      /** 1: only says what would change. */
      dryRun?: boolean;
    };
    body: ReloadBody;
    answers: { 200: ReloadReport };
    problems: 400 | 413 | 415 | 503;
  };
  /** Metrics for Prometheus. */
  "GET /metrics": { answers: { 200: Media<"text/plain"> } };
  /** Whether the process answers. */
  "GET /healthz": { answers: { 200: HealthJson } };
  /** Whether all pools run and their store answers. */
  "GET /readyz": { answers: { 200: Readiness; 503: Readiness } };
}

/**
 * Login and logout, where there are tokens.
 *
 * @internal
 */
export interface SessionEndpoints {
  /**
   * Opens a session for a browser: a cookie that lasts twelve hours. From one address 5 logins may fail
   * at once, and one more each 12 s: 429 with Retry-After beyond, to the right token too. All behind a
   * proxy have its address.
   */
  "POST /login": { body: LoginBody; answers: { 200: LoginJson }; problems: 401 | 403 | 429 };
  /** Ends the session. */
  "POST /logout": { answers: { 200: LogoutJson }; problems: 403 };
}

/**
 * Every endpoint.
 *
 * @internal
 */
export interface Endpoints
  extends
    PoolEndpoints,
    JobEndpoints,
    ScheduleEndpoints,
    OperationEndpoints,
    SystemEndpoints,
    SessionEndpoints {}
