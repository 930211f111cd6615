/**
 * One attempt of one job over HTTP, and what its answer means.
 *
 * @module
 */

import { Fatal, RetryLater } from "../../src/contract/errors.ts";
import type { Job, JobContext } from "../../src/contract/job.ts";
import type { Handler } from "../../src/contract/plugin.ts";
import { excerptOf, isKey, placeOf, resultBody, secretsIn } from "./_excerpt.ts";
import type { HttpSettings } from "./_http_options.ts";
import { DEFERRING, judge, OVERLOADED } from "./_judge.ts";
import { bodyFor, headersFor } from "./_request.ts";
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
import { constantsIn } from "./_template.ts";

/** Wait when the receiver asks for one without saying how long, ms. */
const DEFAULT_RETRY_MS = 1000;

/** How much of an answer's body is kept for an error, bytes, and how long is waited for it, ms. */
const EXCERPT_BYTES = 2_000;
const EXCERPT_MS = 250;

/** How much of it is kept as the job's result, bytes. */
const RESULT_BYTES = 8_192;

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

/** What a job that is done has for a result. */
interface HttpResult {
  readonly status: number;
  readonly body?: unknown;
  readonly cut?: true;
}

async function deliver(delivery: Delivery): Promise<HttpResult> {
  const { options, target, context } = delivery;
  const answer = await counted(delivery);
  const { status, headers } = answer;
  const judgement = judge(status, options);
  if (judgement === "done") return resultOf(answer, delivery);
  const place = `${placeOf(target.url)} answered ${status}`;
  const excerpt = excerptOf(answer, secretsOf(delivery));
  const why = excerpt === "" ? place : `${place}: ${excerpt}`;
  const askedMs = retryAfterMs(headers);
  if (DEFERRING.has(status)) {
    const isReceiver = askedMs !== undefined || OVERLOADED.has(status);
    if (isReceiver) context.overloaded(askedMs, options.downstream);
    throw new RetryLater(askedMs ?? DEFAULT_RETRY_MS, why);
  }
  if (askedMs !== undefined && (status >= 400 || judgement === "retry")) {
    throw new RetryLater(askedMs, why);
  }
  if (judgement === "retry") throw new Error(why);
  if (status >= 400) throw new Fatal(why, { gone: status === 410 });
  throw new Fatal(
    status < 300
      ? `${place}: that is none of "success" (${options.success.join(", ")})`
      : `${place}: redirects are not followed, set "url" to the final address`,
  );
}

/** What of a request an answer may repeat, but nobody is to see. */
function secretsOf({ options, target }: Delivery): readonly string[] {
  return [...secretsIn(target.headers), ...constantsIn(options.body).filter(isKey)];
}

function resultOf(answer: ReadAnswer, delivery: Delivery): HttpResult {
  const { status, isWhole } = answer;
  const { keep } = delivery.options;
  const body = keep === undefined ? undefined : resultBody(answer, secretsOf(delivery));
  if (body === undefined) return { status };
  return { status, body, ...(isWhole ? {} : { cut: true }) };
}

/** Sends the request. Where the downstream has a name, its use is counted. */
async function counted(
  { options, target, transport, job, context }: Delivery,
): Promise<ReadAnswer> {
  const { keep, timeoutMs, downstream } = options;
  const { url, method } = target;
  const body = bodyFor(options, target, job);
  const headers = await headersFor(target, body, job, context);
  const fromMs = performance.now();
  let ok = false;
  try {
    const answer = await send({
      url,
      method,
      headers,
      body,
      keepBytes: keep === undefined ? EXCERPT_BYTES : RESULT_BYTES,
      readMs: keep === undefined ? EXCERPT_MS : timeoutMs,
      timeoutMs,
      signal: context.signal,
    }, transport);
    ok = answer.status < 400 || judge(answer.status, options) === "done";
    return answer;
  } finally {
    if (downstream !== undefined) context.used(downstream, { ms: performance.now() - fromMs, ok });
  }
}
