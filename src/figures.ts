/**
 * Figures as people read them in tables and on pages.
 *
 * @module
 */

/** A duration with the unit that suits it. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return ms < 3_600_000 ? `${(ms / 60_000).toFixed(1)} min` : `${(ms / 3_600_000).toFixed(1)} h`;
}

/** A rate with as many digits as are of use. */
export function rate(perSec: number): string {
  return perSec < 10 ? perSec.toFixed(1) : String(Math.round(perSec));
}

/** A word with its count, which may be a figure already: `1 pool`, `2 pools`, `0.5 jobs`. */
export function counted(count: number | string, word: string): string {
  return `${count} ${agreeing(count, word, `${word}s`)}`;
}

/** The form of a word that agrees with a count: `agreeing(1, "is", "are")`. */
export function agreeing(count: number | string, one: string, many: string): string {
  return String(count) === "1" ? one : many;
}

/** A figure to three digits after the point: times since epoch have no more, and nobody reads more. */
export function thousandths(value: number): number {
  return Math.round(value * 1000) / 1000;
}
