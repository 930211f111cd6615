/**
 * Rates of calls as an API states them, and what they come to in starts.
 *
 * @module
 */

import { duration } from "../../src/base/format.ts";
import * as v from "valibot";
import type { StartLimit } from "../../src/contract/strategy.ts";

/** Calls in a window, as an API states them. */
export interface CallRate {
  /** Calls in any window, > 0. */
  readonly calls: number;
  /** Length of the window, ms, 1,000 (a second) to 86,400,000 (a day). */
  readonly perMs: number;
  /**
   * How many jobs of lanes below the highest may start at once after a pause, >= 1; else they are spread
   * over the window evenly.
   *
   * @default {1}
   */
  readonly burst?: number;
  /** Name of the lane whose calls count, and no others. @default {all lanes} */
  readonly lane?: string;
}

/** A window up to this bounds workers, ms: a longer one may be used up by many at once. */
const SHORT_MS = 10_000;

const positive = v.pipe(v.number(), v.gtValue(0));

/** Checks rates. */
export const CallRates = v.array(v.strictObject({
  calls: positive,
  perMs: v.pipe(v.number(), v.minValue(1000), v.maxValue(86_400_000)),
  burst: v.exactOptional(v.pipe(v.number(), v.minValue(1))),
  lane: v.exactOptional(v.string()),
}));

/** The limit on starts of jobs. */
export function limitOf(
  { calls, perMs, burst, lane }: CallRate,
  { callsPerJob, headroom }: { readonly callsPerJob: number; readonly headroom: number },
): StartLimit {
  const jobs = calls / callsPerJob;
  const starts = jobs - jobs * headroom * 1000 / perMs;
  return {
    ...{ starts, perMs },
    ...(burst === undefined ? {} : { burst }),
    ...(lane === undefined ? {} : { lane }),
  };
}

/** Calls per second of the slowest that all lanes may make at a time. `Infinity`: no rate says so. */
export function steadyOf(rates: readonly CallRate[]): number {
  const steady = rates.filter(({ perMs, lane }) => perMs <= SHORT_MS && lane === undefined);
  return Math.min(Infinity, ...steady.map(({ calls, perMs }) => calls * 1000 / perMs));
}

/** For reasons. */
export function inWords(rates: readonly CallRate[]): string {
  return rates.map(({ calls, perMs, lane }) => {
    const per = perMs === 1000 ? "calls/s" : `calls in ${duration(perMs)}`;
    return `${round(calls)} ${per}${lane === undefined ? "" : ` of lane ${lane}`}`;
  }).join(" and ");
}

/** For reasons: what starts. */
export function startsInWords(limits: readonly StartLimit[]): string {
  const ofAll = limits.filter(({ lane }) => lane === undefined);
  const slowest = Math.min(
    ...(ofAll.length > 0 ? ofAll : limits).map(({ starts, perMs }) => starts * 1000 / perMs),
  );
  return `${round(slowest)} starts/s`;
}

/** For reasons: six digits. */
export function round(value: number): number {
  return Number(value.toPrecision(6));
}
