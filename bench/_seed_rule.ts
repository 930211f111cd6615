/**
 * The controller of the published autoscaling experiment as it is there, to compare with. The option
 * `"rule": "step"` of `age-scaler` has three of its defects fixed: idle ticks need not be
 * consecutive, an empty queue counts as idleness however busy the workers are, and what is on its
 * way already is not counted.
 *
 * @module
 */

import { defineController } from "../src/contract/plugin.ts";

const TICK_MS = 50;
const TARGET_MS = 50;
const GROW_STEP = 4;
const IDLE_TICKS = 20;

/** Grows by four while the head is over its target, lets one go after 20 ticks with an empty queue. */
export const seedRule = defineController({
  name: "seed-rule",
  create: () => {
    let idleTicks = 0;
    let lookedAtMs = -Infinity;
    return ({ nowMs, target, size, lanes }) => {
      const hold = { workers: target, reason: "hold" };
      if (nowMs - lookedAtMs < TICK_MS - 1) return hold;
      lookedAtMs = nowMs;
      const ageMs = Math.max(...lanes.map((lane) => lane.oldestWaitMs));
      if (ageMs > TARGET_MS && target < size.max) {
        idleTicks = 0;
        return { workers: target + GROW_STEP, reason: `head ${ageMs} ms old` };
      }
      if (ageMs > 0 || target <= size.min || ++idleTicks < IDLE_TICKS) return hold;
      idleTicks = 0;
      return { workers: target - 1, reason: "idle" };
    };
  },
});
