/**
 * A pool that can do no more: at capacity, or stalled.
 *
 * @module
 */

import { agreeing, counted, duration } from "../../base/format.ts";
import type { History, LaneSample, Sample } from "../../planning/history.ts";
import { figure, type Finding, named, type Traits } from "./finding.ts";
import { latest, perSec, shareOf, type Window } from "./window.ts";

/** At the limit for so long it is no spike. */
const AT_LIMIT_MS = 60_000;

/** In this many of the samples at least. */
const MOSTLY = 0.95;

/** Longer than the default time limit of an attempt: one that hangs has ended by then. */
const STALLED_MS = 90_000;

/** No worker that may take a job, and jobs that are ready, for so long: a restart would have come. */
const HUNG_MS = 10_000;

/** At the limit, with age over target or jobs rejected, for a minute: work accumulates. */
export function atCapacity(history: History, { sheds, tries }: Traits): readonly Finding[] {
  const window = latest(history, AT_LIMIT_MS);
  if (window === undefined) return [];
  const share = shareOf(
    window,
    (sample, before) =>
      isAtLimit(sample) && (sample.lanes.some(isLate) || sample.shed > before.shed),
  );
  const { last, spanMs } = window;
  if (share < MOSTLY || !isAtLimit(last)) return [];
  const worst = last.lanes.toSorted((a, b) => lateness(b) - lateness(a))[0];
  const { oldestWaitMs = 0, name } = worst ?? {};
  const targetWaitMs = worst?.targetWaitMs ?? 0;
  const shedPerSec = perSec(window, ({ shed }) => shed);
  const binder = named(last.boundBy);
  const held = last.rateBound
    ? `limited by the start rate of ${binder}`
    : `all that ${binder} allows`;
  // What a cap found by trying is not its own bound.
  const isFound = tries.some((cap) => last.boundBy === `cap:${cap}`);
  const raise = isFound
    ? "give what they call more room: more workers bring no more"
    : `raise the bound: ${binder}`;
  const count = figure(shedPerSec);
  const shed = shedPerSec > 0
    ? ` and ${counted(count, "job")}/s ${agreeing(count, "is", "are")} rejected`
    : "";
  return [{
    code: "at-capacity",
    lane: name,
    saw: `For ${duration(spanMs)} ${counted(last.live, "worker")}, ${held}, ` +
      `${agreeing(last.live, "was", "were")} not enough: the oldest job of lane ` +
      `"${name}" waits ${duration(oldestWaitMs)} (target ${duration(targetWaitMs)})${shed}`,
    change: shedPerSec > 0 || sheds // where it lets all in, a backlog came at once or has no target
      ? `Send less, or ${raise}`
      : `Shed jobs (an admission such as shed-at-cap), or ${raise}`,
    numbers: { live: last.live, limit: last.limit, oldestWaitMs, targetWaitMs, shedPerSec, spanMs },
  }];
}

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

function isAtLimit({ live, stuck, limit, rateBound, holdUntilMs }: Sample): boolean {
  return holdUntilMs === 0 && (rateBound || live + stuck >= limit);
}

function isLate(lane: LaneSample): boolean {
  return lateness(lane) > 1;
}

/** Age over target. 0 without a target. */
function lateness({ oldestWaitMs, targetWaitMs }: LaneSample): number {
  return targetWaitMs === null ? 0 : oldestWaitMs / targetWaitMs;
}

function ageOf({ lanes }: Sample): number {
  return Math.max(...lanes.map(({ oldestWaitMs }) => oldestWaitMs));
}

function serviceOf({ serviceMs }: LaneSample): number {
  return serviceMs;
}
