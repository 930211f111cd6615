/**
 * A receiver that takes no jobs.
 *
 * @module
 */

import { agreeing, counted, duration } from "../../base/format.ts";
import type { History, Sample } from "../../planning/history.ts";
import type { Finding } from "./finding.ts";

/** The circuit breaker of the pool, or those of some keys, are not closed. */
export function receiverRefuses({ samples }: History): readonly Finding[] {
  const last = samples.at(-1);
  if (last === undefined) return [];
  if (last.holdUntilMs > 0) return [ofPool(last, firstOf(samples, (one) => one.holdUntilMs > 0))];
  if (last.openKeys > 0) return [ofKeys(last, firstOf(samples, (one) => one.openKeys > 0))];
  return [];
}

/** The last sample of which something does not hold that has held since, or the first one. */
function firstOf(samples: readonly Sample[], holds: (sample: Sample) => boolean): Sample {
  return samples.findLast((sample) => !holds(sample)) ?? samples[0]!; // the caller has the last one
}

function ofPool(last: Sample, since: Sample): Finding {
  const forMs = last.atMs - since.atMs;
  const leftMs = Math.max(0, last.holdUntilMs - last.atMs);
  const refused = last.deferrals - since.deferrals;
  const failed = last.failures - since.failures;
  const ready = last.lanes.reduce((sum, lane) => sum + lane.ready, 0);
  const again = leftMs > 0 ? `in ${duration(leftMs)}` : "now";
  const isNamed = last.heldBy !== "";
  const who = isNamed ? `downstream "${last.heldBy}"` : "the receiver";
  const to = `${counted(refused, "attempt")}${isNamed ? " of this pool" : ""}`;
  const said = failed > refused
    ? `no job has been done, and ${counted(failed, "attempt")} failed: `
    : `${who} has said "not now", to ${to}: `;
  return {
    code: "receiver-refuses",
    lane: undefined,
    saw: `For ${duration(forMs)} ${said}${
      counted(ready, "job")
    } ready, and one job tries again ${again}`,
    change: "Check why the receiver refuses: if it wants fewer calls, limit the rate with " +
      "api-rate-cap; if it is down, wait: the pool continues by itself",
    numbers: { refused, failed, forMs, leftMs, ready },
  };
}

function ofKeys(last: Sample, since: Sample): Finding {
  const forMs = last.atMs - since.atMs;
  const { openKeys } = last;
  return {
    code: "receiver-refuses",
    lane: undefined,
    saw:
      `For ${duration(forMs)} the jobs of ${counted(openKeys, "key")} have waited, because their ` +
      `${agreeing(openKeys, "receiver takes", "receivers take")} none; jobs of other keys start`,
    change: "See which keys on the page of the pool: if a receiver is gone for good, cancel its " +
      "jobs; else wait, or close the breaker once it is back (sluice pools close-breaker)",
    numbers: { openKeys, forMs },
  };
}
