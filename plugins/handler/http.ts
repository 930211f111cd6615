/**
 * The `http` handler: delivers each job's payload to a URL.
 *
 * @module
 */

import * as v from "valibot";
import { Fatal, RetryLater } from "../../src/contract/errors.ts";
import type { Job, JobContext } from "../../src/contract/job.ts";
import { defineHandler, type Plugin } from "../../src/contract/plugin.ts";
import { retryAfterMs } from "./_retry_after.ts";
import { placeOf, send, type SentAnswer, withoutHeaders } from "./_send.ts";

/** Options of `http`. */
export interface HttpOptions {
  /** Where to deliver: an `http:` or `https:` URL. */
  readonly url: string;
  /** Method of the request. @default {"POST"} */
  readonly method?: "POST" | "PUT" | "PATCH";
  /** Headers of every request. Secrets are `{ "env": "NAME" }`. @default {{}} */
  readonly headers?: Readonly<Record<string, string>>;
  /** Longest time from the request to the status of the answer, ms. @default {10000} */
  readonly timeoutMs?: number;
  /**
   * Name of the downstream that it calls, as in `downstreams`: its requests are counted, and what refuses
   * or fails is that one.
   *
   * @default {the only one with a cooldown that the pool uses}
   */
  readonly downstream?: string;
}

/** Statuses that say "later" rather than "no", of the receiver as a whole. */
const DEFERRING: ReadonlySet<number> = new Set([408, 425, 429, 503, 529]);

/** Those of them that say so without naming a time: the others may be about one request. */
const OVERLOADED: ReadonlySet<number> = new Set([429, 503, 529]);

/** Wait when the receiver asks for one without saying how long, ms. */
const DEFAULT_RETRY_MS = 1000;

/** Longest delay a platform timer takes, ms. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

const Options = v.strictObject({
  url: v.pipe(
    v.string(),
    v.url('Expected a URL such as "https://example.com/hook"'),
    v.regex(/^https?:\/\//, 'Expected a URL that begins with "http://" or "https://"'),
  ),
  method: v.exactOptional(v.picklist(["POST", "PUT", "PATCH"]), "POST"),
  headers: v.exactOptional(
    v.record(
      v.pipe(v.string(), v.regex(/^[\w!#$%&'*+.^`|~-]+$/, "Expected a header name")),
      v.pipe(
        v.string(),
        v.regex(/^[\t\x20-\x7e\x80-\xff]*$/, "Expected a header value in one line of Latin-1"),
      ),
    ),
    {},
  ),
  timeoutMs: v.exactOptional(
    v.pipe(v.number(), v.minValue(1), v.maxValue(LONGEST_DELAY_MS)),
    10_000,
  ),
  downstream: v.exactOptional(v.pipe(v.string(), v.minLength(1))),
});

type Settings = v.InferOutput<typeof Options>;

/**
 * Sends the payload as JSON and judges the answer by its status: 2xx is done with result
 * `{ status }`; 408, 425, 429, 503 and 529 defer the job by `Retry-After`, or by a second without one,
 * and are the receiver's word: caps hear it, and the pool cools down. Any other 4xx or 5xx with a `Retry-After` defers
 * this job only. Without one other 4xx are fatal, as redirects are; the rest, silence and network
 * faults are failures. Errors have the status, the path and how the body begins, but no query.
 *
 * `idempotency-key` is the same for every attempt of a job. `sluice-job-id`, `sluice-lane` and
 * `sluice-attempt` say which job it is.
 */
export const http: Plugin<"handler", HttpOptions> = defineHandler({
  name: "http",
  options: Options,
  create: (options) => ({ run: (job, context) => deliver(options, job, context) }),
});

async function deliver(
  options: Settings,
  job: Job,
  context: JobContext,
): Promise<{ readonly status: number }> {
  const { url, downstream } = options;
  const { status, headers, excerpt } = await counted(options, job, context);
  if (status >= 200 && status < 300) return { status };
  const place = `${placeOf(url)} answered ${status}`;
  const answer = excerpt === "" ? place : `${place}: ${withoutHeaders(excerpt, options.headers)}`;
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
async function counted(options: Settings, job: Job, context: JobContext): Promise<SentAnswer> {
  const { url, method, timeoutMs, downstream } = options;
  const fromMs = performance.now();
  let ok = false;
  try {
    const answer = await send({
      url,
      method,
      headers: headersFor(options, job, context),
      body: JSON.stringify(job.payload) ?? "null",
      timeoutMs,
      signal: context.signal,
    });
    ok = answer.status < 400;
    return answer;
  } finally {
    if (downstream !== undefined) context.used(downstream, { ms: performance.now() - fromMs, ok });
  }
}

/** Where OpenTelemetry is on, `fetch` itself adds the header, of its own span: a second one would void both. */
const OTEL = Symbol.for("opentelemetry.js.api.1");

function headersFor(options: Settings, job: Job, context: JobContext): Headers {
  const headers = new Headers(options.headers);
  if (!headers.has("content-type")) headers.set("content-type", "application/json");
  headers.set("idempotency-key", headerSafe(context.idempotencyKey));
  headers.set("sluice-job-id", headerSafe(job.id));
  headers.set("sluice-lane", headerSafe(job.lane));
  headers.set("sluice-attempt", String(job.attempt));
  if (job.traceparent !== undefined && !(OTEL in globalThis)) {
    headers.set("traceparent", headerSafe(job.traceparent));
  }
  return headers;
}

/** Names may hold any characters, headers may not: the others are percent-encoded. */
function headerSafe(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]+/gu, encodeURIComponent);
}
