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
    case "percentiles":
      return percentiles(of, random);
  }
}

/** Percentiles that durations may be drawn through, each with its place in the standard normal distribution. */
export const PERCENTILES = {
  p50: 0,
  p75: 0.6744898,
  p90: 1.2815516,
  p95: 1.6448536,
  p99: 2.3263479,
} as const;

/** Those that are given, lowest first: place and duration, ms. */
export function percentilesIn(
  of: Extract<Duration, { readonly kind: "percentiles" }>,
): readonly { readonly name: string; readonly at: number; readonly ms: number }[] {
  const names = Object.keys(PERCENTILES) as (keyof typeof PERCENTILES)[]; // just these
  return names.flatMap((name) => {
    const ms = of[name];
    return ms === undefined ? [] : [{ name, at: PERCENTILES[name], ms }];
  });
}

/** Between two percentiles, and beyond the outer ones, a log-normal: its logarithm goes straight. */
function percentiles(
  of: Extract<Duration, { readonly kind: "percentiles" }>,
  random: () => number,
): () => number {
  const points = percentilesIn(of).map(({ at, ms }) => ({ at, log: Math.log(ms) }));
  const most = of.max ?? Infinity;
  return () => {
    const at = unitNormal(random);
    const above = points.findIndex((point, index) => index > 0 && at < point.at);
    const upper = above < 0 ? points.length - 1 : above;
    const [from, to] = [points[upper - 1]!, points[upper]!]; // the check saw to it that there are two
    const slope = (to.log - from.log) / (to.at - from.at);
    return Math.min(most, Math.exp(from.log + slope * (at - from.at)));
  };
}

/** Exponential with mean 1. */
export function unitExponential(random: () => number): number {
  return -Math.log(1 - random());
}

/** Box and Muller, 1958; the second value is thrown away, so that each draw takes two numbers. */
function unitNormal(random: () => number): number {
  return Math.sqrt(2 * unitExponential(random)) * Math.cos(2 * Math.PI * random());
}
