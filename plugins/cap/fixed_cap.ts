/**
 * The `fixed-cap` cap.
 *
 * @module
 */

import * as v from "valibot";
import { defineCap, type Plugin } from "../../src/contract/plugin.ts";

/** Options of `fixed-cap`. */
export interface FixedCapOptions {
  /** Most workers, >= 0. 0 stops the pool. */
  readonly workers: number;
}

const Options = v.strictObject({
  workers: v.pipe(v.number(), v.integer(), v.minValue(0)),
});

/** Allows a constant number of workers. */
export const fixedCap: Plugin<"cap", FixedCapOptions> = defineCap({
  name: "fixed-cap",
  options: Options,
  variants: ({ workers }) =>
    [workers / 2, workers * 1.5, workers * 2].map((count) => ({ workers: Math.ceil(count) })),
  create: ({ workers }) => {
    const limit = Object.freeze({ workers, reason: `fixed at ${workers}` });
    return () => limit;
  },
});
