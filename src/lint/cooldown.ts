/**
 * What circuit breakers need of lanes.
 *
 * @module
 */

import { type Concern, concern } from "./concern.ts";
import { hasKeySlots } from "../config/settings.ts";
import type { PoolFacts } from "./facts.ts";

/** Breakers by key, where no slots keep the jobs of a key from being leased. */
export function lintCooldown({ settings, lanes }: PoolFacts): readonly Concern[] {
  if (settings.cooldown?.by !== "key") return [];
  return lanes.flatMap(({ settings, path }) => {
    const { name, maxRunningPerKey } = settings;
    return hasKeySlots(settings) ? [] : [concern({
      code: "breaker-one-by-one",
      severity: "warning",
      path: [...path, "maxRunningPerKey"],
      message:
        `While the circuit breaker of a key is open, each of its jobs in lane "${name}" is ` +
        "leased and deferred, again and again: the lane does not say how many of a key may run",
      formula: "maxRunningPerKey = Infinity",
      numbers: { maxRunningPerKey },
      change:
        "Set maxRunningPerKey, such as to 5: then no more jobs of a key than that are deferred",
    })];
  });
}
