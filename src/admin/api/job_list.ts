/**
 * Lists of jobs of one pool, for the API and for pages: filtered, in pages.
 *
 * @module
 */

import type { JobRecord } from "../../contract/job.ts";
import type { PoolHandle } from "../../runtime/handles.ts";
import type { JobCountJson } from "../http/wire_lists.ts";
import type { JobPage, JobQuery } from "../../contract/store.ts";

/** Who looks at jobs that have ended looks for those of a moment ago. */
export const LIST_ORDER: Pick<JobQuery, "order"> = { order: "latest-end" };

/** Most jobs that one search looks at before it answers. */
export const MOST_LOOKED_AT = 5_000;

/** Jobs that are read at once to be counted. */
const COUNTED_AT_ONCE = 200;

/** The first page on which a job matches, or what was left after looking at many; and at how many it looked. */
export async function pageOf(
  handle: PoolHandle,
  query: JobQuery,
  matches: (job: JobRecord) => boolean,
): Promise<JobPage & { readonly looked: number }> {
  let { cursor } = query;
  for (let looked = 0;;) {
    const page = await handle.list({ ...query, cursor });
    const jobs = page.jobs.filter(matches);
    looked += page.jobs.length;
    cursor = page.cursor;
    if (jobs.length > 0 || cursor === undefined || looked >= MOST_LOOKED_AT) {
      return { jobs, cursor, looked };
    }
  }
}

/** Counts jobs: by what the store knows, or else by looking at the latest. `matches`: only those. */
export async function countJobs(
  handle: PoolHandle,
  { state, lane }: Pick<JobQuery, "state" | "lane">,
  matches?: (job: JobRecord) => boolean,
): Promise<JobCountJson> {
  const isKnown = matches === undefined && state !== undefined &&
    state !== "cancelled" && state !== "done"; // those are counted together
  const known = isKnown ? handle.counts(lane)[state] : undefined;
  if (known !== undefined) return { count: known, looked: 0, complete: true };
  let count = 0;
  let looked = 0;
  let cursor: string | undefined;
  do {
    const query = { ...LIST_ORDER, state, lane, limit: COUNTED_AT_ONCE, cursor };
    const page = await handle.list(query);
    looked += page.jobs.length;
    count += matches === undefined ? page.jobs.length : page.jobs.filter(matches).length;
    cursor = page.cursor;
  } while (cursor !== undefined && looked < MOST_LOOKED_AT);
  return { count, looked, complete: cursor === undefined };
}
