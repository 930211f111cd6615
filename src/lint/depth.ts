/**
 * `maxDepth` against what can be served in time.
 *
 * @module
 */

import { counted } from "../base/format.ts";
import { type Concern, concern, figure, span } from "./concern.ts";
import type { LaneFacts, PoolFacts } from "./facts.ts";

/** Queues that are allowed to grow past use, or not allowed what their target takes. */
export function lintDepth(pool: PoolFacts): readonly Concern[] {
  return pool.lanes.flatMap((lane) => [...tooDeep(pool, lane), ...tooFlat(lane)]);
}

function tooDeep(pool: PoolFacts, lane: LaneFacts): Concern[] {
  const { name, maxDepth, deadlineMs, ttlMs } = lane.settings;
  const [key, limitMs] = deadlineMs === undefined
    ? ["ttlMs", ttlMs] as const
    : ["deadlineMs", deadlineMs] as const;
  const perSec = drainRate(pool, lane);
  const drainMs = maxDepth / perSec * 1000;
  if (maxDepth === Infinity || !(drainMs > limitMs)) return [];
  const most = Math.floor(limitMs * perSec / 1000);
  return [concern({
    code: "depth-past-deadline",
    severity: "warning",
    path: [...lane.path, "maxDepth"],
    message: `A full lane "${name}" of ${counted(maxDepth, "job")} takes ${span(drainMs)} at ` +
      `${counted(figure(perSec), "job")}/s, longer than its ${key} of ${
        span(limitMs)
      }: the last are of no ` +
      "use when they start",
    formula: `maxDepth / perSec > ${key}`,
    numbers: { maxDepth, perSec, drainMs, [key]: limitMs },
    change: most > 0 ? `Lower maxDepth to ${most}` : `Raise ${key}: no depth is served in time`,
  })];
}

/** Jobs per second that a lane gets at most, after the lanes above have had theirs. */
function drainRate({ bounds }: PoolFacts, lane: LaneFacts): number {
  const { name } = lane.settings;
  const own = Math.min(
    Infinity,
    ...bounds.caps.map(({ laneRates }) => laneRates.get(name) ?? Infinity),
  );
  const byRate = Math.min(own, Math.max(0, bounds.startsPerSec - lane.perSecAbove));
  const byWorkers = lane.serviceMs > 0 ? lane.share.alone * 1000 / lane.serviceMs : Infinity;
  return Math.min(byRate, byWorkers);
}

/** Little's law: jobs arriving at `perSec` that wait `targetWaitMs` are this many at a time. */
function tooFlat({ settings, perSec, path }: LaneFacts): Concern[] {
  const { name, maxDepth, targetWaitMs } = settings;
  const depth = perSec * (targetWaitMs ?? 0) / 1000;
  if (maxDepth >= depth) return [];
  const numbers = { maxDepth, perSec, targetWaitMs: targetWaitMs ?? 0, depth };
  return [concern({
    code: "depth-below-target",
    severity: "warning",
    path: [...path, "maxDepth"],
    message:
      `${counted(figure(perSec), "job")}/s of lane "${name}" that wait ${
        span(numbers.targetWaitMs)
      } ` +
      `are ${figure(depth)} at a time but maxDepth is ${maxDepth}: jobs are rejected before ` +
      "growth can answer",
    formula: "maxDepth < perSec x targetWaitMs / 1000",
    numbers,
    change: `Raise maxDepth to ${Math.ceil(2 * depth)}`,
  })];
}
