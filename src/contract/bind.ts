/**
 * Checks the options of a plugin: the one validation, for code and JSON.
 *
 * @module
 */

import type { Bound, Kind, Plugin } from "./plugin.ts";
import type { StandardIssue } from "./standard_schema.ts";

/** What came of checking options. */
export type Binding<K extends Kind> =
  | { readonly ok: true; readonly bound: Bound<K> }
  | { readonly ok: false; readonly issues: readonly StandardIssue[] };

/**
 * Checks options against a plugin's schema.
 *
 * @param plugin The plugin.
 * @param options Options with secrets resolved. `undefined`: none given.
 * @param given Options as may be shown. @default {options}
 * @throws {TypeError} If the schema answers with a promise.
 */
export function bind<K extends Kind>(
  plugin: Plugin<K>,
  options: unknown,
  given: unknown = options,
): Binding<K> {
  const checked = checkOptions(plugin, options);
  if (checked.issues !== undefined) return { ok: false, issues: checked.issues };
  const value = checked.value;
  return {
    ok: true,
    bound: {
      kind: plugin.kind,
      name: plugin.name,
      given,
      options: value,
      schema: plugin.options,
      plugin,
      create: (context) => plugin.create(value, context),
    },
  };
}

function checkOptions(
  plugin: Plugin,
  options: unknown,
): { readonly value?: unknown; readonly issues?: readonly StandardIssue[] | undefined } {
  if (plugin.options === undefined) {
    const empty = options === undefined ||
      (typeof options === "object" && options !== null && Object.keys(options).length === 0);
    return empty ? { value: {} } : { issues: [{ message: `"${plugin.name}" takes no options` }] };
  }
  const result = plugin.options["~standard"].validate(options ?? {});
  if (result instanceof Promise) {
    throw new TypeError(
      `The options schema of "${plugin.name}" is asynchronous: use one that answers at once`,
    );
  }
  return result;
}
