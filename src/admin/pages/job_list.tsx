/**
 * A list of jobs with what belongs to it: how far a search has looked, what is new, what is chosen, its pages.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import type { Child, FC } from "hono/jsx";
import { grouped } from "../../base/format.ts";
import type { AdminContext } from "../api/context.ts";
import { type FoundJobs, type JobFilter, type JobSearch, queryOf } from "../api/job_query.ts";
import { JobTable } from "./job_table.tsx";
import { countsOf } from "./state_tabs.tsx";
import { Time } from "./time.tsx";

/** Script of the pages that have such a list. */
export const LIST_SCRIPTS: readonly string[] = ["job_list.js"];

/** What a list is made of. */
export interface JobListProps {
  /** Path that the app is mounted at. */
  readonly base: string;
  /** Path of the page. */
  readonly path: string;
  /** What it lists, for screen readers. */
  readonly label: string;
  /** What was asked for. */
  readonly search: JobSearch;
  /** What was found. */
  readonly found: FoundJobs;
  /** Knows the pools, and the time. */
  readonly context: AdminContext;
  /** True: with buttons and tick boxes. */
  readonly writes: boolean;
  /** What is said where there is none. */
  readonly none: string;
  /** What is above the table, if there is one. */
  readonly children?: Child;
}

/** The list. */
export function JobList(props: JobListProps): ReturnType<FC> {
  const { base, path, label, search, found, context, writes, none, children } = props;
  const { filter } = search;
  const isMore = found.next !== undefined;
  return (
    <>
      {filter.match !== "" && <Searched search={search} found={found} />}
      {found.jobs.length > 0
        ? (
          <>
            {children}
            <JobTable
              base={base}
              label={label}
              jobs={found.jobs}
              context={context}
              writes={writes}
              dead={filter.state === "dead"}
            />
          </>
        )
        : <p class="card empty">{isMore ? NO_MATCH_YET : none}</p>}
      <div class="afloat">
        {writes && <div id="chosen" class="row scripted" role="status" data-keep hidden></div>}
        <div id="news" class="scripted" role="status" data-keep></div>
      </div>
      <Pages path={path} filter={filter} found={found} />
    </>
  );
}

/** What a page without a match says while there are others. */
const NO_MATCH_YET = "No match so far.";

/** How far a search has looked. A script goes on with it. */
const Searched: FC<{ search: JobSearch; found: FoundJobs }> = ({ search, found }) => {
  const { looked, backToMs, next } = found;
  const { pools, filter: { lane, state } } = search;
  const counts = countsOf(pools, lane);
  const total = state === undefined
    ? lane === "" && Object.values(counts).reduce((sum, count) => sum + count, 0)
    : state !== "done" && state !== "cancelled" && counts[state];
  return (
    <p id="searched" class="soft" data-looked={String(looked)} data-keep role="status">
      Looked at <span data-part="looked">{grouped(looked)}</span>
      {typeof total === "number" && total > 0 && ` of ${grouped(Math.max(total, looked))}`} jobs
      {backToMs !== undefined && (
        <>
          , back to{" "}
          <span data-part="back">
            <Time atMs={backToMs} />
          </span>
        </>
      )}
      {next !== undefined && <span data-part="more">, there are more</span>}.
    </p>
  );
};

/** Links to the first and the next page. */
const Pages: FC<{ path: string; filter: JobFilter; found: FoundJobs }> = (
  { path, filter, found },
) => {
  if (filter.cursor === "" && found.next === undefined) return null;
  const isSearch = filter.match !== "";
  return (
    <nav class="row pages" aria-label="Pages">
      {filter.cursor !== "" && <a class="button" href={path + queryOf(filter)}>First page</a>}
      {found.next !== undefined && (
        <a
          class="button"
          data-search={isSearch ? "on" : undefined}
          href={path + queryOf(filter, { cursor: found.next })}
        >
          {isSearch ? "Look further" : "Next page"}
        </a>
      )}
    </nav>
  );
};
