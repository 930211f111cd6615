/**
 * Feasibility: what a config without faults still cannot do, by Little's law, by Erlang's formulas
 * and by asking its caps, lane policy and controller.
 *
 * Loads are known where lanes say what they `expect`; the other checks need nothing more than the
 * config. What is computed is one process.
 *
 * @module
 */

import { lintCaps } from "./caps.ts";
import type { Concern, Severity } from "./concern.ts";
import { lintCooldown } from "./cooldown.ts";
import { lintKeyRates } from "./key_rates.ts";
import { lintDepth } from "./depth.ts";
import { lintDownstreams } from "./downstreams.ts";
import { factsOf } from "./facts.ts";
import { lintFilling } from "./filling.ts";
import { lintGrowth } from "./growth.ts";
import { lintLoad } from "./load.ts";
import { lintReserve } from "./reserve.ts";
import { lintRetry } from "./retry.ts";
import { lintStore } from "./store.ts";
import { lintTime, type Platform } from "./time.ts";
import { lintUnread } from "./unread.ts";
import { lintUnreached } from "./unreached.ts";
import { lintWait } from "./wait.ts";
import type { Settings } from "../config/settings.ts";

export type { Concern, ConcernCode, Severity } from "./concern.ts";
export { type Platform, PLATFORMS } from "./time.ts";

const ORDER: readonly Severity[] = ["error", "warning", "note"];

/**
 * Finds what cannot work, worst first; empty if nothing is wrong.
 *
 * Strategies are made and asked, with views made for the purpose; handlers, stores and signals are
 * not touched.
 *
 * @param platform Where it is to run: its kill time is then held against the drain.
 */
export function lint(settings: Settings, platform?: Platform): readonly Concern[] {
  const pools = settings.pools.map(factsOf);
  const { name, plugin: { durable = true, measured } = {} } = settings.store;
  const found = pools.flatMap((pool) => [
    ...lintLoad(pool),
    ...lintCaps(pool, durable),
    ...lintKeyRates(pool, durable),
    ...lintReserve(pool),
    ...lintWait(pool),
    ...pool.failing,
    ...lintGrowth(pool),
    ...lintFilling(pool),
    ...lintUnread(pool),
    ...lintRetry(pool),
    ...lintCooldown(pool),
    ...lintTime(pool, { platform, durable }),
    ...lintDepth(pool),
    ...lintUnreached(pool),
  ]);
  found.push(...lintDownstreams(settings));
  if (measured !== undefined) found.push(...lintStore(pools, name, measured));
  return found.sort((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity));
}
