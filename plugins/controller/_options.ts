/**
 * Option schemas that several controllers share.
 *
 * @module
 */

import * as v from "valibot";

const DAY_MS = 86_400_000;

/** Duration, ms, above 0, at most a day. */
export const Duration: v.GenericSchema<number> = v.pipe(
  v.number("Expected a duration in ms"),
  v.gtValue(0, "Expected a duration above 0 ms"),
  v.maxValue(DAY_MS, `Expected a duration of at most a day (${DAY_MS} ms)`),
);

/** Count of workers, whole, > 0. */
export const Count: v.GenericSchema<number> = v.pipe(
  v.number("Expected a count of workers"),
  v.integer("Expected a whole number of workers"),
  v.minValue(1, "Expected 1 worker or more"),
);
