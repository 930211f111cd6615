/**
 * The `api-rate-cap` cap.
 *
 * @module
 */

import { counted } from "../../src/base/format.ts";
import * as v from "valibot";
import { defineCap, type Plugin } from "../../src/contract/plugin.ts";
import type { Cap, Limit } from "../../src/contract/strategy.ts";

/** Options of `api-rate-cap`. */
export interface ApiRateCapOptions {
  /** Calls per second that the API allows, > 0. */
  readonly callsPerSec: number;
  /** Calls that a job makes, > 0. @default {1} */
  readonly callsPerJob?: number;
  /** Run time of a job while the API is healthy, ms, > 0. Omitted: only the rate is bound, not the workers. */
  readonly serviceMs?: number;
  /**
   * Share of the rate left free, 0 to below 1: the pool holds the rate of starts, and the time from a
   * start to its call varies. 0.04 allows for 40 ms of that.
   *
   * @default {0.04}
   */
  readonly headroom?: number;
}

/** Slack of the live figure before the bound follows it down, so that it does not flicker. */
const SLACK = 1.25;

/** What a product of decimals may miss a whole number by. */
const ROUNDING = 1e-9;

const positive = v.pipe(v.number(), v.gtValue(0));

const Options = v.strictObject({
  callsPerSec: positive,
  callsPerJob: v.exactOptional(positive, 1),
  serviceMs: v.exactOptional(positive),
  headroom: v.exactOptional(v.pipe(v.number(), v.minValue(0), v.ltValue(1)), 0.04),
});

/**
 * Holds jobs to the rate of an API, by both the workers that can use it and the starts per second:
 * a worker bound alone cannot go below one worker's own speed.
 *
 * The worker bound is `rate * item time / calls per item` of the configured `serviceMs`, at least 1.
 * Faster jobs lower it to what the rate needs at the run time seen; slower ones never raise it, or
 * it would grow exactly when the API slows down.
 */
export const apiRateCap: Plugin<"cap", ApiRateCapOptions> = defineCap({
  name: "api-rate-cap",
  scope: "cluster",
  options: Options,
  create: ({ callsPerSec, callsPerJob, serviceMs, headroom }) => {
    const jobsPerSec = callsPerSec / callsPerJob;
    const startsPerSec = jobsPerSec - jobsPerSec * headroom;
    const rate = `${round(callsPerSec)} calls/s at ${round(callsPerJob)} a job`;
    const starts = `${round(startsPerSec)} starts/s`;
    if (serviceMs !== undefined) {
      return boundWorkers({ jobsPerSec, startsPerSec, serviceMs, rate, starts });
    }
    const limit: Limit = Object.freeze({
      workers: Infinity,
      startsPerSec,
      reason: `${rate}: ${starts}`,
    });
    return () => limit;
  },
});

interface Rate {
  readonly jobsPerSec: number;
  readonly startsPerSec: number;
  readonly serviceMs: number;
  readonly rate: string;
  readonly starts: string;
}

function boundWorkers({ jobsPerSec, startsPerSec, serviceMs, rate, starts }: Rate): Cap {
  const most = Math.max(1, Math.floor(jobsPerSec * serviceMs / 1000 + ROUNDING));
  const full = limitOf(most, `${rate} and ${round(serviceMs)} ms`);
  let limit = full;
  return (view) => {
    const seenMs = view.window.serviceMs?.mean ?? serviceMs;
    const load = jobsPerSec * seenMs / 1000;
    const least = atLeastOne(load);
    const roomy = atLeastOne(load * SLACK);
    if (least >= most) limit = full;
    else if (least > limit.workers || roomy < limit.workers) {
      const workers = Math.min(most, least > limit.workers ? least : roomy);
      limit = workers === most ? full : limitOf(workers, `${rate} and ${round(seenMs)} ms seen`);
    }
    return limit;
  };

  function limitOf(workers: number, cause: string): Limit {
    return Object.freeze({
      workers,
      startsPerSec,
      reason: `${cause}: ${counted(workers, "worker")}, ${starts}`,
    });
  }
}

function atLeastOne(load: number): number {
  return Math.max(1, Math.ceil(load - ROUNDING));
}

/** For reasons: six digits. */
function round(value: number): number {
  return Number(value.toPrecision(6));
}
