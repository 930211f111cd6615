/**
 * Round numbers, for steps that people read.
 *
 * @module
 */

/** The smallest of 1, 2 and 5 times a power of ten that is at least `value`, > 0. */
export function nice(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  // A logarithm may be off in its last digit.
  const factor = [1, 2, 5, 10].find((factor) => factor * power >= value * (1 - 1e-9)) ?? 10;
  return factor < 1 || power >= 1 ? factor * power : Number((factor * power).toPrecision(1));
}
