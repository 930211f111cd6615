/**
 * What an enqueue takes, for the document: `isSubmitted` checks it by hand, several times as fast and
 * by the pool's own lanes and types; a property test holds the two together.
 *
 * @module
 */

import * as v from "valibot";
import { LONGEST_KEY } from "../src/admin/api/shape.ts";
import { LONGEST_DELAY_MS } from "../src/contract/job.ts";

const key = v.pipe(v.string(), v.minLength(1), v.maxLength(LONGEST_KEY));

/** The body of one job. */
export const jobShape = v.strictObject({
  lane: v.optional(v.string()),
  type: v.optional(v.string()),
  payload: v.unknown(),
  key: v.optional(key),
  delayMs: v.optional(waitFrom(0)),
  dedupeKey: v.optional(key),
  ttlMs: v.optional(waitFrom(1)),
});

/** A whole number of ms, `min` at least. */
function waitFrom(min: number): v.GenericSchema<number> {
  return v.pipe(v.number(), v.safeInteger(), v.minValue(min), v.maxValue(LONGEST_DELAY_MS));
}
