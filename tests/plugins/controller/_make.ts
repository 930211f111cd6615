/**
 * Controllers as a pool gets them: options checked, instance made.
 *
 * @module
 */

import assert from "node:assert/strict";
import { bind } from "../../../src/contract/bind.ts";
import type { Plugin, PluginContext } from "../../../src/contract/plugin.ts";
import type { Controller } from "../../../src/contract/strategy.ts";

const silent = () => {};

/** What a pool of 2 to 32 workers gives its plugins. */
export const CONTEXT: PluginContext = {
  pool: "pool",
  lanes: ["lane0"],
  size: { min: 2, max: 32 },
  random: () => 0,
  log: { debug: silent, info: silent, warn: silent, error: silent },
};

/** Makes a controller. Faulty options fail the test. */
export function make(plugin: Plugin<"controller">, options: unknown = {}): Controller {
  const binding = bind(plugin, options);
  assert(binding.ok, JSON.stringify(binding));
  return binding.bound.create(CONTEXT);
}

/** What is wrong with options. */
export function faults(plugin: Plugin<"controller">, options: unknown): readonly string[] {
  const binding = bind(plugin, options);
  return binding.ok ? [] : binding.issues.map((issue) => issue.message);
}
