/**
 * Dates of HTTP headers.
 *
 * @module
 */

/** `Sunday, 06-Nov-94 08:49:37 GMT`: obsolete, still to be read. */
const RFC_850 = /^[A-Z][a-z]+day, (\d\d)-([A-Z][a-z]{2})-(\d\d) (\d\d:\d\d:\d\d) GMT$/;

/** `Sun Nov  6 08:49:37 1994`: names no zone and means UTC. */
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d \d{4}$/;

/** A date and a zone: `Sun, 06 Nov 1994 08:49:37 GMT`, and what some servers send in its place. */
const ZONED = /^[\w,: -]*\d\d:\d\d:\d\d(?:\.\d+)? ?(?:GMT|UTC|Z|[+-]\d\d:?\d\d)$/;

/** A year of two digits lies at most so far ahead. */
const MOST_YEARS_AHEAD = 50;

/**
 * Reads a date in any form of RFC 9110, 5.6.7, and one of ISO 8601 that names its zone.
 *
 * @param nowMs Says which century a year of two digits is in.
 * @returns ms since epoch. `undefined`: `text` is no date.
 */
export function httpDateMs(text: string, nowMs: number): number | undefined {
  const atMs = Date.parse(inFull(text, nowMs) ?? "");
  return Number.isNaN(atMs) ? undefined : atMs;
}

/** With a zone and a year of four digits. `undefined`: it has none of the forms. */
function inFull(text: string, nowMs: number): string | undefined {
  const old = RFC_850.exec(text);
  if (old !== null) {
    const [, day, month, years, time] = old;
    const thisYear = new Date(nowMs).getUTCFullYear();
    const year = thisYear - thisYear % 100 + Number(years);
    const past = year > thisYear + MOST_YEARS_AHEAD ? year - 100 : year;
    return `${day} ${month} ${past} ${time} GMT`;
  }
  if (ASCTIME.test(text)) return `${text} GMT`;
  return ZONED.test(text) ? text : undefined;
}
