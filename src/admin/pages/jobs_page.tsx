/**
 * The page of jobs: filtered, searched, in pages.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import { type Context, Hono } from "hono";
import type { BlankEnv } from "hono/types";
import type { FC } from "hono/jsx";
import type { AdminContext } from "../api/context.ts";
import { FilterForm } from "./job_filter.tsx";
import {
  findJobs,
  type FoundJobs,
  type JobFilter,
  type JobSearch,
  queryOf,
  readSearch,
} from "../api/job_query.ts";
import { JobTable } from "./job_table.tsx";
import { answerPage, frameOf, Layout, mayWrite } from "./layout.tsx";

/**
 * Makes the route.
 *
 * @internal
 */
export function jobsPageRoutes(context: AdminContext): Hono<BlankEnv> {
  return new Hono().get("/jobs", (c) => show(c, context));
}

async function show(c: Context, context: AdminContext): Promise<Response> {
  const frame = frameOf(c, context);
  const { base, actor } = frame;
  const search = readSearch(c, context);
  const { filter, faults } = search;
  const found = faults.length > 0 ? undefined : await findJobs(search, context);
  return await answerPage(
    c,
    <Layout {...frame} title="Jobs" place="jobs" live={isLive(search)}>
      <FilterForm action={`${base}/jobs`} filter={filter} context={context} />
      <Faults faults={faults} />
      {found !== undefined && (found.jobs.length > 0
        ? (
          <JobTable
            base={base}
            label="Jobs"
            jobs={found.jobs}
            context={context}
            writes={mayWrite(actor)}
            dead={filter.state === "dead"}
          />
        )
        : <NoJobs filter={filter} more={found.next !== undefined} />)}
      {found !== undefined && <Pages path={`${base}/jobs`} filter={filter} found={found} />}
    </Layout>,
    faults.length > 0 ? 400 : 200,
  );
}

/** True for a list that is read again and again: not for a search, which may look at many jobs. */
export function isLive({ filter, faults }: JobSearch): boolean {
  return filter.match === "" && filter.group === "" && faults.length === 0;
}

/** What is wrong with a query. */
export function Faults({ faults }: { faults: readonly string[] }): ReturnType<FC> {
  if (faults.length === 0) return null;
  return (
    <div class="fault" role="alert">
      {faults.map((fault) => <p>{fault}</p>)}
    </div>
  );
}

/** Links to the first and the next page. */
export function Pages(
  { path, filter, found }: { path: string; filter: JobFilter; found: FoundJobs },
): ReturnType<FC> {
  if (filter.cursor === "" && found.next === undefined) return null;
  return (
    <nav class="row pages" aria-label="Pages">
      {filter.cursor !== "" && <a class="button" href={path + queryOf(filter)}>First page</a>}
      {found.next !== undefined && (
        <a class="button" href={path + queryOf(filter, { cursor: found.next })}>Next page</a>
      )}
    </nav>
  );
}

/** What a page without a match says while there are others. */
export const NO_MATCH_YET = "No match so far: continue with the next page.";

const NoJobs: FC<{ filter: JobFilter; more: boolean }> = ({ filter, more }) => (
  <p class="card empty">
    {more
      ? NO_MATCH_YET
      : filter.match !== "" && filter.group === ""
      ? "No job has that text in its id, key, type, error or payload."
      : filter.pool !== "" || filter.lane !== "" || filter.state !== undefined ||
          filter.group !== ""
      ? "No such job now."
      : "There are no jobs yet. Post one, or wait for the first."}
  </p>
);
