/**
 * What a pool keeps of its workers, and how often it changes their count, in virtual time.
 *
 * @module
 */

import type { Bench } from "./_bench.ts";
import { needDraws } from "./_need_draws.ts";
import { judgeLoads } from "./_need_judge.ts";
import { needLoads } from "./_need_loads.ts";
import { measureNeed } from "./_need_play.ts";

/** Not those that the rule was tuned on. */
const SEEDS = [81_001, 81_002, 81_003, 81_004, 81_005];

const loads = { ...needLoads, ...judgeLoads, ...needDraws };

/** The benchmark. */
export const needed: Bench = {
  name: "needed",
  about: "changes a minute, workers and late jobs of five seeds, without adaptive cap",
  rounds: 1, // the same each time
  cases: Object.keys(loads),
  measure: (name) => measureNeed(loads[name]!, SEEDS), // the bench names its own cases
  targets: [],
};
