/**
 * The `http` handler: delivers each job's payload to a URL.
 *
 * @module
 */

import { defineHandler, type Plugin } from "../../src/contract/plugin.ts";
import { handlerOf } from "./_deliver.ts";
import { Options } from "./_http_options.ts";

/** Options of `http`. */
export interface HttpOptions {
  /**
   * Where to deliver: an `http:` or `https:` URL, or the field of the payload that has it, such as
   * `payload.url`, with what it may be: `https://example.com`, `https://*.example.com` for the names below,
   * `https://*` for all. A name or an address that is private or local is refused unless `privateAddresses`
   * is true.
   */
  readonly url: string | {
    readonly from: string;
    readonly allow: readonly string[];
    readonly privateAddresses?: boolean;
  };
  /**
   * Method of the request, or the field of the payload that has it, with those that it may be: the first of
   * them for a payload without one. `GET` sends no body.
   *
   * @default {"POST"}
   */
  readonly method?: HttpMethod | { readonly from: string; readonly allow: readonly HttpMethod[] };
  /**
   * Headers of every request: texts, or the fields of the payload that have them. Secrets are
   * `{ "env": "NAME" }`.
   *
   * @default {{}}
   */
  readonly headers?: Readonly<Record<string, string | { readonly from: string }>>;
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

/** A method of a request. */
export type HttpMethod = "POST" | "PUT" | "PATCH" | "GET" | "DELETE";

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
  create: handlerOf,
});
