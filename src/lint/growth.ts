/**
 * How long growth takes from `size.min` to what the expected load needs.
 *
 * @module
 */

import { agreeing, counted } from "../base/format.ts";
import { type Concern, concern, figure, span } from "./concern.ts";
import { carries, type PoolFacts, sum } from "./facts.ts";
import { type Ramp, rampOf } from "./ramp.ts";
import { MOST_LANES } from "./shares.ts";

/** Jobs may wait this many targets, and so long, while the pool grows. */
const TARGETS = 10;
const LEAST_WAIT_MS = 1000;

/** Growth that never comes to what is needed, or too late. */
export function lintGrowth(pool: PoolFacts): readonly Concern[] {
  const { size, controller } = pool.settings;
  const growing = pool.lanes.filter(({ settings }) => settings.targetWaitMs !== null);
  const load = sum(growing, (lane) => lane.load);
  const need = Math.ceil(load - 1e-9); // taken as a liquid, a load of 16 is carried by 16
  if (load === 0 || size.min >= need || !carries(pool)) return [];
  if (pool.lanes.length > MOST_LANES) return []; // each look asks the controller about all lanes
  const ramp = rampOf(pool, size.min, need);
  const path = [...pool.path, "controller"];
  if (ramp.reachedMs === undefined) {
    return [concern({
      code: "growth-stalls",
      severity: "warning",
      path,
      message:
        `Controller "${controller.name}" asks for ${counted(ramp.workers, "worker")} at most but ` +
        `${figure(load)} ${
          agreeing(figure(load), "is", "are")
        } busy at the expected load: waits grow without bound`,
      formula: "most workers asked for < load",
      numbers: { workers: ramp.workers, load, need, min: size.min },
      change: `Let the controller ask for ${counted(need, "worker")}, or set size.min to ${need}`,
    })];
  }
  const late = latest(pool, ramp);
  if (late === undefined) return [];
  const min = leastMin(pool, need);
  return [concern({
    code: "growth-slow",
    severity: "warning",
    path,
    message:
      `From ${size.min} to ${counted(need, "worker")} controller "${controller.name}" takes ` +
      `${span(ramp.reachedMs)}: jobs of lane "${late.name}" wait up to ${
        span(late.waitMs)
      } meanwhile`,
    formula: "longest wait while growing > deadlineMs, or 10 x targetWaitMs",
    numbers: { min: size.min, need, reachedMs: ramp.reachedMs, ...late.numbers },
    change: `Raise size.min to ${min}, or let the controller grow by more at a time`,
  })];
}

interface Late {
  readonly name: string;
  readonly waitMs: number;
  readonly numbers: Readonly<Record<string, number>>;
}

/** The lane that waits longest over what it may. `undefined`: all are well. */
function latest({ lanes }: PoolFacts, { waitMs }: Ramp): Late | undefined {
  let worst: Late | undefined;
  let most = 1;
  lanes.forEach(({ settings: { name, deadlineMs, targetWaitMs } }, index) => {
    if (targetWaitMs === null) return;
    const limitMs = deadlineMs ?? Math.max(LEAST_WAIT_MS, TARGETS * targetWaitMs);
    const waited = waitMs[index] ?? 0;
    if (waited / limitMs <= most) return;
    most = waited / limitMs;
    worst = { name, waitMs: waited, numbers: { waitMs: waited, limitMs } };
  });
  return worst;
}

/** Smallest minimum from which no lane waits too long. */
function leastMin(pool: PoolFacts, need: number): number {
  let low = pool.settings.size.min;
  let high = need;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (latest(pool, rampOf(pool, middle, need)) === undefined) high = middle;
    else low = middle;
  }
  return high;
}
