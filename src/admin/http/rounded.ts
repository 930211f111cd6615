/**
 * Times and durations as they are shown: the clock has more digits than anybody reads.
 *
 * @module
 */

import { thousandths } from "../../base/format.ts";

/** Names of numbers that are times or durations, or quantiles of them. */
const TIMES = /Ms$|^(mean|p50|p95|p99)$/;

/** A copy of plain data with its times and durations in ms to three digits after the point. */
export function rounded<T>(value: T): T {
  return copy(value, "") as T; // the same shape: only numbers differ, by less than a microsecond
}

function copy(value: unknown, name: string): unknown {
  if (typeof value === "number") {
    return TIMES.test(name) && Number.isFinite(value) ? thousandths(value) : value;
  }
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => copy(item, name));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copy(item, key)]));
}
