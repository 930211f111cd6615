/**
 * Figures in words.
 *
 * @module
 */

/** A rate with as many digits as say something: `2.5`, `40`. */
export function rate(perSec: number): string {
  return perSec < 10 ? String(Math.round(perSec * 10) / 10) : String(Math.round(perSec));
}

/** A duration in the largest unit that it fills: `250 ms`, `4.2 s`, `1.5 min`. */
export function duration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`;
  return ms < 3_597_000 ? `${(ms / 60_000).toFixed(1)} min` : `${(ms / 3_600_000).toFixed(1)} h`;
}
