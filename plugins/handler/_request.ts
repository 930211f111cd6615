/**
 * What is sent beside the payload.
 *
 * @module
 */

import type { Job, JobContext } from "../../src/contract/job.ts";

/** Where OpenTelemetry is on, `fetch` itself adds the header, of its own span: a second one would void both. */
const OTEL = Symbol.for("opentelemetry.js.api.1");

/** The headers of one attempt: those given, and which job it is. */
export function headersFor(given: Headers, job: Job, context: JobContext): Headers {
  const headers = new Headers(given);
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
