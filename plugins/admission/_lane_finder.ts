/**
 * Finds lanes of a view by name.
 *
 * @module
 */

import type { LaneView, PoolView } from "../../src/contract/view.ts";

/** For what is asked at each job: a loop over a frozen list takes ten times as long as the look-up. */
export function laneFinder(): (view: PoolView, name: string) => LaneView | undefined {
  let shown: readonly LaneView[] = [];
  let byName: ReadonlyMap<string, LaneView> = new Map();
  return ({ lanes }, name) => {
    if (lanes !== shown) {
      shown = lanes;
      byName = new Map(lanes.map((lane) => [lane.name, lane]));
    }
    return byName.get(name);
  };
}
