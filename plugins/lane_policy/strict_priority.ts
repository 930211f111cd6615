/**
 * The `strict-priority` lane policy.
 *
 * @module
 */

import { defineLanePolicy, type Plugin } from "../../src/contract/plugin.ts";

/**
 * Serves the highest lane that has work. Nothing preempts a running job, so an urgent one waits for a
 * worker to end its batch job: enough where batch jobs are short against the urgent target.
 */
export const strictPriority: Plugin<"lane-policy", Record<string, never>> = defineLanePolicy({
  name: "strict-priority",
  create: () => (_view, eligible) => eligible[0],
});
