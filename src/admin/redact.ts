/**
 * What may be shown of payloads and results.
 *
 * @module
 */

import { isRecord } from "../config/faults.ts";
import { withoutPassword } from "../visible.ts";

/** Deepest level that is shown. */
const MAX_LEVELS = 128;

/** Most values that are shown of one payload. */
const MAX_VALUES = 20_000;

/**
 * Makes the function that copies a value for display: listed keys and the passwords of addresses are
 * hidden at any depth, and what JSON could not hold (cycles, a depth that would overflow the stack, huge graphs) is named instead.
 *
 * @param keys Names of fields to hide, in any case.
 */
export function redactor(keys: Iterable<string>): (value: unknown) => unknown {
  const hidden = new Set([...keys].map((key) => key.toLowerCase()));
  return (value) => copy(value, { hidden, above: new Set(), left: MAX_VALUES });
}

/**
 * Makes the function that copies as `redactor` does, by the fields that the config of the moment
 * lists under `redact`.
 */
export function configRedactor(system: { readonly config: unknown }): (value: unknown) => unknown {
  let config = system.config;
  let show = redactor(listed(config));
  return (value) => {
    if (config !== system.config) {
      config = system.config;
      show = redactor(listed(config));
    }
    return show(value);
  };
}

function listed(config: unknown): readonly string[] {
  if (!isRecord(config) || !Array.isArray(config["redact"])) return [];
  return config["redact"].filter((name) => typeof name === "string");
}

interface Copying {
  readonly hidden: ReadonlySet<string>;
  readonly above: Set<object>;
  left: number;
}

function copy(value: unknown, state: Copying): unknown {
  if (typeof value === "string") return withoutPassword(value);
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return value;
  if (state.above.has(value)) return "[circular]";
  if (state.above.size >= MAX_LEVELS) return "[too deep]";
  if (state.left-- <= 0) return "[cut]";
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Error) return withoutPassword(value.message);
  state.above.add(value);
  const copied = Array.isArray(value) ? value.map((item) => copy(item, state)) : Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      state.hidden.has(key.toLowerCase()) ? "[redacted]" : copy(item, state),
    ]),
  );
  state.above.delete(value);
  return copied;
}
