/**
 * Answers of the API: JSON, and problems as RFC 9457 has them.
 *
 * @module
 */

import type { Context, TypedResponse } from "hono";
import type { StatusCode } from "hono/utils/http-status";
import { display, MOST_FAULTS } from "../../config/faults.ts";
import { suggestion } from "../../base/suggest.ts";
import type { Problem, ProblemError } from "./wire.ts";

/** Statuses of problems. */
export type ProblemStatus =
  | 400
  | 401
  | 403
  | 404
  | 405
  | 408
  | 409
  | 413
  | 415
  | 421
  | 422
  | 429
  | 500
  | 503;

/** What a problem may carry besides its sentence. */
export interface ProblemExtra {
  /** Each fault with its place. */
  readonly errors?: readonly ProblemError[];
  /** Names that exist. */
  readonly pools?: readonly string[];
  /** When to come back, ms. */
  readonly retryAfterMs?: number;
  /** Why the job was rejected. */
  readonly reason?: string;
  /** What became of each job of many. */
  readonly results?: readonly unknown[];
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Headers of every answer that is not a page: nothing may be sniffed, kept, framed or run. */
export const API_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "application/json",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
};

/**
 * Headers of an enqueue's answer. No cache keeps the answer to a POST, no page can embed one, and
 * Deno answers faster if the type is all there is to say.
 */
export const ENQUEUE_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "application/json",
};

const TITLES: Readonly<Record<ProblemStatus, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  421: "Misdirected Request",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

/** An answer with JSON, typed for `hc`. */
export type Answer<T, Status extends number> =
  & Response
  & TypedResponse<T, Status & StatusCode, "json">;

/** Answers with JSON. Typed as the value itself: what JSON makes of it is the caller's to get right. */
export function answer<T, Status extends number>(
  value: T,
  status: Status,
  headers = API_HEADERS,
): Answer<T, Status> {
  const response = new Response(JSON.stringify(value), { status, headers });
  return response as Answer<T, Status>; // the type exists for `hc` only
}

/** Answers with a problem. */
export function problem<Status extends ProblemStatus>(
  status: Status,
  detail: string,
  extra: ProblemExtra = {},
): Response & TypedResponse<Problem, Status, "json"> {
  const { headers, ...members } = extra;
  const body = { type: "about:blank", title: TITLES[status], status, detail, ...members };
  const response = new Response(JSON.stringify(body), {
    status,
    headers: { ...API_HEADERS, "content-type": "application/problem+json", ...headers },
  });
  // `TypedResponse` exists for the types of `hc` only.
  return response as Response & TypedResponse<Problem, Status, "json">;
}

/**
 * The same answer, announcing more than it has, so that its connection breaks. Hint: a client that sends
 * no more of its body else holds a server of Deno forever that was asked to shut down.
 */
export function breakingOff<Whole extends Response>(whole: Whole): Whole {
  const { body, status, headers } = whole;
  headers.set("content-length", "1000000");
  const broken = new Response(body?.pipeThrough(new TransformStream()), { status, headers });
  return broken as Whole; // `TypedResponse` exists for the types of `hc` only
}

/** Answers 400 with every fault. */
export function badRequest(
  errors: readonly ProblemError[],
  unlisted = 0,
): Response & TypedResponse<Problem, 400, "json"> {
  const first = errors[0]?.detail ?? "The request has faults";
  const others = errors.length + unlisted - 1;
  const more = others > 0 ? ` (and ${others} more)` : "";
  return problem(400, `${first}${more}`, { errors: errors.slice(0, MOST_FAULTS) });
}

/**
 * A fault for each query parameter that is not known, and for each that is given again: one of the
 * values would be left out unheard. Those of `lists` may be given more than once.
 */
export function queryFaults(
  c: Context,
  known: readonly string[],
  lists: readonly string[] = [],
): readonly ProblemError[] {
  if (!c.req.raw.url.includes("?")) return [];
  const faults: ProblemError[] = [];
  for (const [name, { length: times }] of Object.entries(c.req.queries())) {
    if (lists.includes(name)) continue;
    const pointer = `?${name}`;
    if (!known.includes(name)) {
      const hint = suggestion(name, [...known, ...lists]);
      faults.push({ pointer, detail: `No query parameter is named ${display(name)}${hint}` });
    } else if (times > 1) {
      const detail = `The query parameter ${display(name)} is given ${times} times: give it once`;
      faults.push({ pointer, detail });
    }
  }
  return faults;
}

/** Refuses query parameters where a route takes none. `undefined`: there are none. `instead`: what to do. */
export function refuseQuery(
  c: Context,
  instead = "leave it out",
): ReturnType<typeof badRequest> | undefined {
  const faults = queryFaults(c, []).map(({ pointer, detail }) => ({
    pointer,
    detail: `${detail}: ${instead}`,
  }));
  return faults.length === 0 ? undefined : badRequest(faults);
}

/**
 * Reads a whole number from the query. One that is too large is clamped.
 *
 * @returns The number, or the fault.
 */
export function queryNumber(
  c: Context,
  name: string,
  bounds: { readonly min: number; readonly max: number; readonly default: number },
): number | ProblemError {
  const given = c.req.query(name);
  if (given === undefined) return bounds.default;
  const { min, max } = bounds;
  if (!/^\d{1,15}$/.test(given) || Number(given) < min) {
    return {
      pointer: `?${name}`,
      detail: `Expected ${name} to be a whole number >= ${min} but received ${display(given)}`,
    };
  }
  return Math.min(max, Number(given));
}
