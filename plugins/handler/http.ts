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
  /**
   * The body: JSON whose texts may name fields, such as `{{payload.order.id}}`, `{{job.id}}` and
   * `{{job.attempt}}`. A text that is one field becomes its value.
   *
   * @default {the payload}
   */
  readonly body?: unknown;
  /**
   * Signs requests as Standard Webhooks does, by `webhook-id`, `webhook-timestamp` and `webhook-signature`:
   * with `secret`, or by where they go: `secrets` has one for a pattern as in `url.allow`, the first that fits.
   * A secret is a text, or `whsec_` and Base64.
   *
   * @default {none are signed}
   */
  readonly sign?: {
    readonly secret?: string;
    readonly secrets?: Readonly<Record<string, string>>;
  };
  /** Longest time from the request to the status of the answer, and to the end of what is kept, ms. @default {10000} */
  readonly timeoutMs?: number;
  /** Statuses with which a job is done: 200 to 599, or `"2xx"` for a hundred of them. @default {["2xx"]} */
  readonly success?: readonly (number | "2xx" | "3xx" | "4xx" | "5xx")[];
  /**
   * Statuses that are failures, so that the job is tried again: as in `success`. With others it is dead, but
   * those that say "later" defer it.
   *
   * @default {["5xx"]}
   */
  readonly retry?: readonly (number | "2xx" | "3xx" | "4xx" | "5xx")[];
  /**
   * `"body"`: the result has the first 8 KiB of the answer's body, if it is a text: what it says if it is
   * JSON. `cut` is true if there was more, or it came too late.
   *
   * @default {nothing: the result is the status}
   */
  readonly keep?: "body";
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
 * Sends the payload as JSON and judges the answer by its status: one of `success` is done with result
 * `{ status }`; 408, 425, 429, 503 and 529 defer the job by `Retry-After`, or by a second without one,
 * and are the receiver's word: caps hear it, and the pool cools down. Any other 4xx or 5xx, or one of
 * `retry`, with a `Retry-After` defers this job only. Without one those of `retry` are failures, as silence
 * and network faults are; the rest is fatal, as redirects are. Errors have the status, the path and how the
 * body begins, but no query.
 *
 * `idempotency-key` is the same for every attempt of a job. `sluice-job-id`, `sluice-lane` and
 * `sluice-attempt` say which job it is.
 */
export const http: Plugin<"handler", HttpOptions> = defineHandler({
  name: "http",
  options: Options,
  create: handlerOf,
});
