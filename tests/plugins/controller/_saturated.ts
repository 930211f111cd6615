/**
 * A view that most tests of growth start from.
 *
 * @module
 */

import { type LaneOverrides, makeView, type ViewOverrides } from "../../../src/testing/mod.ts";

/** All workers run a 20 ms job of a lane with a target of 50 ms. */
export function saturated(
  lane: LaneOverrides,
  overrides: ViewOverrides = {},
): ReturnType<typeof makeView> {
  const lanes = [{ name: "mail", targetWaitMs: 50, meanServiceMs: 20, ...lane }];
  return makeView({ live: 4, busy: 4, size: { min: 2, max: 32 }, lanes, ...overrides });
}
