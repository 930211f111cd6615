/**
 * The `shed-at-cap` admission.
 *
 * @module
 */

import { counted, duration } from "../../src/base/format.ts";
import * as v from "valibot";
import { defineAdmission, type Plugin, type PluginContext } from "../../src/contract/plugin.ts";
import type { Admission, Verdict } from "../../src/contract/strategy.ts";
import type { LaneView, PoolView } from "../../src/contract/view.ts";
import { laneFinder } from "./_lane_finder.ts";
import { predictWaitMs, serviceMsOf } from "./_predict.ts";

/** Options of `shed-at-cap`. */
export interface ShedAtCapOptions {
  /** How long a lane's age must have been over its target (or deadline) before it is refused, ms. @default {1000} */
  readonly afterMs?: number;
}

const Options = v.strictObject({
  afterMs: v.exactOptional(v.pipe(v.number(), v.minValue(0)), 1000),
});

const ADMIT: Verdict = Object.freeze({ admit: true });

/**
 * Sheds load, each lane by itself, once the pool can grow no further: at its limit, or held by a start
 * rate. Until then every job is taken.
 *
 * - A job is refused if its predicted wait and the p95 of run times pass the lane's `deadlineMs`; never
 *   if the wait is below half a run time. The mean instead of the p95 would let a third of uneven work
 *   end late.
 * - A lane without `deadlineMs` is refused once its age has been over its target for `afterMs`. A lane
 *   with one is too once its age is over that: the prediction is then wrong, for example because the
 *   handlers hang.
 * - A job about to start is dropped if its age has passed the deadline, at the limit also if the p95
 *   of run times no longer fits.
 *
 * Jobs with a delay and lanes that are paused are never refused: what they will meet is not known.
 * `retryAfterMs` is when the prediction would fit, and up to half as long again by chance, so that
 * those refused together do not come back together.
 *
 * Deadline shedding at the door and again at the take; compare Maurer, "Fail at Scale" (2015), and
 * Cho et al., "Overload Control for µs-scale RPCs with Breakwater" (2020). No integral action: it winds
 * up in a burst and goes on refusing after it.
 */
export const shedAtCap: Plugin<"admission", ShedAtCapOptions> = defineAdmission({
  name: "shed-at-cap",
  sheds: true,
  options: Options,
  create: ({ afterMs }, context) => shed(afterMs, context),
});

function shed(afterMs: number, { random }: PluginContext): Admission {
  const overForMs = ageWatch(afterMs);
  const laneNamed = laneFinder();

  return {
    submit: (job, view) => {
      if (!isAtLimit(view)) return ADMIT;
      const lane = laneNamed(view, job.lane);
      if (lane === undefined || lane.paused || (job.delayMs ?? 0) > 0) return ADMIT;
      return judge(lane, view);
    },
    take: (lane, ageMs, view) => {
      const { deadlineMs } = lane;
      if (deadlineMs === undefined) return true;
      if (ageMs > deadlineMs) return false;
      if (ageMs < lane.meanServiceMs / 2) return true;
      return !isAtLimit(view) || ageMs + p95Of(lane) <= deadlineMs;
    },
  };

  function judge(lane: LaneView, view: PoolView): Verdict {
    const boundMs = lane.deadlineMs ?? lane.targetWaitMs;
    if (boundMs === null) return ADMIT;
    const overMs = overForMs(lane, boundMs, view.nowMs);
    const isOld = overMs >= afterMs && lane.oldestWaitMs > boundMs;
    if (!isOld && lane.deadlineMs === undefined) return ADMIT;
    const waitMs = predictWaitMs(view, lane);
    if (waitMs < serviceMsOf(lane, view) / 2) return ADMIT;
    if (lane.deadlineMs !== undefined) {
      const runMs = p95Of(lane);
      if (waitMs + runMs > boundMs) {
        const figures = `${ms(waitMs)} predicted wait + ${ms(runMs)} p95 run time`;
        const reason = `${figures} in lane "${lane.name}" is over its deadline of ${ms(boundMs)}`;
        return refuse(`${reason}, ${limitOf(view)}`, waitMs + runMs - boundMs);
      }
    }
    if (!isOld) return ADMIT;
    const bound = lane.deadlineMs === undefined ? "target" : "deadline";
    const figures = `${ms(lane.oldestWaitMs)} age of lane "${lane.name}"`;
    const reason = `${figures} is over its ${bound} of ${ms(boundMs)} for ${ms(overMs)}`;
    return refuse(`${reason}, ${limitOf(view)}`, Math.max(waitMs, lane.oldestWaitMs) - boundMs);
  }

  function refuse(reason: string, hintMs: number): Verdict {
    const leastMs = Math.max(1, hintMs < Infinity ? hintMs : afterMs);
    return { admit: false, reason, retryAfterMs: leastMs * (1 + random() / 2) };
  }
}

/** Stuck workers keep counting against the limit although no work comes of them; starting ones are help on its way. */
function isAtLimit(view: PoolView): boolean {
  if (view.rateBound || view.live >= view.limit) return true;
  if (view.workers.length < view.limit) return false;
  let held = view.live;
  for (const worker of view.workers) if (worker.state === "stuck") held++;
  return held >= view.limit;
}

/** For how long a lane has been over a bound, as far as submits have seen it. 0: it is not. */
function ageWatch(
  afterMs: number,
): (lane: LaneView, boundMs: number, nowMs: number) => number {
  const watched = new Map<string, { sinceMs: number; seenMs: number }>();
  return (lane, boundMs, nowMs) => {
    if (lane.oldestWaitMs <= boundMs) {
      if (watched.size > 0) watched.delete(lane.name);
      return 0;
    }
    const crossedMs = nowMs - (lane.oldestWaitMs - boundMs); // when the present head passed the bound
    let watch = watched.get(lane.name);
    if (watch === undefined) watched.set(lane.name, watch = { sinceMs: crossedMs, seenMs: nowMs });
    // Between the last look and `crossedMs` the lane may have been below: a long gap starts again.
    else if (crossedMs - watch.seenMs > afterMs) watch.sinceMs = crossedMs;
    watch.sinceMs = Math.min(watch.sinceMs, crossedMs);
    watch.seenMs = nowMs;
    return nowMs - watch.sinceMs;
  };
}

function p95Of(lane: LaneView): number {
  return lane.window.serviceMs?.p95 ?? lane.meanServiceMs;
}

function limitOf(view: PoolView): string {
  if (view.holdUntilMs > 0) return "held by a cool-down";
  return view.rateBound
    ? "bound by the start rate"
    : `at the limit of ${counted(view.limit, "worker")}`;
}

function ms(value: number): string {
  return value < Infinity ? duration(value) : "endless";
}
