/**
 * What each route takes and answers, in words. A test holds the list to the routes that there are.
 *
 * @module
 */

import type { GenericSchema } from "valibot";
import { MOST_STREAMS } from "../api/event_feed.ts";
import { BURST, REFILL_MS } from "../access/login_limit.ts";
import { MAX_RUNNING } from "../api/operations.ts";
import {
  drainShape,
  jobShape,
  loginShape,
  operationShape,
  overrideShape,
  pauseShape,
  reloadShape,
} from "../api/shape.ts";
import type { AnswerName } from "./answers.ts";

/** Bodies by name. */
export const bodyShapes = {
  NewJob: jobShape,
  Pause: pauseShape,
  Drain: drainShape,
  SetOverride: overrideShape,
  StartOperation: operationShape,
  Reload: reloadShape,
  LogIn: loginShape,
} as const satisfies Readonly<Record<string, GenericSchema>>;

/** What goes over the wire where it is not JSON. */
export type Media = "text/plain" | "text/event-stream" | "text/html";

/** One route. */
export interface Endpoint {
  /** HTTP method, lower case. */
  readonly method: "get" | "post" | "put" | "delete";
  /** Path as hono has it: `/api/pools/:pool`. */
  readonly path: string;
  /** Where it stands in the documentation. */
  readonly tag: "Pools" | "Jobs" | "Operations" | "System" | "Session";
  /** What it does, as a sentence without a period. */
  readonly summary: string;
  /** More about it. */
  readonly description?: string;
  /** Query parameters with what they are. */
  readonly query?: Readonly<Record<string, string>>;
  /** Headers that it reads, with what they are. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Its body. */
  readonly body?: keyof typeof bodyShapes;
  /** True: it may be a list of such bodies too. */
  readonly many?: boolean;
  /** What it answers, by status. */
  readonly answers: Readonly<Record<number, AnswerName | Media>>;
  /** Statuses of problems besides 401, 403 and 421. */
  readonly problems?: readonly number[];
  /** True: no token is needed. */
  readonly open?: boolean;
}

const limit = (most: number, usual: number): string =>
  `Most entries, from 1; more than ${most} count as ${most}. Default: ${usual}.`;

/** All routes. */
export const endpoints: readonly Endpoint[] = [
  {
    method: "get",
    path: "/api/pools",
    tag: "Pools",
    summary: "All pools, each with its last decision and diagnosis",
    answers: { 200: "Pools" },
    problems: [400],
  },
  {
    method: "get",
    path: "/api/pools/:pool",
    tag: "Pools",
    summary: "One pool",
    answers: { 200: "Pool" },
    problems: [400, 404],
  },
  {
    method: "get",
    path: "/api/pools/:pool/decisions",
    tag: "Pools",
    summary: "Decisions, newest first",
    query: { limit: limit(1_000, 20) },
    answers: { 200: "Decisions" },
    problems: [400, 404],
  },
  {
    method: "get",
    path: "/api/pools/:pool/history",
    tag: "Pools",
    summary: "The recent past: a sample a second for two minutes, one a minute for an hour before",
    description: "Oldest first. A pool at rest takes no samples: the last one stands.",
    query: { afterMs: "Only samples taken after this, ms since epoch." },
    answers: { 200: "History" },
    problems: [400, 404],
  },
  {
    method: "post",
    path: "/api/pools/:pool/pause",
    tag: "Pools",
    summary: "Starts no more jobs of a lane, or of all; running ones go on",
    body: "Pause",
    answers: { 200: "Paused" },
    problems: [400, 404, 409, 413, 415, 503],
  },
  {
    method: "post",
    path: "/api/pools/:pool/resume",
    tag: "Pools",
    summary: "Ends a pause",
    body: "Pause",
    answers: { 200: "Paused" },
    problems: [400, 404, 409, 413, 415, 503],
  },
  {
    method: "post",
    path: "/api/pools/:pool/drain",
    tag: "Pools",
    summary: "Stops claiming, lets running jobs end, hands back the rest at the deadline",
    body: "Drain",
    answers: { 200: "Stopped" },
    problems: [400, 404, 413, 415],
  },
  {
    method: "put",
    path: "/api/pools/:pool/override",
    tag: "Pools",
    summary: "Holds other bounds for a while",
    body: "SetOverride",
    answers: { 200: "Override" },
    problems: [400, 404, 409, 413, 415],
  },
  {
    method: "delete",
    path: "/api/pools/:pool/override",
    tag: "Pools",
    summary: "Goes back to the config's bounds",
    answers: { 200: "Override" },
    problems: [400, 404, 409],
  },
  {
    method: "post",
    path: "/api/pools/:pool/jobs",
    tag: "Jobs",
    summary: "Enqueues a job, or up to 1,000",
    description:
      "202: stored. 200: a duplicate, a job that was waited for, or one answer each of many. 429 with " +
      "Retry-After: turned away; of many, only if all were.",
    query: {
      waitMs: "Holds the answer until the job ends, at most so many ms (60,000). One job only.",
    },
    headers: {
      "Idempotency-Key":
        "Another way to send dedupeKey: sent again with the same key, the job of the first request is " +
        "answered as duplicateOf, also for ten minutes after it has ended; with the same key and another " +
        "body the answer is 422. Of many jobs each gets KEY#PLACE.",
    },
    body: "NewJob",
    many: true,
    answers: { 200: "Accepted", 202: "Accepted" },
    problems: [400, 404, 413, 415, 422, 429, 503],
  },
  {
    method: "get",
    path: "/api/pools/:pool/jobs",
    tag: "Jobs",
    summary: "Jobs in pages: those that ended last first, then the others, oldest first",
    description: "A page may be short and still have a cursor: go on until there is none.",
    query: {
      state: "Only this state: delayed, ready, blocked, running, done, dead or cancelled.",
      lane: "Only this lane.",
      match: "Only jobs with this text in id, key, type, error or payload, in any case.",
      limit: limit(500, 50),
      cursor: "Cursor of the page before, with the same filters.",
    },
    answers: { 200: "JobPage" },
    problems: [400, 404, 503],
  },
  {
    method: "get",
    path: "/api/jobs/:id",
    tag: "Jobs",
    summary: "One job",
    query: {
      waitMs: "Holds the answer until the job has ended, at most so many ms (60,000).",
    },
    answers: { 200: "Job" },
    problems: [400, 404, 503],
  },
  {
    method: "get",
    path: "/api/jobs/:id/waiting",
    tag: "Jobs",
    summary: "Why a job waits: its place, what holds it, and when it may start",
    description: "The place is counted among the first 5,000 ready jobs of its lane.",
    answers: { 200: "WhyItWaits" },
    problems: [400, 404, 503],
  },
  {
    method: "delete",
    path: "/api/jobs/:id",
    tag: "Jobs",
    summary: "Forgets a job that has ended",
    answers: { 200: "Changed" },
    problems: [400, 404, 409, 503],
  },
  {
    method: "post",
    path: "/api/jobs/:id/cancel",
    tag: "Jobs",
    summary: "Cancels a job; a running one is asked to stop",
    answers: { 200: "Changed" },
    problems: [400, 404, 409, 503],
  },
  {
    method: "post",
    path: "/api/jobs/:id/retry",
    tag: "Jobs",
    summary: "Makes a dead job ready again, its attempts counted anew",
    answers: { 200: "Changed" },
    problems: [400, 404, 409, 503],
  },
  {
    method: "post",
    path: "/api/pools/:pool/operations",
    tag: "Operations",
    summary: "Retries, discards or purges all jobs that match, in the background",
    description:
      "Without lane, state and match it takes all jobs of the pool: { purge: true } alone cancels " +
      `every job that waits, and nothing asks first. At most ${MAX_RUNNING} run at once: 429 with ` +
      "Retry-After beyond.",
    body: "StartOperation",
    answers: { 202: "Operation" },
    problems: [400, 404, 413, 415, 429],
  },
  {
    method: "get",
    path: "/api/operations",
    tag: "Operations",
    summary: "Operations, newest first",
    answers: { 200: "Operations" },
    problems: [400],
  },
  {
    method: "get",
    path: "/api/operations/:id",
    tag: "Operations",
    summary: "One operation, with its progress",
    answers: { 200: "Operation" },
    problems: [400, 404],
  },
  {
    method: "delete",
    path: "/api/operations/:id",
    tag: "Operations",
    summary: "Cancels an operation and waits until it stands still",
    answers: { 200: "Operation" },
    problems: [400, 404],
  },
  {
    method: "get",
    path: "/api/events",
    tag: "System",
    summary: "Events as they happen, as server-sent events",
    description:
      "Data of a message is one event as JSON. Besides come `beat` every 15 s, `gap` when events were " +
      "lost ({ missed }), and `end` when the server stops. At most " +
      `${MOST_STREAMS} streams at once, unless the app was made with another number: 503 with ` +
      "Retry-After beyond.",
    query: {
      pool: "Only this pool, and events about no single one; may be given several times.",
      kind: "Only this kind of event; may be given several times.",
      after: "Goes on after this id, as Last-Event-ID does.",
    },
    headers: { "Last-Event-ID": "Goes on after this id, as far as events are kept." },
    answers: { 200: "text/event-stream" },
    problems: [400, 503],
  },
  {
    method: "get",
    path: "/api/config",
    tag: "System",
    summary: "The config in force",
    answers: { 200: "Config" },
    problems: [400],
  },
  {
    method: "get",
    path: "/api/plugins",
    tag: "System",
    summary: "The store and the plugins of each pool, with what their options may be",
    answers: { 200: "Plugins" },
    problems: [400],
  },
  {
    method: "post",
    path: "/api/reload",
    tag: "System",
    summary: "Loads the config anew: all or nothing",
    query: { dryRun: "1: only says what would change." },
    body: "Reload",
    answers: { 200: "Reloaded" },
    problems: [400, 413, 415, 503],
  },
  {
    method: "get",
    path: "/metrics",
    tag: "System",
    summary: "Metrics for Prometheus",
    answers: { 200: "text/plain" },
  },
  {
    method: "get",
    path: "/healthz",
    tag: "System",
    summary: "Whether the process answers",
    answers: { 200: "Health" },
    open: true,
  },
  {
    method: "get",
    path: "/readyz",
    tag: "System",
    summary: "Whether all pools run and their store answers",
    answers: { 200: "Readiness", 503: "Readiness" },
    open: true,
  },
  {
    method: "post",
    path: "/login",
    tag: "Session",
    summary: "Opens a session for a browser: a cookie that lasts twelve hours",
    description:
      `From one address ${BURST} logins may fail at once, and one more each ${
        REFILL_MS / 1000
      } s: ` +
      "429 with Retry-After beyond, to the right token too. All behind a proxy have its address.",
    body: "LogIn",
    answers: { 200: "Login" },
    problems: [401, 403, 429],
    open: true,
  },
  {
    method: "post",
    path: "/logout",
    tag: "Session",
    summary: "Ends the session",
    answers: { 200: "Logout" },
    problems: [403],
    open: true,
  },
];
