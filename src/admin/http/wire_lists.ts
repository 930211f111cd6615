/**
 * Lists of jobs on the wire, and their counts.
 *
 * @module
 */

import type { JobRecord } from "../../contract/job.ts";

/** A page of jobs. */
export interface JobPageJson {
  /** Records, redacted: those that ended last first, then the others, oldest first. */
  readonly jobs: readonly JobRecord[];
  /** Give it as `?cursor=` to go on. Left out: this was the last page. */
  readonly cursor?: string | undefined;
  /** How many jobs were looked at for it. */
  readonly looked: number;
}

/** A page of jobs of all pools. */
export interface PoolsJobPageJson extends JobPageJson {
  /** When the last job that was looked at ended, or was enqueued, ms since 1970. Left out: there was none. */
  readonly backToMs?: number | undefined;
}

/** How many jobs there are. */
export interface JobCountJson {
  /** Those that were found. */
  readonly count: number;
  /** How many jobs were looked at. 0: the store knew. */
  readonly looked: number;
  /** False: there may be more, in those that were not looked at. */
  readonly complete: boolean;
}
