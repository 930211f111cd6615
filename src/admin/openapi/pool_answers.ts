/**
 * Shapes of answers about pools.
 *
 * @module
 */

import * as v from "valibot";
import { atMs, bound, count, ms, name, said } from "./words.ts";

const summary = said(
  v.strictObject({ count, mean: ms, p50: ms, p95: ms, p99: ms }),
  "Left out: nothing ended in the window.",
);

const window = said(
  v.strictObject({
    windowMs: ms,
    arrivalsPerSec: v.number(),
    completionsPerSec: v.number(),
    failuresPerSec: v.number(),
    shedPerSec: v.number(),
    serviceMs: v.optional(summary),
    waitMs: v.optional(summary),
  }),
  "Rates and times of the last tick's window.",
);

const lane = said(
  v.strictObject({
    name,
    index: said(count, "0 has the highest priority."),
    weight: v.number(),
    maxRunning: said(bound, "As configured, less handlers that ignore their abort."),
    targetWaitMs: said(v.nullable(v.number()), "null: causes no growth beyond one worker."),
    deadlineMs: v.optional(ms),
    ready: said(count, "May start now."),
    blocked: said(count, "Due, but waits for a job of its key, or its lane is paused."),
    delayed: said(count, "Due later."),
    running: said(count, "In this process."),
    oldestWaitMs: said(ms, "Of the oldest ready job, since it became ready; 0 if none."),
    paused: v.boolean(),
    arrivalsPerSec: v.number(),
    meanServiceMs: ms,
    servedMs: said(ms, "Worker time so far."),
    timed: said(count, "Attempts ended so far whose run time counts."),
    timedMs: said(ms, "Sum of the run times of these."),
    window,
  }),
  "One lane.",
);

/** What a pool did about its size. */
export const decision = said(
  v.strictObject({
    atMs,
    untilMs: atMs,
    from: count,
    to: count,
    inputs: v.record(v.string(), v.number()),
    proposals: v.array(v.strictObject({
      by: v.string(),
      kind: v.picklist(["controller", "cap"]),
      workers: bound,
      reason: v.string(),
    })),
    boundBy: said(
      v.string(),
      "What the count hangs on: controller, cap:NAME, size.min, size.max or work.",
    ),
    retire: v.array(v.string()),
    sentence: said(v.string(), "The decision in one sentence."),
    latest: v.optional(said(v.string(), "Why it still stood at untilMs, in one sentence.")),
  }),
  "What a pool decided, and why.",
);

const shadow = said(
  v.strictObject({
    controller: name,
    ticks: said(count, "On which both answered."),
    differed: said(count, "Ticks on which they differed."),
    share: said(v.number(), "differed over ticks, 0 to 1."),
    meanDifference: said(v.number(), "Workers it wanted more than the controller, on average."),
    leastDifference: v.number(),
    mostDifference: v.number(),
    skipped: said(count, "Ticks without it, because it had taken too long."),
    failed: said(count, "Ticks on which it threw or answered nonsense."),
    workers: v.optional(said(count, "It wants, within size and caps.")),
    liveWorkers: v.optional(said(count, "The controller wants, within size and caps.")),
    sentence: v.optional(v.string()),
    liveSentence: v.optional(v.string()),
    error: v.optional(said(v.string(), "What it threw. Left out: it works.")),
  }),
  "What the candidate controller would have done. Left out: none is configured.",
);

/** Bounds in force instead of the config's. */
export const override = v.strictObject({
  min: v.optional(count),
  max: v.optional(count),
  target: v.optional(count),
  untilMs: atMs,
});

/** A pool as it is now, with what is amiss. */
export const pool = said(
  v.strictObject({
    pool: name,
    nowMs: atMs,
    lanes: v.array(lane),
    workers: v.array(v.strictObject({
      id: v.string(),
      state: v.picklist(["starting", "idle", "busy", "retiring", "stuck"]),
      startedAtMs: atMs,
      sinceMs: atMs,
      jobsDone: count,
    })),
    live: count,
    busy: count,
    idle: count,
    target: count,
    size: v.strictObject({ min: count, max: count }),
    limit: bound,
    rateBound: said(v.boolean(), "A start rate or a cool-down holds ready jobs back."),
    holdUntilMs: said(
      v.number(),
      'While the receiver says "not now": until when nothing starts, ms since epoch. 0: no cool-down.',
    ),
    startsPerSec: bound,
    totals: said(v.record(v.string(), v.number()), "Counts since the pool began."),
    window,
    peers: said(count, "Live processes that share the store."),
    stale: said(v.boolean(), "The store cannot be read: counts are the last known."),
    signals: v.record(name, v.strictObject({ value: v.nullable(v.number()), stale: v.boolean() })),
    degraded: said(v.boolean(), "A strategy fails: its last answer stands."),
    draining: v.boolean(),
    stopped: said(v.boolean(), "A drain has ended."),
    paused: v.boolean(),
    override: v.optional(override),
    decision: v.optional(decision),
    shadow: v.optional(shadow),
    schedules: v.array(v.strictObject({
      lane: name,
      cron: v.string(),
      timezone: v.string(),
      catchUp: v.picklist(["none", "last", "all"]),
      nextAtMs: v.optional(said(ms, "The next time, since epoch. Left out: it never comes again.")),
      lastAtMs: v.optional(said(ms, "The latest time that was dealt with, since epoch.")),
    })),
    storeWaitMs: said(ms, "How long the oldest call to the store goes without an answer."),
    storeRefusedAtMs: v.optional(said(ms, "When it last failed to take a job; none since.")),
    scaleEvents: count,
    reversals: count,
    reaped: said(count, "Jobs taken back from processes that had died."),
    diagnosis: v.array(v.strictObject({
      code: v.string(),
      lane: v.optional(name),
      saw: v.string(),
      change: v.string(),
      numbers: v.record(v.string(), v.number()),
    })),
  }),
  "One pool.",
);

/** The recent past of a pool. */
export const samples = v.array(said(
  v.strictObject({
    atMs,
    live: count,
    busy: count,
    stuck: count,
    target: count,
    limit: said(count, "The tightest bound: caps and size.max."),
    boundBy: said(
      v.string(),
      "What sets limit, or holds jobs back: size.max, cap:NAME or cooldown.",
    ),
    size: v.strictObject({ min: count, max: count }),
    rateBound: v.boolean(),
    holdUntilMs: v.number(),
    changes: said(count, "Changes of the target so far."),
    reversals: count,
    arrivals: said(count, "Jobs accepted since the pool began; so with the counts that follow."),
    ended: said(count, "Attempts that ended, in any way."),
    completions: count,
    failures: count,
    deferrals: count,
    shed: count,
    busyMs: said(ms, "Worker time spent on jobs."),
    lanes: v.array(v.strictObject({
      name,
      targetWaitMs: v.nullable(v.number()),
      ready: count,
      running: count,
      oldestWaitMs: ms,
      arrivalsPerSec: v.number(),
      completionsPerSec: v.number(),
      waitP95Ms: ms,
      waitP99Ms: ms,
      ended: count,
      serviceMs: said(ms, "Mean run time; 0: none ended."),
      serviceP99Ms: ms,
      servedMs: ms,
      kept: v.optional(said(count, "Fewest workers left to this lane while it had ready jobs.")),
    })),
  }),
  "A pool at one time.",
));
