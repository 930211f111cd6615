// @ts-check

/**
 * Figures as people read them: what `figures.ts` does on the server, for what scripts draw. A test holds
 * them to each other.
 */

/**
 * A duration with the units that suit it.
 *
 * @param {number} ms
 * @returns {string}
 */
export function duration(ms) {
  if (ms < 999.5) return `${ms < 9.95 ? tenths(ms) : Math.round(ms)} ms`;
  if (ms < 59_950) return `${tenths(ms / 1_000)} s`;
  if (ms < 3_599_500) return twoUnits(Math.round(ms / 1_000), 60, "min", "s");
  if (ms < 86_370_000) return twoUnits(Math.round(ms / 60_000), 60, "h", "min");
  return twoUnits(Math.round(ms / 3_600_000), 24, "d", "h");
}

/**
 * A duration at an axis, with the one unit that suits it.
 *
 * @param {number} ms
 * @returns {string}
 */
export function tick(ms) {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${tenths(ms / 1_000)} s`;
  return ms < 3_600_000 ? `${tenths(ms / 60_000)} min` : `${tenths(ms / 3_600_000)} h`;
}

/**
 * A number with its digits in groups of three.
 *
 * @param {number} value
 * @returns {string}
 */
export function grouped(value) {
  const text = String(value);
  if (value < 1_000 || !/^[\d.]+$/.test(text)) return text;
  const [whole = "", ...rest] = text.split(".");
  return [whole.replaceAll(/\B(?=(\d{3})+$)/g, ","), ...rest].join(".");
}

/**
 * A rate with as many digits as are of use.
 *
 * @param {number} perSec
 * @returns {string}
 */
export function rate(perSec) {
  return perSec < 9.95 ? perSec.toFixed(1) : grouped(Math.round(perSec));
}

/**
 * @param {number} small
 * @param {number} each
 * @param {string} large
 * @param {string} rest
 */
function twoUnits(small, each, large, rest) {
  const left = small % each;
  const whole = `${grouped((small - left) / each)} ${large}`;
  return left === 0 ? whole : `${whole} ${left} ${rest}`;
}

/** @param {number} value */
function tenths(value) {
  return Math.round(value * 10) / 10;
}
