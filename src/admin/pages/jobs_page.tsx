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
import { findJobs, type JobFilter, type JobSearch, readSearch } from "../api/job_query.ts";
import { JobList, LIST_SCRIPTS } from "./job_list.tsx";
import { countsOf, StateTabs } from "./state_tabs.tsx";
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
  const { filter, faults, pools } = search;
  const found = faults.length > 0 ? undefined : await findJobs(search, context);
  return await answerPage(
    c,
    <Layout {...frame} title="Jobs" place="jobs" live={isLive(search)} scripts={LIST_SCRIPTS}>
      <FilterForm action={`${base}/jobs`} filter={filter} context={context} />
      <Faults faults={faults} />
      {found !== undefined && (
        <StateTabs
          base={base}
          label="Choose a list"
          filter={filter}
          counts={filter.match === "" ? countsOf(pools, filter.lane) : {}}
          chosen
        />
      )}
      {found !== undefined && (
        <JobList
          base={base}
          path={`${base}/jobs`}
          label="Jobs"
          search={search}
          found={found}
          context={context}
          writes={mayWrite(actor)}
          none={noneOf(filter)}
        />
      )}
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

/** What is said where there are no jobs. */
function noneOf({ pool, lane, state, match, group }: JobFilter): string {
  if (match !== "" && group === "") {
    return "No job has that text in its id, key, type, error or payload.";
  }
  return pool + lane + group !== "" || state !== undefined
    ? "No such job now."
    : "There are no jobs yet. Post one, or wait for the first.";
}
