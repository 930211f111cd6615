/**
 * What is wrong with the process or its store, whatever the jobs do.
 *
 * @module
 */

import { counted, duration } from "../../base/format.ts";
import type { History } from "../../planning/history.ts";
import type { Finding, StoreTrouble } from "./finding.ts";
import { lastingMs, spanOf } from "./span.ts";

/** Over how long late ticks are counted. */
const BLOCKED_MS = 60_000;

/** Less in that time hurts nobody, ms. */
const LEAST_MS = 500;

/** A store that has failed for less may be back by itself, ms. */
const FAILING_MS = 5_000;

/** Ticks came so late that nothing else can have run. */
export function loopBlocked({ samples }: History): readonly Finding[] {
  const span = spanOf(samples, BLOCKED_MS) ?? spanOf(samples, BLOCKED_MS / 6);
  if (span === undefined) return [];
  const { from, to } = span;
  const times = to.loopBlocks - from.loopBlocks;
  const blockedMs = to.loopBlockedMs - from.loopBlockedMs;
  if (blockedMs < LEAST_MS) return [];
  const lasts = lastingMs(samples, span.ms, (one) => one.to.loopBlockedMs > one.from.loopBlockedMs);
  const longestMs = Math.max(
    ...span.samples.map(({ loopBlockedMs }, index) =>
      loopBlockedMs - (span.samples[index - 1]?.loopBlockedMs ?? loopBlockedMs)
    ),
  );
  const last = span.samples.findLast((sample, index) =>
    sample.loopBlocks > (span.samples[index - 1]?.loopBlocks ?? sample.loopBlocks)
  );
  const agoMs = to.atMs - (last?.atMs ?? to.atMs);
  const forMs = Math.max(lasts, span.ms);
  return [{
    code: "loop-blocked",
    lane: undefined,
    saw: `For ${duration(forMs)} the event loop has been blocked: ${
      counted(times, "time")
    } in the last ${duration(span.ms)}, ${duration(blockedMs)} in all, up to ${
      duration(longestMs)
    } at once, the last ${agoMs === 0 ? "just now" : `${duration(agoMs)} ago`}`,
    change:
      "Find what computes for long without an await, in a handler or elsewhere in the process, " +
      "and move it to a Web Worker or another process; a machine that suspends it looks the same",
    setting: "handler",
    numbers: { times, blockedMs, longestMs, agoMs, spanMs: span.ms, forMs },
  }];
}

/** The store answers with errors, or takes no jobs. */
export function storeFailing({ failingMs, refusingMs, error }: StoreTrouble): readonly Finding[] {
  const forMs = Math.max(failingMs, refusingMs);
  if (forMs < FAILING_MS) return [];
  const what = failingMs >= refusingMs
    ? "calls to the store have failed: jobs and their ends wait"
    : "the store has not taken new jobs";
  return [{
    code: "store-failing",
    lane: undefined,
    saw: `For ${duration(forMs)} ${what} (${error})`,
    change:
      "Check the store: free disk space, permissions, the network, its log. What has run is " +
      "stored once it answers",
    setting: "store",
    numbers: { failingMs, refusingMs, spanMs: forMs },
  }];
}
