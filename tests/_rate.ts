/**
 * How fast things came.
 *
 * @module
 */

/** Most of `times`, ms, in any half-open second. */
export function mostInASecond(times: readonly number[]): number {
  return mostWithin(times, 1000);
}

/** Most of `times`, ms, in any half-open window of `spanMs`. */
export function mostWithin(times: readonly number[], spanMs: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  let most = 0;
  for (let from = 0, to = 0; from < sorted.length; from++) {
    while (to < sorted.length && sorted[to]! - sorted[from]! < spanMs - 1e-7) to++;
    most = Math.max(most, to - from);
  }
  return most;
}

/** Throws if more than N = ceil(`perSec`) of `times`, ms, came within N / `perSec` seconds, or within one. */
export function assertRate(times: readonly number[], perSec: number): void {
  const most = Math.ceil(perSec);
  for (const spanMs of [1000, most * 1000 / perSec]) {
    const count = mostWithin(times, spanMs);
    if (count > most) throw new Error(`${count} in ${spanMs} ms at ${perSec} a second`);
  }
}
