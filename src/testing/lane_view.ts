/**
 * What strategies see of a lane that has had no job yet: a real lane of an empty queue, so that it has
 * every field of the view.
 *
 * @module
 */

import type { LaneSettings } from "../config/settings.ts";
import type { LaneView } from "../contract/view.ts";
import { Lane } from "../runtime/lane.ts";
import { Wall } from "../time/wall.ts";

const EMPTY = { readyAtMs: () => undefined };

/** The view of an empty lane with these settings, resumed if it starts paused. */
export function viewLane(settings: LaneSettings, index = 0): LaneView {
  const pool = { nowMs: 0, wall: new Wall(), guessed: false };
  return new Lane({ ...settings, paused: false }, index, pool, EMPTY).freeze();
}
