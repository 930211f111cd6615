/**
 * What may be shown of a config, and what two configs are compared by.
 *
 * @module
 */

import { isRecord } from "./faults.ts";

/**
 * A copy that is JSON: a plugin or function becomes its name, what JSON cannot say becomes text.
 * Secrets stay `{ "env": "NAME" }`, as given.
 */
export function toDisplay(value: unknown): unknown {
  return show(value, []);
}

function show(value: unknown, above: readonly unknown[]): unknown {
  if (typeof value === "function") return value.name || "[function]";
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  if (typeof value === "bigint" || typeof value === "symbol") return String(value);
  if (typeof value !== "object" || value === null) return value;
  if (above.includes(value)) return "[circular]";
  const below = [...above, value];
  if (Array.isArray(value)) return value.map((item) => show(item, below));
  if (isNamedFactory(value)) return value.name;
  if (!isRecord(value)) return Object.prototype.toString.call(value);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([key, item]) => [key, show(item, below)]),
  );
}

function isNamedFactory(value: object): value is { readonly name: string } {
  return "kind" in value && "create" in value && "name" in value && typeof value.name === "string";
}
