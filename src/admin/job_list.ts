/**
 * Lists of jobs, for the API and for pages: in one pool or in several, filtered, in pages.
 *
 * @module
 */

import type { JobRecord, JobState } from "../job.ts";
import type { PoolHandle } from "../sluice.ts";
import type { JobPage, JobQuery } from "../store.ts";

/** States of jobs, in the order of a job's life. */
export const STATES: readonly JobState[] = [
  "ready",
  "delayed",
  "running",
  "done",
  "dead",
  "cancelled",
];

/** Who looks at jobs that have ended looks for those of a moment ago. */
export const LIST_ORDER: Pick<JobQuery, "order"> = { order: "latest-end" };

/** Most jobs that one search looks at before it answers. */
export const MOST_LOOKED_AT = 5_000;

/** True for the name of a state. */
export function isState(state: string | undefined): state is JobState {
  return STATES.some((known) => known === state);
}

/** The first page on which a job matches, or what was left after looking at many. */
export async function pageOf(
  handle: PoolHandle,
  query: JobQuery,
  matches: (job: JobRecord) => boolean,
): Promise<JobPage> {
  let { cursor } = query;
  for (let looked = 0;; looked += query.limit) {
    const page = await handle.list({ ...query, cursor });
    const jobs = page.jobs.filter(matches);
    cursor = page.cursor;
    if (jobs.length > 0 || cursor === undefined || looked >= MOST_LOOKED_AT) {
      return { jobs, cursor };
    }
  }
}

/** Where a list over several pools goes on. */
export interface Place {
  /** Name of the pool. */
  readonly pool: string;
  /** Cursor within it. `undefined`: at its beginning. */
  readonly cursor: string | undefined;
}

/** A page of a list over several pools. */
export interface PoolsPage {
  /** Records, pool by pool, within each those that ended last first. */
  readonly jobs: readonly JobRecord[];
  /** Where to go on. `undefined`: this was the last page. */
  readonly next: Place | undefined;
}

/** Lists jobs of several pools, one after the other. A page may be short and still have a next one. */
export async function pageOfPools(
  pools: readonly PoolHandle[],
  query: Omit<JobQuery, "cursor">,
  from: Place | undefined,
  matches: (job: JobRecord) => boolean,
): Promise<PoolsPage> {
  const start = from === undefined ? 0 : pools.findIndex(({ name }) => name === from.pool);
  const jobs: JobRecord[] = [];
  let cursor = from?.cursor;
  for (const handle of start < 0 ? [] : pools.slice(start)) {
    if (jobs.length >= query.limit) return { jobs, next: { pool: handle.name, cursor: undefined } };
    const page = await pageOf(
      handle,
      { ...query, limit: query.limit - jobs.length, cursor },
      matches,
    );
    jobs.push(...page.jobs);
    cursor = page.cursor;
    if (cursor !== undefined) return { jobs, next: { pool: handle.name, cursor } };
  }
  return { jobs, next: undefined };
}
