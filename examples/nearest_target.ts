/**
 * A lane policy of one's own: the lane that has used the largest share of the wait it aims for.
 *
 * @module
 */

import { defineLanePolicy, type LaneView, type Plugin } from "@sluice/sluice";

/**
 * Serves the lane whose oldest job is nearest to its `targetWaitMs`, or furthest beyond it. A lane
 * without a target is served when no other has work.
 */
export const nearestTarget: Plugin<"lane-policy", Record<string, never>> = defineLanePolicy({
  name: "nearest-target",
  create: () => (_view, eligible) => {
    let best = eligible[0];
    for (const lane of eligible) if (best === undefined || used(lane) > used(best)) best = lane;
    return best;
  },
});

/** Share of the target that the oldest job has waited; a target of 0 ms is used up at once. */
function used({ oldestWaitMs, targetWaitMs }: LaneView): number {
  if (targetWaitMs === null) return -1;
  return oldestWaitMs / Math.max(1, targetWaitMs);
}
