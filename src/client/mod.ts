/**
 * A client for producers in other processes: it enqueues over HTTP and waits for outcomes. It needs
 * `fetch` and nothing else, so it runs in Deno, Node, browsers and edge functions.
 *
 * @module
 */

import { RejectedError } from "../contract/errors.ts";
import type { DeadReason, NewJob, Outcome } from "../contract/job.ts";
import { type Ended, outcomeOf } from "../contract/outcome.ts";
import {
  DeadlineError,
  foreignAnswer,
  RequestError,
  type RequestFault,
  UnavailableError,
} from "./errors.ts";
import { type Enqueued, type EnqueueResult, sendMany } from "./many.ts";
import { isRecord, send, type Sender } from "./send.ts";
import { type ClientTime, pause, platformTime } from "./time.ts";

export { DeadlineError, RejectedError, RequestError, UnavailableError };
export type { ClientTime, DeadReason, Enqueued, EnqueueResult, NewJob, Outcome, RequestFault };

/**
 * A job to enqueue over HTTP. Its trace goes in the header that an instrumented `fetch` sends, its key in
 * `EnqueueOptions`.
 */
export type RemoteJob<Payload = unknown, Lane extends string = string> = Omit<
  NewJob<Payload, Lane>,
  "traceparent" | "idempotency"
>;

/** How a client is set up. */
export interface ClientOptions {
  /** Token of the admin API, or what gets it for each attempt. @default {none is sent} */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /** How often a request is sent at most, >= 1. @default {8} */
  readonly attempts?: number | undefined;
  /** Wait before the second attempt, ms; doubles with each further one. @default {200} */
  readonly baseMs?: number | undefined;
  /** Longest wait between attempts that the server has not asked for, ms. @default {10000} */
  readonly maxMs?: number | undefined;
  /** How long one attempt may take, ms. @default {10000} */
  readonly tryMs?: number | undefined;
  /** Sends. @default {the platform's fetch} */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Time of waits and limits. @default {the platform's} */
  readonly time?: ClientTime | undefined;
  /** From 0 to below 1: spreads waits. @default {Math.random} */
  readonly random?: (() => number) | undefined;
}

/** How long a call may take. */
export interface CallOptions {
  /** Gives up after this many ms. @default {60000; 300000 for what waits for an outcome} */
  readonly deadlineMs?: number | undefined;
  /** Gives up: the call throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** How an enqueue is sent. */
export interface EnqueueOptions extends CallOptions {
  /**
   * Same for all attempts, so that none brings in a second job. Give one of your own, such as an order
   * number, to have it hold across calls and restarts of yours, until ten minutes after the job's end.
   * @default {drawn at random}
   */
  readonly idempotencyKey?: string | undefined;
}

/** Enqueues over HTTP. `Pools` says which jobs each pool takes. */
export interface Client<
  Pools extends { readonly [pool: string]: RemoteJob } = { readonly [pool: string]: RemoteJob },
> {
  /**
   * Enqueues a job. It is stored once this resolves.
   *
   * @throws {RejectedError} If it was rejected, still after the last attempt.
   * @throws {RequestError} If the job does not fit, or the token.
   * @throws {UnavailableError} If no answer came. The job may be stored.
   */
  enqueue<Pool extends keyof Pools & string>(
    pool: Pool,
    job: Pools[Pool],
    options?: EnqueueOptions,
  ): Promise<Enqueued>;
  /**
   * Enqueues many jobs, 1,000 a request. Those that are rejected are sent again.
   *
   * @returns One result a job, in order: what was stored, or the error. Throws only if it is given up.
   */
  enqueueAll<Pool extends keyof Pools & string>(
    pool: Pool,
    jobs: readonly Pools[Pool][],
    options?: EnqueueOptions,
  ): Promise<readonly EnqueueResult[]>;
  /**
   * Waits until a job has ended.
   *
   * @throws {DeadlineError} If it has not ended in time. It goes on.
   * @throws {RequestError} If nobody knows the job.
   * @throws {UnavailableError} If no answer came.
   */
  wait(id: string, options?: CallOptions): Promise<Outcome>;
  /** Enqueues a job and waits until it has ended. Throws as `enqueue` and `wait` do. */
  run<Pool extends keyof Pools & string>(
    pool: Pool,
    job: Pools[Pool],
    options?: EnqueueOptions,
  ): Promise<Outcome & { readonly id: string }>;
}

/** How long an answer is held, ms: shorter than proxies let a request take. */
const HELD_MS = 25_000;

/** Time that an enqueue has, ms. */
const ENQUEUE_WITHIN_MS = 60_000;

/** Time that a job has, ms. */
const END_WITHIN_MS = 300_000;

/**
 * Makes a client.
 *
 * @param url Address of the admin API, such as `http://127.0.0.1:8787`; with the path that it is
 * mounted at. In a browser a path alone does.
 * @throws {TypeError} If the address is of anything but `http:` and `https:`.
 *
 * @example
 * ```ts
 * import { start } from "@sluice/sluice";
 * import { connect, type RemoteJob } from "@sluice/sluice/client";
 * import assert from "node:assert/strict";
 *
 * await using sluice = await start({
 *   admin: { port: 0 },
 *   pools: {
 *     mail: { handler: () => "sent", size: { min: 1, max: 2 }, lanes: [{ name: "urgent" }] },
 *   },
 * });
 *
 * const client = connect<{ mail: RemoteJob<{ to: string }, "urgent"> }>(sluice.adminUrl!);
 * const outcome = await client.run("mail", { lane: "urgent", payload: { to: "ann@example.com" } });
 *
 * assert.equal(outcome.state, "done");
 * assert.equal(outcome.result, "sent");
 * ```
 */
export function connect<
  Pools extends { readonly [pool: string]: RemoteJob } = { readonly [pool: string]: RemoteJob },
>(url: string, options: ClientOptions = {}): Client<Pools> {
  const sender = senderOf(url, options);
  const { time } = sender;
  const until = (options: CallOptions, otherwise: number): number =>
    time.nowMs() + (options.deadlineMs ?? otherwise);
  return {
    async enqueue(pool, job, options = {}) {
      const untilMs = until(options, ENQUEUE_WITHIN_MS);
      return takenIn(await send(posting(pool, job, { ...options, untilMs }), sender), sender);
    },
    async enqueueAll(pool, jobs, options = {}) {
      const untilMs = until(options, ENQUEUE_WITHIN_MS);
      const request = posting(pool, undefined, { ...options, untilMs });
      return await sendMany(jobs.map((job) => JSON.stringify(job)), request, sender);
    },
    async wait(id, options = {}) {
      const untilMs = until(options, END_WITHIN_MS);
      return await endOf(id, { ...options, untilMs }, sender);
    },
    async run(pool, job, options = {}) {
      const untilMs = until(options, END_WITHIN_MS);
      const heldMs = heldFor(untilMs, sender);
      const request = posting(pool, job, { ...options, untilMs }, `?waitMs=${heldMs}`);
      const answer = await send({ ...request, heldMs }, sender);
      const { id } = takenIn(answer, sender);
      const told = isRecord(answer) ? answer["outcome"] : undefined;
      if (isRecord(told)) return { id, ...ending(told) };
      return { id, ...await endOf(id, { ...options, untilMs }, sender) };
    },
  };
}

function senderOf(url: string, options: ClientOptions): Sender {
  const { token, attempts = 8, baseMs = 200, maxMs = 10_000, tryMs = 10_000 } = options;
  // A colon before the first slash ends a scheme, or a host without one: no path has it there.
  if (/^[^/?#]*:/.test(url) && !/^https?:\/\//i.test(url)) {
    throw new TypeError(
      `Expected an address that begins with http:// or https://, or a path, but received "${url}"`,
    );
  }
  if (/[?#]/.test(url)) {
    throw new TypeError(`Expected an address without "?" and "#" but received "${url}"`);
  }
  if (!(attempts >= 1)) throw new RangeError(`Expected attempts >= 1 but received ${attempts}`);
  return {
    url: url.replace(/\/+$/, ""),
    token: typeof token === "string" ? () => token : token,
    // Hint: a bare `fetch` would be called without its global, which browsers refuse.
    fetch: options.fetch ?? ((address, init) => fetch(address, init)),
    attempts,
    baseMs,
    maxMs,
    tryMs,
    time: options.time ?? platformTime,
    random: options.random ?? Math.random,
  };
}

interface Timed extends EnqueueOptions {
  readonly untilMs: number;
}

function posting(pool: string, job: RemoteJob | undefined, timed: Timed, query = "") {
  return {
    method: "POST",
    path: `/api/pools/${encodeURIComponent(pool)}/jobs${query}`,
    body: job === undefined ? undefined : JSON.stringify(job),
    idempotencyKey: timed.idempotencyKey ?? randomKey(),
    untilMs: timed.untilMs,
    signal: timed.signal,
  } as const;
}

/** Asks until the job has ended. */
async function endOf(
  id: string,
  { untilMs, signal, deadlineMs: withinMs = END_WITHIN_MS }: Timed,
  sender: Sender,
): Promise<Outcome> {
  const { time } = sender;
  for (;;) {
    const askedAtMs = time.nowMs();
    const heldMs = heldFor(untilMs, sender);
    const path = `/api/jobs/${encodeURIComponent(id)}?waitMs=${heldMs}`;
    const job = await send({ method: "GET", path, heldMs, untilMs, signal }, sender);
    const { state } = isRecord(job) ? job : {};
    if (!isRecord(job) || typeof state !== "string") throw foreign(sender);
    if (state === "done" || state === "dead" || state === "cancelled") return ending(job);
    if (time.nowMs() >= untilMs) throw new DeadlineError(id, withinMs);
    // A server that stops answers at once: it is not asked again without a pause.
    if (time.nowMs() - askedAtMs < heldMs / 2) await pause(sender.baseMs, time, signal);
  }
}

/** How long the server may hold an answer, whole ms. */
function heldFor(untilMs: number, { time }: Sender): number {
  return Math.max(0, Math.min(HELD_MS, Math.ceil(untilMs - time.nowMs())));
}

function takenIn(answer: unknown, sender: Sender): Enqueued {
  const { id, duplicateOf } = isRecord(answer) ? answer : {};
  if (typeof id !== "string") throw foreign(sender);
  return { id, duplicate: duplicateOf !== undefined };
}

/** What the API tells of an end; it tells nothing else under these names. */
function ending(told: Readonly<Record<string, unknown>>): Outcome {
  const outcome = outcomeOf(told as typeof told & Ended); // `api.ts` declares these fields so
  return JSON.parse(JSON.stringify(outcome)); // without what is undefined
}

function foreign({ url }: Sender): RequestError {
  return foreignAnswer(url, "the answer names no job");
}

/** A key that nobody else has. */
function randomKey(): string {
  // Hint: browsers have crypto.randomUUID only on pages of a secure origin.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
