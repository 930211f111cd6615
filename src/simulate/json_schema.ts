/**
 * The JSON Schema (draft-07) of a scenario: what editors complete from.
 *
 * @module
 */

import { type JsonSchema, toJsonSchema } from "@valibot/to-json-schema";
import type { GenericSchema } from "valibot";
import { laneLoadShape, poolLoadShape, scenarioShape } from "./shape.ts";

/** The JSON Schema of a scenario. */
export function scenarioSchema(): object {
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Sluice scenario",
    ...byName(convert(scenarioShape), "pools", "pool"),
    definitions: {
      pool: byName(convert(poolLoadShape), "lanes", "lane"),
      lane: convert(laneLoadShape),
    },
  };
}

/** The same as the text of a file, as `scenario.schema.json` holds it. */
export function scenarioSchemaText(): string {
  return `${JSON.stringify(scenarioSchema(), null, 2)}\n`;
}

/** What a file may hold: defaults make keys optional, checks that JSON Schema cannot say are left out. */
function convert(schema: GenericSchema): JsonSchema {
  const { $schema: _, ...converted } = toJsonSchema(schema, {
    target: "draft-07",
    typeMode: "input",
    errorMode: "ignore",
  });
  return converted;
}

/** Fills in what the shape leaves open: `key` holds one `definition` a name, at least one. */
function byName(schema: JsonSchema, key: string, definition: string): JsonSchema {
  const own = schema.properties?.[key];
  const filled: JsonSchema = {
    ...(typeof own === "object" ? own : {}),
    type: "object",
    minProperties: 1,
    additionalProperties: { $ref: `#/definitions/${definition}` },
  };
  return { ...schema, properties: { ...schema.properties, [key]: filled } };
}
