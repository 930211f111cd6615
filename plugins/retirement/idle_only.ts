/**
 * The `idle-only` retirement.
 *
 * @module
 */

import { defineRetirement, type Plugin } from "../../src/contract/plugin.ts";
import { longestIn } from "./_surplus.ts";

const NOBODY: readonly string[] = Object.freeze([]);

/**
 * Lets only idle workers go, those idle longest first. A pool that is never idle never shrinks. In a pool of
 * several lanes the last idle worker stays while one is busy: the lane policy may keep it for a lane above.
 */
export const idleOnly: Plugin<"retirement", Record<string, never>> = defineRetirement({
  name: "idle-only",
  create: () => (view, excess) => {
    const kept = view.lanes.length > 1 && view.busy > 0 ? 1 : 0;
    const count = Math.min(excess, view.idle - kept);
    return count > 0 ? longestIn("idle", view, count) : NOBODY;
  },
});
