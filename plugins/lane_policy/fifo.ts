/**
 * The `fifo` lane policy.
 *
 * @module
 */

import { defineLanePolicy, type Plugin } from "../../src/contract/plugin.ts";
import type { LanePolicy } from "../../src/contract/strategy.ts";

/**
 * Serves jobs in the order in which they became claimable, over all lanes: the lane whose oldest job
 * waits longest, the higher one of two alike. Urgent work queues behind the whole backlog.
 */
export const fifo: Plugin<"lane-policy", Record<string, never>> = defineLanePolicy({
  name: "fifo",
  create: () => longestWaiting,
});

const longestWaiting: LanePolicy = (_view, eligible) => {
  let longest = eligible[0];
  for (const lane of eligible) {
    if (longest !== undefined && lane.oldestWaitMs > longest.oldestWaitMs) longest = lane;
  }
  return longest;
};
