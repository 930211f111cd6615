/**
 * Checks options that are keyed by lane.
 *
 * @module
 */

import { OptionError } from "../../src/contract/errors.ts";
import type { PluginContext } from "../../src/contract/plugin.ts";

/** Most names that a message lists. */
const MOST_NAMES = 20;

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
  const known = new Set(lanes);
  for (const name of Object.keys(byLane)) {
    if (known.has(name)) continue;
    const some = lanes.slice(0, MOST_NAMES).map((lane) => `"${lane}"`).join(", ");
    const more = lanes.length > MOST_NAMES ? ` and ${lanes.length - MOST_NAMES} more` : "";
    const message = `No lane is named "${name}": the pool has ${some}${more}`;
    throw new OptionError([option, name], message);
  }
}
