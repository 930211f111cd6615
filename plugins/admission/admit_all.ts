/**
 * The `admit-all` admission.
 *
 * @module
 */

import { defineAdmission, type Plugin } from "../../src/contract/plugin.ts";
import type { Verdict } from "../../src/contract/strategy.ts";

const ADMIT: Verdict = Object.freeze({ admit: true });

/** Takes every job in. Only `maxDepth` of a lane then bounds its queue. */
export const admitAll: Plugin<"admission", Record<string, never>> = defineAdmission({
  name: "admit-all",
  create: () => ({ submit: () => ADMIT }),
});
