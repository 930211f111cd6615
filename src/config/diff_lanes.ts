/**
 * What differs between the lanes of two configs of one pool. Lanes are known by name.
 *
 * @module
 */

import type { ConfigChange } from "../contract/event.ts";
import type { LaneSettings, PoolSettings } from "./settings.ts";
import { changesOf, NEXT_TICK } from "./diff_parts.ts";
import { toPointer } from "./faults.ts";

const AT_ONCE = "Holds at once";

/** How a change of each key of a lane takes hold. Its keys are all that a lane has. */
const EFFECTS: Readonly<Record<keyof Omit<LaneSettings, "name">, string>> = {
  targetWaitMs: NEXT_TICK,
  deadlineMs: AT_ONCE,
  maxDepth: "Applies to new jobs; jobs that wait stay",
  maxRunning: "Holds for jobs that start from now on",
  maxRunningPerKey: "Holds for jobs that start from now on",
  ttlMs: "Applies to new jobs",
  attempts: "Holds for every attempt that ends from now on",
  backoff: "Holds for every attempt that fails from now on",
  weight: AT_ONCE,
  paused:
    "Paused or resumed at once, in all processes; if another process has loaded it already, later pauses and resumes by users stay",
  expect: "Holds for the next check; nothing that runs reads it",
};

/** True if both have the same lanes in the same order. */
export function sameLanes(from: PoolSettings, to: PoolSettings): boolean {
  return from.lanes.length === to.lanes.length &&
    from.lanes.every((lane, index) => lane.name === to.lanes[index]?.name);
}

/** Compares the lanes of two configs of one pool. */
export function diffLanes(from: PoolSettings, to: PoolSettings): readonly ConfigChange[] {
  const before = new Map(from.lanes.map((lane) => [lane.name, lane]));
  const after = new Set(to.lanes.map((lane) => lane.name));
  const indexes = new Map(from.lanes.map((lane, index) => [lane.name, index]));
  const kept = placesOf(from.lanes.filter((lane) => after.has(lane.name)));
  const places = placesOf(to.lanes.filter((lane) => before.has(lane.name)));
  const path = (index: number) => ["pools", to.name, "lanes", index];
  const changes = to.lanes.flatMap((lane, index): readonly ConfigChange[] => {
    const old = before.get(lane.name);
    const base = { pointer: toPointer(path(index)), lane: lane.name, refused: false };
    if (old === undefined) {
      return [{ ...base, change: "added", effect: "Jobs may be sent to it at once" }];
    }
    const moved: readonly ConfigChange[] = kept.get(lane.name) === places.get(lane.name) ? [] : [{
      ...base,
      change: "moved",
      from: indexes.get(lane.name),
      to: index,
      effect: "Has its new priority at once",
    }];
    const fields = changesOf(inOrder(old), inOrder(lane), {
      path: path(index),
      lane: lane.name,
      effects: (key) => isKey(key) ? EFFECTS[key] : AT_ONCE,
    });
    return [...moved, ...fields];
  });
  const gone = from.lanes.flatMap((lane, index): readonly ConfigChange[] =>
    after.has(lane.name) ? [] : [{
      pointer: toPointer(path(index)),
      change: "removed",
      lane: lane.name,
      refused: false,
      effect: "Accepts no more jobs; it is empty, or it could not be removed",
    }]
  );
  return [...changes, ...gone];
}

function placesOf(lanes: readonly LaneSettings[]): ReadonlyMap<string, number> {
  return new Map(lanes.map(({ name }, place) => [name, place]));
}

/** What a lane has besides its name, in the order of the table. */
function inOrder(lane: LaneSettings): object {
  return Object.fromEntries(Object.keys(EFFECTS).filter(isKey).map((key) => [key, lane[key]]));
}

function isKey(key: string): key is keyof typeof EFFECTS {
  return Object.hasOwn(EFFECTS, key);
}
