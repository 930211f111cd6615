/**
 * Keys of lanes that no strategy in use goes by: what they ask for does not happen.
 *
 * @module
 */

import { duration } from "../base/format.ts";
import { type Concern, concern } from "./concern.ts";
import type { LaneFacts, PoolFacts } from "./facts.ts";

/** A weight that says nothing, and a time to start within that nobody keeps. */
export function lintUnread({ settings, lanes }: PoolFacts): readonly Concern[] {
  const { controller, lanePolicy } = settings;
  const reads = [...controller.plugin?.reads ?? [], ...lanePolicy.plugin?.reads ?? []];
  const names = `controller "${controller.name}" nor lane policy "${lanePolicy.name}"`;
  return lanes.flatMap((lane) => [
    ...reads.includes("weight") ? [] : weight(lane, names),
    ...reads.includes("startWithinMs") ? [] : start(lane, names),
  ]);
}

function weight({ settings: { name, weight }, path }: LaneFacts, names: string): Concern[] {
  if (weight === 1) return [];
  return [concern({
    code: "weight-unread",
    severity: "warning",
    path: [...path, "weight"],
    message:
      `Lane "${name}" has a weight of ${weight} but neither ${names} says that it reads weights: it is ` +
      "served as if it had none",
    formula: "weight != 1, and no strategy reads it",
    numbers: { weight },
    change: `Leave the weight out, or take a lane policy that reads it`,
  })];
}

function start({ settings: { name, startWithinMs }, path }: LaneFacts, names: string): Concern[] {
  if (startWithinMs === undefined) return [];
  return [concern({
    code: "start-within-unread",
    severity: "warning",
    path: [...path, "startWithinMs"],
    message: `Jobs of lane "${name}" are to start within ${duration(startWithinMs)} but neither ` +
      `${names} says that it reads startWithinMs: the pool does not grow for them`,
    formula: "startWithinMs is given, and no strategy reads it",
    numbers: { startWithinMs },
    change: "Take a controller that reads startWithinMs, or give the lane a targetWaitMs",
  })];
}
