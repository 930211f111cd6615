/**
 * A pool in which nothing ends, or nothing starts.
 *
 * @module
 */

import { agreeing, counted, duration } from "../../base/format.ts";
import type { History, LaneSample, Sample } from "../../planning/history.ts";
import { type Finding, named } from "./finding.ts";
import { lastingMs, spanOf } from "./span.ts";
import { latest, shareOf, type Window } from "./window.ts";

/** Longer than the default time limit of an attempt: one that hangs has ended by then. */
const STALLED_MS = 90_000;

/** No worker that may take a job, and jobs that are ready, for so long: a restart would have come. */
const HUNG_MS = 10_000;

/** Workers wait, jobs are ready, and none has started for so long: the store hands out none. */
const CLAIMS_MS = 10_000;

/** Of that time, the store was waited for in this share at least. */
const MOSTLY = 0.8;

/** Ready jobs grow old and no attempt ends, or every worker is stuck, which ends by no waiting. */
export function stalled(history: History): readonly Finding[] {
  const hung = latest(history, HUNG_MS);
  if (hung !== undefined && hung.samples.every(isHung)) return [findingOf(hung)];
  const longestMs = Math.max(0, ...history.samples.flatMap(({ lanes }) => lanes.map(serviceOf)));
  const window = latest(history, Math.max(STALLED_MS, 3 * longestMs));
  if (window === undefined) return [];
  const { first, last, spanMs } = window;
  const waits = shareOf(window, ({ lanes }) => lanes.some(({ ready }) => ready > 0));
  const agedMs = ageOf(last) - ageOf(first);
  if (last.holdUntilMs > 0) return []; // `receiver-refuses` says so
  if (last.ended > first.ended || waits < 1 || agedMs < 0.8 * spanMs) return [];
  return [findingOf(window)];
}

/** Idle workers get no job although the counts have some: the store's leases bring none. */
export function claimsStalled({ samples }: History): readonly Finding[] {
  const span = spanOf(samples, CLAIMS_MS);
  if (span === undefined || span.to.starts > span.from.starts) return [];
  const { from, to, ms } = span;
  const lane = to.lanes.find(({ ready, held }, index) =>
    ready > 0 && held.store - (from.lanes[index]?.held.store ?? 0) >= MOSTLY * ms
  );
  if (lane === undefined) return [];
  const forMs = Math.max(ms, lastingMs(samples, 1000, (one) => one.to.starts === one.from.starts));
  return [{
    code: "claims-stalled",
    lane: lane.name,
    saw: `For ${duration(forMs)} no job has started: the store gives none although ` +
      `${counted(lane.ready, "job")} of lane "${lane.name}" ${
        agreeing(lane.ready, "is", "are")
      } ready and workers wait for them`,
    change: "Check the store: its log and its load, and with a durable store " +
      "sluice doctor --store while no process works on it",
    setting: "store",
    numbers: { ready: lane.ready, oldestWaitMs: lane.oldestWaitMs, live: to.live, spanMs: forMs },
  }];
}

function isHung({ live, stuck, lanes }: Sample): boolean {
  return live === 0 && stuck > 0 && lanes.some(({ ready }) => ready > 0);
}

function findingOf({ last, spanMs }: Window): Finding {
  const ready = last.lanes.reduce((sum, lane) => sum + lane.ready, 0);
  const seen = isHung(last) ? "no worker could take a job" : "no attempt has ended";
  return {
    code: "stalled",
    lane: undefined,
    saw: `For ${duration(spanMs)} ${seen}: ${counted(ready, "job")} ` +
      `${agreeing(ready, "is", "are")} ready, the oldest for ${duration(ageOf(last))}; of ` +
      `${counted(last.live, "worker")} ${last.busy} ${agreeing(last.busy, "is", "are")} busy, ` +
      `${last.stuck} stuck`,
    change: changeOf(last),
    numbers: {
      ready,
      oldestWaitMs: ageOf(last),
      live: last.live,
      busy: last.busy,
      stuck: last.stuck,
      spanMs,
    },
  };
}

function changeOf({ live, busy, stuck, limit, boundBy }: Sample): string {
  if (stuck > 0) {
    return "Make the handler stop when context.signal aborts: stuck workers count against every cap";
  }
  if (limit === 0) return `Raise the bound: ${named(boundBy)} allows 0 workers`;
  if (live === 0) return "See why no worker starts: the log has the error of the handler's start";
  if (busy === live) return "Check what the handler waits for, and set a timeoutMs";
  return "Check why idle workers get no job: the lane policy or the store holds them back";
}

function ageOf({ lanes }: Sample): number {
  return Math.max(...lanes.map(({ oldestWaitMs }) => oldestWaitMs));
}

function serviceOf({ serviceMs }: LaneSample): number {
  return serviceMs;
}
