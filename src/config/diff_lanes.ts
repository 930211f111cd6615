/**
 * What differs between the lanes of two configs of one pool. Lanes are known by name.
 *
 * @module
 */

import type { ConfigChange } from "../contract/event.ts";
import type { LaneSettings, PoolSettings } from "./settings.ts";
import { AT_ONCE, changesOf } from "./diff_parts.ts";
import { toPointer } from "./faults.ts";
import { LANE_EFFECTS } from "./shape.ts";

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
      effects: (key) => isKey(key) ? LANE_EFFECTS[key] : AT_ONCE,
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
  return Object.fromEntries(Object.keys(LANE_EFFECTS).filter(isKey).map((key) => [key, lane[key]]));
}

function isKey(key: string): key is keyof typeof LANE_EFFECTS {
  return Object.hasOwn(LANE_EFFECTS, key);
}
