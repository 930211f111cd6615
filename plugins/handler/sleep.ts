/**
 * The `sleep` handler: a job that only takes time, for trials.
 *
 * @module
 */

import * as v from "valibot";
import { delay } from "../../src/base/async.ts";
import { defineHandler, type Plugin } from "../../src/contract/plugin.ts";

/** Options of `sleep`. */
export interface SleepOptions {
  /** How long a job takes whose payload says nothing else, ms. @default {20} */
  readonly ms?: number;
}

/** What a job of `sleep` may carry. */
export interface SleepPayload {
  /** How long this job takes, ms. @default {the option `ms`} */
  readonly ms?: number;
}

/** Longest delay a platform timer takes, ms. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

const Duration = v.pipe(
  v.number("Expected a duration in ms"),
  v.minValue(0, "Expected a duration of 0 ms or more"),
  v.maxValue(LONGEST_DELAY_MS, `Expected a duration of at most ${LONGEST_DELAY_MS} ms`),
);

const Options = v.strictObject({ ms: v.exactOptional(Duration, 20) });

const Payload = v.nullish(v.looseObject({ ms: v.exactOptional(Duration) }));

/** Sleeps for the payload's `ms`, or the option's. Ends at once when the job is aborted. */
export const sleep: Plugin<"handler", SleepOptions, SleepPayload | null | undefined> =
  defineHandler({
    name: "sleep",
    options: Options,
    create: ({ ms }) => ({
      payload: Payload,
      run: (job, context) => delay(job.payload?.ms ?? ms, { signal: context.signal }),
    }),
  });
