/**
 * `Retry-After`, as a deferral.
 *
 * @module
 */

/** Shortest deferral, ms: `Retry-After: 0`, or a time that is past, must not make a loop of calls. */
const SHORTEST_RETRY_MS = 1000;

/** Longest deferral, ms: a mistyped `Retry-After` must not park a job for years. */
const LONGEST_RETRY_MS = 3_600_000;

/**
 * How long the receiver asks to be left alone, ms.
 *
 * @param headers Of its answer: `Retry-After` in seconds or as a date (RFC 9110, 10.2.3).
 * @returns `undefined` if it names no time, or none that can be read.
 */
export function retryAfterMs(headers: Headers): number | undefined {
  const value = headers.get("retry-after")?.trim() ?? "";
  const seconds = /^\d+(\.\d+)?$/.test(value) ? Number(value) : undefined;
  const askedMs = seconds === undefined ? untilMs(value, headers.get("date")) : seconds * 1000;
  if (Number.isNaN(askedMs)) return undefined;
  return Math.min(Math.max(askedMs, SHORTEST_RETRY_MS), LONGEST_RETRY_MS);
}

/** Reckoned by the receiver's own clock if it tells it: ours may differ. NaN if `date` is none. */
function untilMs(date: string, receiverNow: string | null): number {
  const nowMs = Date.parse(receiverNow ?? "");
  return Date.parse(date) - (Number.isNaN(nowMs) ? Date.now() : nowMs);
}
