/**
 * Makes strategies for tests of what they answer.
 *
 * @module
 */

import type { Instances } from "../contract/plugin.ts";
import type { StrategyCheckOptions, StrategyKind } from "./purely.ts";
import { bindSubject, makeContext, type Subject } from "./subject.ts";

/**
 * Makes a strategy as a pool does: options checked, defaults filled in. Its pool may have up to 100
 * workers.
 *
 * @throws {AssertionError} If the options do not fit the plugin.
 *
 * @example
 * ```ts
 * import { makeStrategy, makeView } from "@sluice/sluice/testing";
 * import { use } from "@sluice/sluice";
 * import { fixed } from "@sluice/sluice/plugins";
 * import assert from "node:assert/strict";
 *
 * const controller = makeStrategy(use(fixed, { workers: 3 }));
 *
 * assert.deepEqual(controller(makeView()), { workers: 3, reason: "fixed at 3" });
 * ```
 */
export function makeStrategy<K extends StrategyKind>(
  subject: Subject<K>,
  { lanes }: StrategyCheckOptions = {},
): Instances[K] {
  return bindSubject(subject).create(makeContext(lanes));
}
