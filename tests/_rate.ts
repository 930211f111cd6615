/**
 * How fast things came.
 *
 * @module
 */

/** Most of `times`, ms, in any half-open second. */
export function mostInASecond(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  let most = 0;
  for (let from = 0, to = 0; from < sorted.length; from++) {
    while (to < sorted.length && sorted[to]! < sorted[from]! + 1000) to++;
    most = Math.max(most, to - from);
  }
  return most;
}
