/**
 * Takes jobs in: one, or many at once.
 *
 * @module
 */

import type { Context, TypedResponse } from "hono";
import { IdempotencyError, messageOf, RejectedError, StoreError } from "../../contract/errors.ts";
import type { Idempotency, JobRecord, NewJob, Outcome } from "../../contract/job.ts";
import { PayloadError } from "../../contract/payload_error.ts";
import { outcomeOf } from "../../contract/outcome.ts";
import type { JobHandle } from "../../runtime/handles.ts";
import {
  type Accepted,
  type BulkAccepted,
  type BulkResult,
  LONGEST_WAIT_MS,
  type Problem,
  type ProblemError,
} from "../http/wire.ts";
import { MOST_FAULTS } from "../../config/faults.ts";
import { jobTooLarge, readJson } from "../http/body.ts";
import type { AdminContext, Target } from "./context.ts";
import { noPool } from "./context.ts";
import {
  answer,
  badRequest,
  ENQUEUE_HEADERS,
  problem,
  queryFaults,
  queryNumber,
} from "../http/problem.ts";
import { type EndWaiters, hasEnded } from "./ends.ts";
import type { Gatherer } from "./gather.ts";
import { idempotencyOf, keyAt } from "./idempotency.ts";
import { isSubmitted } from "./submitted.ts";

/** Most jobs of one call. */
export const MAX_JOBS = 1_000;

/** When to send again what the store did not take, ms. */
const AGAIN_MS = 1000;

/** What takes jobs in. */
export interface Desk {
  /** What the routes share. */
  readonly context: AdminContext;
  /** Adds requests that come together. */
  readonly gatherer: Gatherer;
  /** Waits for jobs of earlier requests. */
  readonly ends: EndWaiters;
}

/** What an enqueue may answer. */
export type EnqueueAnswer =
  | (Response & TypedResponse<Accepted | BulkAccepted, 200, "json">)
  | (Response & TypedResponse<Accepted, 202, "json">)
  | (Response & TypedResponse<Problem, 400 | 404 | 413 | 415 | 422 | 429 | 503, "json">);

/** Answers `POST /api/pools/:pool/jobs`. */
export async function enqueue(c: Context, name: string, desk: Desk): Promise<EnqueueAnswer> {
  const { context } = desk;
  const target = context.target(name);
  if (target === undefined) return noPool(context.sluice, name);
  const body = await readJson(c.req.raw, context.body);
  if (!body.ok) return body.refusal;
  const header = c.req.raw.headers.get("idempotency-key");
  const known = header === null ? undefined : idempotencyOf(header, body.value);
  if (known !== undefined && "detail" in known) return badRequest([known]);
  const unknown = queryFaults(c, ["waitMs"]);
  if (Array.isArray(body.value)) {
    const faults = unknown.length > 0 ? unknown : waitFaults(c);
    if (faults.length > 0) return badRequest(faults);
    return await enqueueMany({ target, given: body.value, bytes: body.bytes, known }, context);
  }
  if (body.bytes > context.maxJobBytes) return problem(413, jobTooLarge(context.maxJobBytes));
  const faults: ProblemError[] = [];
  if (!isSubmitted(body.value, target.takes, faults)) return badRequest([...unknown, ...faults]);
  if (unknown.length > 0) return badRequest(unknown);
  const waitMs = waitOf(c);
  if (typeof waitMs === "object") return badRequest([waitMs]);
  const traceparent = context.sluice.traceparent(); // of this request: it is not known later
  let job = traceparent === undefined ? body.value : { ...body.value, traceparent };
  if (known !== undefined) job = { dedupeKey: known.key, ...job, idempotency: known };
  let handle: JobHandle | Error;
  try {
    const { taken, place } = desk.gatherer.add(target.handle, job);
    handle = (await taken)[place]!; // one for each
  } catch (thrown) {
    return refusal(thrown);
  }
  if (handle instanceof Error) return refusal(handle);
  const { id, duplicate } = handle;
  if (duplicate) return await takenBefore(id, waitMs, desk);
  const outcome = waitMs > 0 ? await settled(handle.done, waitMs, context.signal) : undefined;
  return accepted(id, false, { outcome, payload: job.payload }, context);
}

/** The fault of a list whose answer is to be held. */
function waitFaults(c: Context): readonly ProblemError[] {
  if (c.req.query("waitMs") === undefined) return [];
  const detail = "waitMs works for one job, not for a list: leave it out and look up each job";
  return [{ pointer: "?waitMs", detail }];
}

/** How long an answer may be held, ms, or the fault of what was asked for. */
function waitOf(c: Context): number | ProblemError {
  if (!c.req.raw.url.includes("?")) return 0;
  return queryNumber(c, "waitMs", { min: 0, max: LONGEST_WAIT_MS, default: 0 });
}

/** Answers with a job that an earlier request has brought. */
async function takenBefore(
  id: string,
  waitMs: number,
  { context, ends }: Desk,
): Promise<EnqueueAnswer> {
  const record = waitMs > 0 ? await ends.until(id, waitMs) : undefined;
  const outcome = record === undefined ? undefined : endingOf(record);
  return accepted(id, true, { outcome, payload: record?.payload }, context);
}

function accepted(
  id: string,
  duplicate: boolean,
  { outcome, payload }: { readonly outcome: Outcome | undefined; readonly payload?: unknown },
  context: AdminContext,
): EnqueueAnswer {
  const base = duplicate ? { id, duplicateOf: id } : { id };
  if (outcome !== undefined) {
    return answer({ ...base, outcome: shownOutcome(outcome, payload, context) }, 200);
  }
  return duplicate ? answer(base, 200, ENQUEUE_HEADERS) : answer(base, 202, ENQUEUE_HEADERS);
}

/** An outcome as it may be shown. */
function shownOutcome(outcome: Outcome, payload: unknown, { show }: AdminContext): Outcome {
  const { result, error } = outcome;
  return {
    ...outcome,
    ...(result === undefined ? {} : { result: show(result, payload) }),
    ...(error === undefined ? {} : { error: String(show(error, payload)) }),
  };
}

/** How a job ended. `undefined`: it has not. */
function endingOf(job: JobRecord): Outcome | undefined {
  return hasEnded(job) ? outcomeOf(job) : undefined;
}

/**
 * The outcome, or `undefined` if it takes too long or the server stops. Clients that leave are not
 * looked out for: `request.signal` aborts for answered requests too, and Deno warns of it.
 */
async function settled(
  done: Promise<Outcome>,
  waitMs: number,
  stop: AbortSignal | undefined,
): Promise<Outcome | undefined> {
  const left = Promise.withResolvers<undefined>();
  const leave = (): void => left.resolve(undefined);
  const timer = setTimeout(leave, waitMs);
  if (stop?.aborted) leave();
  stop?.addEventListener("abort", leave);
  try {
    return await Promise.race([done, left.promise]);
  } finally {
    clearTimeout(timer);
    stop?.removeEventListener("abort", leave);
  }
}

async function enqueueMany(
  { target, given, bytes, known }: {
    readonly target: Target;
    readonly given: readonly unknown[];
    readonly bytes: number;
    readonly known: Idempotency | undefined;
  },
  context: AdminContext,
): Promise<EnqueueAnswer> {
  if (given.length > MAX_JOBS) {
    const detail =
      `Expected at most ${MAX_JOBS} jobs but received ${given.length}: send them in parts`;
    return badRequest([{ pointer: "", detail }]);
  }
  const results: BulkResult[] = [];
  const places: number[] = [];
  const jobs: NewJob[] = [];
  for (const [place, value] of given.entries()) {
    const faults: ProblemError[] = [];
    if (!isSubmitted(value, target.takes, faults)) {
      results[place] = { error: faults.map(atPointer).join("; ") };
    } else if (bytes > context.maxJobBytes && sizeOf(value) > context.maxJobBytes) {
      results[place] = { error: jobTooLarge(context.maxJobBytes) };
    } else {
      places.push(place);
      jobs.push(known === undefined ? value : keyAt(value, place, known));
    }
  }
  let taken: readonly (JobHandle | Error)[];
  try {
    taken = jobs.length === 0 ? [] : await target.handle.enqueueAll(jobs);
  } catch (thrown) {
    return refusal(thrown);
  }
  let shed = 0;
  let soonestMs = Infinity;
  let reused: IdempotencyError | undefined;
  for (const [index, job] of taken.entries()) {
    const place = places[index] ?? index;
    if (job instanceof RejectedError) {
      shed++;
      soonestMs = Math.min(soonestMs, job.retryAfterMs);
    } else if (job instanceof IdempotencyError) reused ??= job;
    results[place] = resultOf(job);
  }
  if (reused !== undefined) return problem(422, reused.message, { results });
  if (shed === 0 || shed < given.length) return answer({ results }, 200);
  const reason = "every job was rejected";
  const which = shed === 1 ? "The job was" : `All ${shed} jobs were`;
  if (soonestMs === Infinity) {
    const detail =
      `${which} rejected: the pool is stopping and accepts no jobs until the process restarts`;
    return problem(503, detail, { reason, results });
  }
  return tooMany(`${which} rejected: retry later`, reason, soonestMs, results);
}

function resultOf(job: JobHandle | Error): BulkResult {
  if (job instanceof RejectedError) {
    const { reason: error, retryAfterMs } = job;
    return Number.isFinite(retryAfterMs)
      ? { error, retryAfterMs: Math.ceil(retryAfterMs) }
      : { error };
  }
  if (job instanceof Error) {
    if (job instanceof StoreError) return { ...againLater(job), retryAfterMs: AGAIN_MS };
    if (!isFaultOfCaller(job)) throw job;
    return { error: job.message };
  }
  return job.duplicate ? { duplicateOf: job.id } : { id: job.id };
}

function refusal(thrown: unknown): EnqueueAnswer {
  return thrown instanceof IdempotencyError ? problem(422, thrown.message) : notTaken(thrown);
}

/** Answers that a job was not taken, and why. @throws What says nothing of the job, but of us. */
export function notTaken(thrown: unknown): ReturnType<typeof problem<400 | 429 | 503>> {
  if (thrown instanceof RejectedError) {
    const { message, reason, retryAfterMs } = thrown;
    if (retryAfterMs === Infinity) return problem(503, message, { reason });
    return tooMany(message, reason, retryAfterMs);
  }
  if (thrown instanceof StoreError) return unstored(thrown);
  if (thrown instanceof PayloadError) {
    return problem(400, thrown.message, { errors: thrown.errors.slice(0, MOST_FAULTS) });
  }
  if (!isFaultOfCaller(thrown)) throw thrown;
  // The shape was checked before: what is left to refuse is what only the handler knows.
  return badRequest([{ pointer: "/payload", detail: messageOf(thrown) }]);
}

/** The store may answer again soon: a client that sent a key may send again. */
function unstored(error: StoreError): ReturnType<typeof problem<503>> {
  return problem(503, againLater(error).error, {
    headers: { "retry-after": String(AGAIN_MS / 1000) },
  });
}

function againLater({ message }: StoreError): { readonly error: string } {
  return { error: `${message}; send it again` };
}

function tooMany(
  detail: string,
  reason: string,
  afterMs: number,
  results?: readonly BulkResult[],
): ReturnType<typeof problem<429>> {
  const retryAfterMs = Math.ceil(afterMs);
  return problem(429, detail, {
    reason,
    retryAfterMs,
    ...(results === undefined ? {} : { results }),
    headers: { "retry-after": String(Math.max(1, Math.ceil(afterMs / 1_000))) },
  });
}

/** `TypeError` and `RangeError` say that the job does not fit; anything else is ours. */
function isFaultOfCaller(thrown: unknown): boolean {
  return thrown instanceof TypeError || thrown instanceof RangeError;
}

function atPointer(fault: ProblemError): string {
  return fault.pointer === "" ? fault.detail : `${fault.pointer}: ${fault.detail}`;
}

/** Bytes as JSON. `Infinity` for what is nested too deep to be written. */
export function sizeOf(value: unknown): number {
  try {
    return new TextEncoder().encode(JSON.stringify(value)).byteLength;
  } catch {
    return Infinity; // the stack does not hold it
  }
}
