/**
 * Holds values to the schemas of the OpenAPI document, as far as these go.
 *
 * @module
 */

import { openApi } from "../../../src/admin/openapi/document.ts";

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly minimum?: number;
}

const schemas = openApi("").components.schemas;

/** What does not fit, each with its place. */
export function misfitsOf(value: unknown, schema: Schema, at = ""): readonly string[] {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1);
    return misfitsOf(value, schemas[name] ?? { const: `no shape is named ${name}` }, at);
  }
  const said = `${at}: ${JSON.stringify(value)?.slice(0, 60)}`;
  if (schema.anyOf !== undefined) {
    const fits = schema.anyOf.some((one) => misfitsOf(value, one, at).length === 0);
    return fits ? [] : [`${said} is none of its shapes`];
  }
  if ("const" in schema) return value === schema.const ? [] : [`${said} is not ${schema.const}`];
  if (schema.enum !== undefined && !schema.enum.includes(value)) return [`${said} is no such name`];
  if (schema.type !== undefined && !isOf(schema.type, value)) {
    return [`${said} is no ${schema.type}`];
  }
  if (typeof value === "number" && value < (schema.minimum ?? -Infinity)) {
    return [`${said} is less`];
  }
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => misfitsOf(item, schema.items ?? {}, `${at}/${index}`));
  }
  return schema.type === "object" ? misfitsIn(Object(value), schema, at) : [];
}

function misfitsIn(
  value: Readonly<Record<string, unknown>>,
  { properties = {}, required = [], additionalProperties: more = true }: Schema,
  at: string,
): readonly string[] {
  const missing = required.filter((name) => !(name in value)).map((name) =>
    `${at}/${name} is missing`
  );
  return Object.entries(value).flatMap(([name, item]) => {
    const known = properties[name] ?? (typeof more === "object" ? more : undefined);
    if (known !== undefined) return misfitsOf(item, known, `${at}/${name}`);
    return more === false ? [`${at}/${name} is not told of`] : [];
  }).concat(missing);
}

function isOf(type: string, value: unknown): boolean {
  if (type === "integer") return Number.isInteger(value);
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") {
    return typeof value === "object" && value !== null && !Array.isArray(value);
  }
  const is: string = typeof value;
  return is === type;
}
