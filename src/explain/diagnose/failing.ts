/**
 * Attempts that end in vain: failures and deferrals.
 *
 * @module
 */

import { agreeing, counted, duration, grouped } from "../../base/format.ts";
import type { History, Sample } from "../../planning/history.ts";
import type { Finding } from "./finding.ts";
import { lanesIn, type LaneSpan, lastingMs, type SampleSpan } from "./span.ts";

/** Over how long attempts are counted, less while the pool is young. */
const COUNTED_MS = 60_000;

/** Fewer attempts say nothing. */
const LEAST_ENDED = 5;

/** Share of failed attempts from which the handler as a whole fails, not single jobs. */
const MOST_FAILED = 0.5;

/** A handler that puts jobs off is at work; one that does nothing else is not. */
const ALL = 0.95;

/** What attempts came to. */
type Attempts = Pick<LaneSpan, "ended" | "failures" | "deferrals">;

/**
 * Most of the latest attempts of a lane failed, or all were deferred; one finding for the pool where all
 * lanes together do that. It counts from two readings, whatever gaps are between: a pool whose jobs all
 * wait for their next attempt rests.
 */
export function failing({ samples }: History): readonly Finding[] {
  const to = samples.at(-1);
  const from = samples.findLast(({ atMs }) => atMs <= (to?.atMs ?? 0) - COUNTED_MS) ?? samples[0];
  if (from === undefined || to === undefined) return [];
  const span = { samples: [from, to], from, to, ms: to.atMs - from.atMs };
  const tried = lanesIn(span).filter(({ ended }) => ended > 0);
  const failed = tried.filter((lane) => isFailing(lane, to));
  if (tried.length > 1 && (failed.length === 0 || failed.length === tried.length)) {
    return findingsOf(samples, span, undefined);
  }
  return failed.flatMap(({ lane }) => findingsOf(samples, span, lane.name));
}

function findingsOf(
  samples: readonly Sample[],
  span: SampleSpan,
  lane: string | undefined,
): readonly Finding[] {
  const attempts = attemptsIn(span, lane);
  if (!isFailing(attempts, span.to)) return [];
  const lastMs = lastingMs(samples, COUNTED_MS, (one) => isFailing(attemptsIn(one, lane), one.to));
  const { ended, failures, deferrals } = attempts;
  const forMs = Math.max(span.ms, lastMs);
  const share = failures / ended;
  const done = ended - failures - deferrals;
  const since = forMs > span.ms ? `, and it has been so for ${duration(forMs)}` : "";
  return [{
    code: "failing",
    lane,
    saw:
      `In ${duration(span.ms)} ${grouped(failures)} of ${counted(ended, "attempt")} failed and ` +
      `${grouped(deferrals)} ${agreeing(deferrals, "was", "were")} deferred: ` +
      `${counted(done, "job")} ${agreeing(done, "was", "were")} done${since}`,
    change: share >= MOST_FAILED
      ? "Read the errors of the jobs (sluice jobs ls and dlq ls show the last of each) and fix the handler " +
        "or what it calls: more workers or attempts will not help"
      : "Check why the receiver defers every job: it may be down, or need a lower rate",
    setting: "handler",
    numbers: { failures, deferrals, ended, share, spanMs: forMs },
  }];
}

/** Of one lane, or of all. */
function attemptsIn(span: SampleSpan, lane: string | undefined): Attempts {
  const lanes = lanesIn(span).filter((one) => lane === undefined || one.lane.name === lane);
  const sum = (count: (lane: LaneSpan) => number): number =>
    lanes.reduce((total, one) => total + count(one), 0);
  return {
    ended: sum(({ ended }) => ended),
    failures: sum(({ failures }) => failures),
    deferrals: sum(({ deferrals }) => deferrals),
  };
}

function isFailing({ ended, failures, deferrals }: Attempts, { holdUntilMs }: Sample): boolean {
  if (ended < LEAST_ENDED) return false;
  if (failures >= MOST_FAILED * ended) return true;
  return failures + deferrals >= ALL * ended && holdUntilMs === 0; // else `receiver-refuses` says so
}
