/**
 * What the shapes of answers are made from.
 *
 * @module
 */

import * as v from "valibot";
import { JOB_STATES } from "../../base/states.ts";

/** States of a job. */
export const states = v.picklist(JOB_STATES);
/** A whole number, 0 or more. */
export const count = v.pipe(v.number(), v.integer(), v.minValue(0));
/** A duration. */
export const ms = v.pipe(v.number(), v.description("ms."));
/** A time. */
export const atMs = v.pipe(v.number(), v.description("ms since epoch."));
/** Most of something, or no bound. */
export const bound = v.pipe(v.nullable(v.number()), v.description("null: no bound."));
/** A name from the config, or an id. */
export const name = v.string();
/** Whatever a handler or producer has made. */
export const anything = v.unknown();

/** A schema with what it says. */
export function said<const Schema extends v.GenericSchema>(
  schema: Schema,
  text: string,
): v.SchemaWithPipe<readonly [Schema, v.DescriptionAction<v.InferOutput<Schema>, string>]> {
  return v.pipe(schema, v.description(text));
}
