/**
 * Times as ISO 8601 writes them, with their zone.
 *
 * @module
 */

const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** What is wrong with a text that is no such time. */
export const NO_ISO_TIME =
  "a time with its zone, such as 2026-12-24T18:00:00Z or 2026-12-24T19:00:00+01:00";

/** Reads one. @returns ms since epoch. `undefined`: it is none, or the day does not exist. */
export function isoTime(text: unknown): number | undefined {
  if (typeof text !== "string" || !ISO.test(text)) return undefined;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) return undefined;
  const [year, month, day] = text.slice(0, 10).split("-").map(Number) as [number, number, number];
  return day <= new Date(Date.UTC(year, month, 0)).getUTCDate() ? ms : undefined;
}
