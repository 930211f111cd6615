/**
 * The `idle-only` retirement.
 *
 * @module
 */

import { defineRetirement, type Plugin } from "../../src/contract/plugin.ts";
import { longestIn } from "./_surplus.ts";

const NOBODY: readonly string[] = Object.freeze([]);

/** Lets only idle workers go, those idle longest first. A pool that is never idle never shrinks. */
export const idleOnly: Plugin<"retirement", Record<string, never>> = defineRetirement({
  name: "idle-only",
  create: () => (view, excess) => excess > 0 ? longestIn("idle", view, excess) : NOBODY,
});
