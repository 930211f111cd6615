/**
 * One attempt of one job over HTTP, and what its answer means.
 *
 * @module
 */

import { Fatal, RetryLater } from "../../src/contract/errors.ts";
import type { Job, JobContext } from "../../src/contract/job.ts";
import type { Handler } from "../../src/contract/plugin.ts";
import { excerptOf, placeOf, secretsIn } from "./_excerpt.ts";
import type { HttpSettings } from "./_http_options.ts";
import { headersFor } from "./_request.ts";
import { retryAfterMs } from "./_retry_after.ts";
import {
  byFetch,
  type OpenAnswer,
  type ReadAnswer,
  send,
  type Sending,
  type Transport,
} from "./_send.ts";
import { type CallTarget, targetsOf } from "./_target.ts";

/** Statuses that say "later" rather than "no", of the receiver as a whole. */
const DEFERRING: ReadonlySet<number> = new Set([408, 425, 429, 503, 529]);

/** Those of them that say so without naming a time: the others may be about one request. */
const OVERLOADED: ReadonlySet<number> = new Set([429, 503, 529]);

/** Wait when the receiver asks for one without saying how long, ms. */
const DEFAULT_RETRY_MS = 1000;

/** How much of an answer's body is kept for an error, bytes, and how long is waited for it, ms. */
const EXCERPT_BYTES = 2_000;
const EXCERPT_MS = 250;

/** The handler that `http` makes of its options. */
export function handlerOf(options: HttpSettings): Handler {
  const targets = targetsOf(options);
  const { url } = options;
  const transport = typeof url === "string" || url.privateAddresses ? byFetch : byPublicAddress;
  return {
    payload: targets.payload,
    run: (job, context) =>
      deliver({ options, target: targets.of(job.payload), transport, job, context }),
  };
}

/** Loads modules that no one else needs. */
async function byPublicAddress(sending: Sending, signal: AbortSignal): Promise<OpenAnswer> {
  const { sendPublic } = await import("./_pinned.ts");
  return await sendPublic(sending, signal);
}

/** One attempt of one job. */
interface Delivery {
  readonly options: HttpSettings;
  readonly target: CallTarget;
  readonly transport: Transport;
  readonly job: Job;
  readonly context: JobContext;
}

async function deliver(delivery: Delivery): Promise<{ readonly status: number }> {
  const { options: { downstream }, target, job, context } = delivery;
  const sent = headersFor(target.headers, job, context);
  const { status, headers, bytes } = await counted(delivery, sent);
  if (status >= 200 && status < 300) return { status };
  const place = `${placeOf(target.url)} answered ${status}`;
  const excerpt = excerptOf(bytes, headers, secretsIn(target.headers));
  const answer = excerpt === "" ? place : `${place}: ${excerpt}`;
  const askedMs = retryAfterMs(headers);
  if (DEFERRING.has(status)) {
    if (askedMs !== undefined || OVERLOADED.has(status)) context.overloaded(askedMs, downstream);
    throw new RetryLater(askedMs ?? DEFAULT_RETRY_MS, answer);
  }
  if (status >= 400 && askedMs !== undefined) throw new RetryLater(askedMs, answer);
  if (status >= 500) throw new Error(answer);
  if (status >= 400) throw new Fatal(answer, { gone: status === 410 });
  throw new Fatal(`${place}: redirects are not followed, set "url" to the final address`);
}

/** Sends the request. Where the downstream has a name, its use is counted. */
async function counted(
  { options: { timeoutMs, downstream }, target: { url, method }, transport, job, context }:
    Delivery,
  headers: Headers,
): Promise<ReadAnswer> {
  const fromMs = performance.now();
  let ok = false;
  try {
    const answer = await send({
      url,
      method,
      headers,
      body: method === "GET" ? undefined : JSON.stringify(job.payload) ?? "null",
      keepBytes: EXCERPT_BYTES,
      readMs: EXCERPT_MS,
      timeoutMs,
      signal: context.signal,
    }, transport);
    ok = answer.status < 400;
    return answer;
  } finally {
    if (downstream !== undefined) context.used(downstream, { ms: performance.now() - fromMs, ok });
  }
}
