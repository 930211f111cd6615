/**
 * What a search for a better config came to.
 *
 * @module
 */

import type { Edit } from "./edit.ts";
import type { Miss } from "./goal.ts";

/** A config that was tried, with what it came to on the seeds that judge. */
export interface Judged {
  /** What it changes of the given config. Empty: nothing. */
  readonly edits: readonly Edit[];
  /** What it misses, the worst of all seeds for each clause. Empty: it keeps the goal. */
  readonly misses: readonly Miss[];
  /** Worker time of all pools of the goal, worker-seconds, the mean of the seeds. */
  readonly workerSeconds: number;
  /** Changes of the worker count a minute, over those pools, the mean of the seeds. */
  readonly changesPerMin: number;
}

/** Limits that keep the goal out of reach. */
export interface Bounding {
  /** The limit, as a change that takes it away. */
  readonly limit: Edit;
  /** What is still missed without it. Empty: it alone keeps the goal out of reach. */
  readonly misses: readonly Miss[];
}

/** What a search came to. */
export interface TuneReport {
  /** The config as given. */
  readonly base: Judged;
  /**
   * Configs that keep the goal and that none of the others betters in both worker time and changes,
   * least worker time first. Empty: no change that was tried keeps it.
   */
  readonly frontier: readonly Judged[];
  /** The one with the fewest changes that keeps the goal. `null`: none does. */
  readonly smallest: Judged | null;
  /** Where none keeps the goal: the one that misses it least. */
  readonly nearest: Judged | null;
  /** Where none keeps the goal: limits without which the nearest one would miss less, the worst first. */
  readonly bounds: readonly Bounding[];
  /** Simulations that were run. */
  readonly runs: number;
  /** Seeds that the search saw. */
  readonly searched: readonly number[];
  /** Seeds that it did not see, by which it is judged. */
  readonly judgedBy: readonly number[];
  /** True if it was interrupted: it covers what had been tried. */
  readonly interrupted?: true;
}
