/**
 * The `api-rate-cap` cap.
 *
 * @module
 */

import { counted } from "../../src/base/format.ts";
import * as v from "valibot";
import { OptionError } from "../../src/contract/errors.ts";
import { defineCap, type Plugin } from "../../src/contract/plugin.ts";
import type { Cap, Limit } from "../../src/contract/strategy.ts";
import {
  type CallRate,
  CallRates,
  inWords,
  limitOf,
  round,
  startsInWords,
  steadyOf,
} from "./_call_rates.ts";

export type { CallRate } from "./_call_rates.ts";

/** Options of `api-rate-cap`. One of `callsPerSec` and `rates` at least. */
export interface ApiRateCapOptions {
  /** Calls per second that the API allows, > 0. The same as a rate with `perMs` 1,000. */
  readonly callsPerSec?: number;
  /** More rates, of windows of a second to a day: all of them hold. */
  readonly rates?: readonly CallRate[];
  /** Calls that a job makes, > 0. @default {1} */
  readonly callsPerJob?: number;
  /** Run time of a job while the API is healthy, ms, > 0. Omitted: only the rate is bound, not the workers. */
  readonly serviceMs?: number;
  /**
   * Share of a second's rate left free, 0 to below 1: the pool holds the rate of starts, and the time from
   * a start to its call varies. 0.04 allows for 40 ms of that, whatever the window.
   *
   * @default {0.04}
   */
  readonly headroom?: number;
}

/** Workers beyond what the rate needs at the mean run time: run times vary, and one is between two jobs. */
const SPARE = 1.5;
const MORE = 1;

/** Slack of the live figure before the bound follows it down, so that it does not flicker. */
const SLACK = 1.25;

/** What a product of decimals may miss a whole number by. */
const ROUNDING = 1e-9;

const positive = v.pipe(v.number(), v.gtValue(0));

const Options = v.strictObject({
  callsPerSec: v.exactOptional(positive),
  rates: v.exactOptional(CallRates),
  callsPerJob: v.exactOptional(positive, 1),
  serviceMs: v.exactOptional(positive),
  headroom: v.exactOptional(v.pipe(v.number(), v.minValue(0), v.ltValue(1)), 0.04),
});

/**
 * Holds jobs to the rates of an API, by both the workers that can use them and the starts: a worker
 * bound alone cannot go below one worker's own speed.
 *
 * The starts are the safety. The worker bound only keeps the pool from growing for jobs that the rate
 * holds back: `1.5 x rate x run time + 1`, of the configured `serviceMs`. Faster jobs lower it to what
 * the rate needs at the run time seen; slower ones never raise it, or it would grow exactly when the
 * API slows down.
 */
export const apiRateCap: Plugin<"cap", ApiRateCapOptions> = defineCap({
  name: "api-rate-cap",
  scope: "cluster",
  options: Options,
  create: ({ callsPerSec, rates = [], callsPerJob, serviceMs, headroom }, { lanes }) => {
    const all: readonly CallRate[] = callsPerSec === undefined
      ? rates
      : [{ calls: callsPerSec, perMs: 1000 }, ...rates];
    if (all.length === 0) throw new OptionError(["callsPerSec"], "Expected callsPerSec, or rates");
    for (const [index, { lane }] of rates.entries()) {
      if (lane === undefined || lanes.includes(lane)) continue;
      const message = `Expected the name of a lane but received "${lane}"`;
      throw new OptionError(["rates", index, "lane"], message);
    }
    const limits = all.map((rate) => limitOf(rate, { callsPerJob, headroom }));
    const cause = `${inWords(all)} at ${round(callsPerJob)} a job`;
    const bounds = callsPerSec === undefined
      ? { rates: limits }
      : { startsPerSec: limits[0]!.starts, ...(limits.length > 1 && { rates: limits.slice(1) }) };
    const answer = (workers: number, text: string): Limit =>
      Object.freeze({ workers, ...bounds, reason: `${text}${startsInWords(limits)}` });
    const jobsPerSec = steadyOf(all) / callsPerJob;
    if (serviceMs === undefined || jobsPerSec === Infinity) {
      const limit = answer(Infinity, `${cause}: `);
      return () => limit;
    }
    return boundWorkers({ jobsPerSec, serviceMs }, (workers, seenMs) => {
      const by = seenMs === serviceMs ? `${round(serviceMs)} ms` : `${round(seenMs)} ms seen`;
      return answer(workers, `${cause} and ${by}: ${counted(workers, "worker")}, `);
    });
  },
});

function boundWorkers(
  { jobsPerSec, serviceMs }: { readonly jobsPerSec: number; readonly serviceMs: number },
  limitOf: (workers: number, seenMs: number) => Limit,
): Cap {
  const forTime = (ms: number): number =>
    Math.ceil(jobsPerSec * ms / 1000 * SPARE - ROUNDING) + MORE;
  const most = forTime(serviceMs);
  const full = limitOf(most, serviceMs);
  let limit = full;
  return (view) => {
    const seenMs = view.window.serviceMs?.mean ?? serviceMs;
    const least = forTime(seenMs);
    const roomy = forTime(seenMs * SLACK);
    if (least >= most) limit = full;
    else if (least > limit.workers || roomy < limit.workers) {
      const workers = Math.min(most, least > limit.workers ? least : roomy);
      limit = workers === most ? full : limitOf(workers, seenMs);
    }
    return limit;
  };
}
