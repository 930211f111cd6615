/**
 * Figures as people read them.
 *
 * @module
 */

import { grouped } from "../../base/format.ts";

/** A duration at an axis, with the one unit that suits it. */
export function tick(ms: number): string {
  if (ms < 1000) return `${short(ms)} ms`;
  if (ms < 120_000) return `${short(ms / 1000)} s`;
  return ms < 7_200_000 ? `${short(ms / 60_000)} min` : `${short(ms / 3_600_000)} h`;
}

/** A count or rate: groups of three digits, one digit after the point below 10. */
export function short(value: number): string {
  const rounded = value < 10 ? Math.round(value * 10) / 10 : Math.round(value);
  return grouped(rounded);
}

/** `a`, `a and b`, `a, b and c`. */
export function listed(words: readonly string[]): string {
  const last = words.at(-1) ?? "";
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} and ${last}`;
}
