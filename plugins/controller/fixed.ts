/**
 * The `fixed` controller: always the same worker count.
 *
 * @module
 */

import * as v from "valibot";
import { defineController, type Plugin } from "../../src/contract/plugin.ts";

/** Options of `fixed`. */
export interface FixedOptions {
  /** Worker count, a whole number >= 0. @default {the pool's `size.max`} */
  readonly workers?: number;
}

const Options = v.strictObject({
  workers: v.exactOptional(
    v.pipe(
      v.number("Expected a worker count"),
      v.integer("Expected a whole number of workers"),
      v.minValue(0, "Expected 0 workers or more"),
    ),
  ),
});

/** Keeps the worker count at `workers`: for loads that never change, and as a baseline. */
export const fixed: Plugin<"controller", FixedOptions> = defineController({
  name: "fixed",
  constant: true,
  options: Options,
  variants: ({ workers }, { size }) =>
    [0.5, 0.75, 1.25].map((factor) => ({ workers: Math.ceil((workers ?? size.max) * factor) })),
  create: ({ workers }, { size }) => {
    const proposal = workers === undefined
      ? { workers: size.max, reason: `fixed at size.max ${size.max}` }
      : { workers, reason: `fixed at ${workers}` };
    return () => proposal;
  },
});
