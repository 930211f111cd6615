/**
 * Draws durations.
 *
 * @module
 */

import type { Duration } from "./scenario.ts";

/** What draws a duration, ms, each time it is called. @param random 0 to below 1. */
export function durations(of: Duration, random: () => number): () => number {
  switch (of.kind) {
    case "fixed":
      return () => of.ms;
    case "uniform":
      return () => of.min + (of.max - of.min) * random();
    case "exponential":
      return () => of.ms * unitExponential(random);
    case "lognormal": {
      // Of mean m and variance (m cv)^2: sigma^2 = ln(1 + cv^2), mu = ln m - sigma^2 / 2.
      const variance = Math.log(1 + of.cv ** 2);
      const mu = Math.log(of.ms) - variance / 2;
      const sigma = Math.sqrt(variance);
      return () => Math.exp(mu + sigma * unitNormal(random));
    }
  }
}

/** Exponential with mean 1. */
export function unitExponential(random: () => number): number {
  return -Math.log(1 - random());
}

/** Box and Muller, 1958; the second value is thrown away, so that each draw takes two numbers. */
function unitNormal(random: () => number): number {
  return Math.sqrt(2 * unitExponential(random)) * Math.cos(2 * Math.PI * random());
}
