/**
 * What is sent beside the payload.
 *
 * @module
 */

import type { Job, JobContext } from "../../src/contract/job.ts";
import type { HttpSettings } from "./_http_options.ts";
import { signatureHeaders } from "./_sign.ts";
import type { CallTarget } from "./_target.ts";
import { fill } from "./_template.ts";

/** Where OpenTelemetry is on, `fetch` itself adds the header, of its own span: a second one would void both. */
const OTEL = Symbol.for("opentelemetry.js.api.1");

/** The body of a job: its payload, or what the options say. `undefined`: none. */
export function bodyFor(
  { body }: HttpSettings,
  { method }: CallTarget,
  job: Job,
): string | undefined {
  if (method === "GET") return undefined;
  return JSON.stringify(body === undefined ? job.payload : fill(body, job)) ?? "null";
}

/** The headers of one attempt: those of its target, which job it is, and who says so. */
export async function headersFor(
  target: CallTarget,
  body: string | undefined,
  job: Job,
  context: JobContext,
): Promise<Headers> {
  const headers = new Headers(target.headers);
  if (body !== undefined && !headers.has("content-type")) {
    headers.set("content-type", "application/json");
  }
  const id = headerSafe(context.idempotencyKey);
  headers.set("idempotency-key", id);
  headers.set("sluice-job-id", headerSafe(job.id));
  headers.set("sluice-lane", headerSafe(job.lane));
  headers.set("sluice-attempt", String(job.attempt));
  if (job.traceparent !== undefined && !(OTEL in globalThis)) {
    headers.set("traceparent", headerSafe(job.traceparent));
  }
  if (target.secret !== undefined) {
    const signed = { id, atMs: Date.now(), body: body ?? "" };
    const signature = await signatureHeaders(target.secret, signed);
    for (const [name, value] of Object.entries(signature)) headers.set(name, value);
  }
  return headers;
}

/** Names may hold any characters, headers may not: the others are percent-encoded. */
function headerSafe(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]+/gu, encodeURIComponent);
}
