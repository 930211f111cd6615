/**
 * From one entry of `lanes` to what a lane runs with.
 *
 * @module
 */

import type { InferOutput } from "valibot";
import { usualAttempts } from "../base/backoff.ts";
import type { LaneSettings } from "./settings.ts";
import { checkShape } from "./check.ts";
import { type FaultList, isRecord, nameFault, type Path } from "./faults.ts";
import { handOnOf, type HandOns } from "./hand_on.ts";
import { LANE_BOUNDS, laneShape } from "./shape.ts";

/** A lane as a config has it, with the defaults that the shape knows. */
export type LaneShape = InferOutput<typeof laneShape>;

/** The lanes of a pool that have no fault in their shape. Faults are added to the list. */
export function checkLanes(raw: unknown, path: Path, faults: FaultList): readonly LaneShape[] {
  const seen = new Map<string, number>();
  return (Array.isArray(raw) ? raw : []).flatMap((lane: unknown, index) => {
    const here = [...path, index];
    const shape = checkShape(laneShape, lane, { path: here, faults });
    if (!isRecord(lane)) return [];
    if (typeof lane.name === "string" && lane.name !== "") {
      checkLaneName(lane.name, { seen, index, path: [...here, "name"] }, faults);
    }
    checkWaits(lane.backoff, "baseMs", [...here, "backoff"], faults);
    checkDelays(lane.backoff, [...here, "backoff"], faults);
    checkStart(lane, [...here, "startWithinMs"], faults);
    checkDedupe(lane.dedupe, [...here, "dedupe"], faults);
    return shape === undefined ? [] : [shape];
  });
}

/** What a lane has unless it says otherwise. */
export interface LaneDefaults {
  /** Its target. */
  readonly targetWaitMs: number;
  /** `onDead` and `then` of its pool. */
  readonly handOns: HandOns;
}

/** What a lane runs with. */
export function laneSettings(
  lane: LaneShape,
  { targetWaitMs, handOns }: LaneDefaults,
): LaneSettings {
  const bounds = Object.fromEntries(LANE_BOUNDS.map((key) => [key, lane[key] ?? Infinity]));
  return {
    ...lane,
    ...bounds as Record<typeof LANE_BOUNDS[number], number>, // made of just these keys
    attempts: lane.attempts ?? usualAttempts(lane.backoff),
    targetWaitMs: lane.targetWaitMs === undefined ? targetWaitMs : lane.targetWaitMs,
    startWithinMs: lane.startWithinMs,
    deadlineMs: lane.deadlineMs,
    timeoutMs: lane.timeoutMs,
    dedupe: lane.dedupe,
    expect: lane.expect,
    onDead: lane.onDead ?? handOnOf(handOns, "onDead", lane.name),
    then: lane.then ?? handOnOf(handOns, "then", lane.name),
  };
}

interface LaneNames {
  readonly seen: Map<string, number>;
  readonly index: number;
  readonly path: Path;
}

function checkLaneName(name: string, { seen, index, path }: LaneNames, faults: FaultList): void {
  const fault = nameFault(name);
  if (fault !== undefined) faults.add(path, fault);
  const first = seen.get(name);
  if (first === undefined) seen.set(name, index);
  else faults.add(path, `Expected a name of its own but lane ${first} is named "${name}" too`);
}

/** Growth goes by a wait, or by a time for all that waits. */
function checkStart(lane: Readonly<Record<string, unknown>>, path: Path, faults: FaultList): void {
  const { startWithinMs, targetWaitMs } = lane;
  if (typeof startWithinMs !== "number" || startWithinMs < 0 || targetWaitMs === null) return;
  const found = targetWaitMs === undefined ? "it is missing" : `received ${targetWaitMs}`;
  const message = `Expected "targetWaitMs": null beside it but ${found}: a lane has one of the two`;
  faults.add(path, message, { at: "key" });
}

/** Waits are listed or computed. */
function checkDelays(backoff: unknown, path: Path, faults: FaultList): void {
  if (!isRecord(backoff) || backoff.delaysMs === undefined) return;
  for (const key of ["baseMs", "factor", "maxMs"]) {
    if (backoff[key] === undefined) continue;
    const message =
      `Expected either delaysMs or ${key} but received both: waits are listed or computed`;
    faults.add([...path, key], message, { at: "key" });
  }
}

/** Each mode has the times that it needs, and no other. */
function checkDedupe(dedupe: unknown, path: Path, faults: FaultList): void {
  if (!isRecord(dedupe) || typeof dedupe.mode !== "string") return;
  const { mode, waitMs, maxMs } = dedupe;
  const needs = mode === "window" ? ["windowMs"] : mode === "debounce" ? ["waitMs", "maxMs"] : [];
  for (const key of ["windowMs", "waitMs", "maxMs"]) {
    const isGiven = dedupe[key] !== undefined;
    if (isGiven === needs.includes(key)) continue;
    const message = isGiven
      ? `Expected no ${key} with the mode "${mode}"`
      : `Expected ${key} with the mode "${mode}" but it is missing`;
    faults.add([...path, key], message, { at: "key" });
  }
  if (typeof waitMs !== "number" || typeof maxMs !== "number" || waitMs <= maxMs) return;
  faults.add([...path, "maxMs"], `Expected at least waitMs (${waitMs}) but received ${maxMs}`);
}

/** Checks waits that begin with `least`, 1 s unless said, and double up to `maxMs`, 60 s. */
export function checkWaits(
  raw: unknown,
  least: "baseMs" | "minMs",
  path: Path,
  faults: FaultList,
): void {
  if (!isRecord(raw)) return;
  const { [least]: leastMs = 1000, maxMs = 60_000 } = raw;
  if (typeof leastMs !== "number" || typeof maxMs !== "number" || leastMs <= maxMs) return;
  const [key, message] = raw.maxMs === undefined
    ? [least, `Expected at most maxMs (${maxMs}) but received ${leastMs}`]
    : ["maxMs", `Expected at least ${least} (${leastMs}) but received ${maxMs}`];
  faults.add([...path, key], message);
}
