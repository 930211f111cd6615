/**
 * Attempts that end in vain: failures and deferrals.
 *
 * @module
 */

import { agreeing, counted, duration } from "../../base/format.ts";
import type { History, Sample } from "../../planning/history.ts";
import type { Finding } from "./finding.ts";

/** Over how long attempts are counted, less while the pool is young. */
const COUNTED_MS = 60_000;

/** Fewer attempts say nothing. */
const LEAST_ENDED = 5;

/** Share of failed attempts from which the handler as a whole fails, not single jobs. */
const MOST_FAILED = 0.5;

/** A handler that puts jobs off is at work; one that does nothing else is not. */
const ALL = 0.95;

/**
 * Most of the latest attempts failed, or all were deferred. It counts from two readings, whatever
 * gaps are between: a pool whose jobs all wait for their next attempt rests.
 */
export function failing({ samples }: History): readonly Finding[] {
  const last = samples.at(-1);
  const first = samples.findLast(({ atMs }) => atMs <= (last?.atMs ?? 0) - COUNTED_MS) ??
    samples[0];
  if (first === undefined || last === undefined) return [];
  const since = (count: (sample: Sample) => number): number => count(last) - count(first);
  const ended = since((sample) => sample.ended);
  const failures = since((sample) => sample.failures);
  const deferrals = since((sample) => sample.deferrals);
  const share = ended === 0 ? 0 : failures / ended;
  const vain = ended === 0 ? 0 : (failures + deferrals) / ended;
  if (ended < LEAST_ENDED || (share < MOST_FAILED && vain < ALL)) return [];
  if (share < MOST_FAILED && last.holdUntilMs > 0) return []; // `receiver-refuses` says so
  const spanMs = last.atMs - first.atMs;
  const done = ended - failures - deferrals;
  return [{
    code: "failing",
    lane: undefined,
    saw: `In ${duration(spanMs)} ${failures} of ${counted(ended, "attempt")} failed and ` +
      `${deferrals} ${agreeing(deferrals, "was", "were")} deferred: ` +
      `${counted(done, "job")} ${agreeing(done, "was", "were")} done`,
    change: share >= MOST_FAILED
      ? "Read the errors of the jobs (sluice jobs ls and dlq ls show the last of each) and fix the handler " +
        "or what it calls: more workers or attempts will not help"
      : "Check why the receiver defers every job: it may be down, or need a lower rate",
    numbers: { failures, deferrals, ended, share, spanMs },
  }];
}
