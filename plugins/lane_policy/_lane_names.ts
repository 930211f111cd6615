/**
 * Checks options that are keyed by lane.
 *
 * @module
 */

import { OptionError } from "../../src/errors.ts";
import type { PluginContext } from "../../src/plugin.ts";

/**
 * Checks that each key of an option names a lane of the pool.
 *
 * @throws {OptionError} If one does not.
 */
export function checkLaneNames(
  option: string,
  byLane: Readonly<Record<string, number>>,
  { lanes }: PluginContext,
): void {
  for (const name of Object.keys(byLane)) {
    if (lanes.includes(name)) continue;
    const known = lanes.map((lane) => `"${lane}"`).join(", ");
    throw new OptionError([option, name], `No lane is named "${name}": the pool has ${known}`);
  }
}
