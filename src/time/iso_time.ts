/**
 * Times as people and programs read them.
 *
 * @module
 */

/** Latest time that a date can say, ms. A store may hold a later one. */
export const LAST_TIME_MS = 8.64e15;

/** A time as ISO text. */
export function isoTime(atMs: number): string {
  return atMs > LAST_TIME_MS ? "never" : new Date(atMs).toISOString();
}
