/**
 * Lists of jobs of one pool, for the API and for pages: filtered, in pages.
 *
 * @module
 */

import type { JobRecord } from "../../contract/job.ts";
import type { PoolHandle } from "../../runtime/handles.ts";
import type { JobPage, JobQuery } from "../../contract/store.ts";

/** Who looks at jobs that have ended looks for those of a moment ago. */
export const LIST_ORDER: Pick<JobQuery, "order"> = { order: "latest-end" };

/** Most jobs that one search looks at before it answers. */
export const MOST_LOOKED_AT = 5_000;

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
