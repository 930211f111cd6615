/**
 * Figures as people read them in tables and on pages.
 *
 * @module
 */

/** A duration with the units that suit it: `12 ms`, `1.5 s`, `1 min 55 s`, `2 h 5 min`, `3 d 4 h`. */
export function duration(ms: number): string {
  if (ms < 999.5) return `${ms < 9.95 ? tenths(ms) : Math.round(ms)} ms`;
  if (ms < 59_950) return `${tenths(ms / 1_000)} s`;
  if (ms < 3_599_500) return twoUnits(Math.round(ms / 1_000), 60, ["min", "s"]);
  if (ms < 86_370_000) return twoUnits(Math.round(ms / 60_000), 60, ["h", "min"]);
  return twoUnits(Math.round(ms / 3_600_000), 24, ["d", "h"]);
}

function twoUnits(small: number, each: number, [large, rest]: readonly [string, string]): string {
  const left = small % each;
  const whole = `${grouped((small - left) / each)} ${large}`;
  return left === 0 ? whole : `${whole} ${left} ${rest}`;
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}

/** A number with its digits in groups of three: `12,345`. */
export function grouped(value: number): string {
  const text = String(value);
  if (value < 1_000 || !/^[\d.]+$/.test(text)) return text;
  const [whole = "", ...rest] = text.split(".");
  return [whole.replaceAll(/\B(?=(\d{3})+$)/g, ","), ...rest].join(".");
}

/** A rate with as many digits as are of use. */
export function rate(perSec: number): string {
  return perSec < 9.95 ? perSec.toFixed(1) : grouped(Math.round(perSec));
}

/** A word with its count, which may be a figure already: `1 pool`, `2,000 pools`, `0.5 jobs`. */
export function counted(count: number | string, word: string): string {
  return `${typeof count === "number" ? grouped(count) : count} ${
    agreeing(count, word, `${word}s`)
  }`;
}

/** The form of a word that agrees with a count: `agreeing(1, "is", "are")`. */
export function agreeing(count: number | string, one: string, many: string): string {
  return String(count) === "1" ? one : many;
}

/** A figure to three digits after the point: times since epoch have no more, and nobody reads more. */
export function thousandths(value: number): number {
  return Math.round(value * 1000) / 1000;
}
