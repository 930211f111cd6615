/**
 * `Retry-After`, as a deferral.
 *
 * @module
 */

import { httpDateMs } from "../../src/base/http_date.ts";
import { LONGEST_DELAY_MS } from "../../src/contract/job.ts";

/** Shortest deferral, ms: `Retry-After: 0`, or a time that is past, must not make a loop of calls. */
const SHORTEST_RETRY_MS = 1000;

/**
 * How long the receiver asks to be left alone, ms: never less, but a second at least and 100 years at most.
 *
 * @param headers Of its answer: `Retry-After` in seconds or as a date (RFC 9110, 10.2.3).
 * @returns `undefined` if it names no time, or none that can be read.
 */
export function retryAfterMs(headers: Headers): number | undefined {
  const value = headers.get("retry-after")?.trim() ?? "";
  const askedMs = /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1000 : untilMs(value, headers);
  if (askedMs === undefined) return undefined;
  return Math.min(Math.max(askedMs, SHORTEST_RETRY_MS), LONGEST_DELAY_MS);
}

/** By the receiver's own clock if it tells it: ours may differ. */
function untilMs(date: string, headers: Headers): number | undefined {
  const here = Date.now();
  const nowMs = httpDateMs(headers.get("date")?.trim() ?? "", here) ?? here;
  const atMs = httpDateMs(date, nowMs);
  return atMs === undefined ? undefined : atMs - nowMs;
}
