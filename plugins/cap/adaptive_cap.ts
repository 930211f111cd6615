/**
 * The `adaptive-cap` cap.
 *
 * @module
 */

import * as v from "valibot";
import { defineCap, type Plugin } from "../../src/contract/plugin.ts";
import { GrowthGate } from "./_growth_gate.ts";
import { OverloadHeard } from "./_overload.ts";

/** Options of `adaptive-cap`. */
export interface AdaptiveCapOptions {
  /** Whether it also looks for the limit of a downstream that says nothing. @default {true} */
  readonly probe?: boolean;
}

/**
 * Refuses growth that buys no throughput. It listens to `context.overloaded()`. And it tries: with the same
 * arrivals a slow-down and a limit raise run times and busy workers alike (Little's law), so no watching
 * can tell them apart. Where jobs are late, the pool falls behind and attempts take longer than usual, it
 * takes half of the workers for a moment and compares run times, lane by lane, with their errors. While it
 * holds nothing it sets no bound. The rule is ours, found in simulation; docs/caps.md has its limits.
 */
export const adaptiveCap: Plugin<"cap", AdaptiveCapOptions> = defineCap({
  name: "adaptive-cap",
  tries: true,
  options: v.strictObject({ probe: v.exactOptional(v.boolean("Expected true or false"), true) }),
  create: ({ probe }, { random }) => {
    let gate = new GrowthGate(probe, new OverloadHeard(random));
    let names: string | undefined;
    return (view, wanted) => {
      const seen = JSON.stringify(view.lanes.map(({ name }) => name)); // others after a reload
      if (seen !== (names ?? seen)) gate = new GrowthGate(probe, new OverloadHeard(random));
      names = seen;
      return gate.ask(view, wanted);
    };
  },
});
