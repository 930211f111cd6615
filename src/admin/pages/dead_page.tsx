/**
 * The page of dead letters: what failed for good, retried or discarded one by one or all that match.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import { type Context, Hono } from "hono";
import type { BlankEnv } from "hono/types";
import type { FC } from "hono/jsx";
import { visible } from "../../base/escape.ts";
import type { OperationJson } from "../http/wire.ts";
import type { FailuresJson } from "../http/wire_failures.ts";
import { shellWord } from "../../base/shell_word.ts";
import { Act } from "./act.tsx";
import type { AdminContext } from "../api/context.ts";
import { countOf, FailureGroups } from "./failure_groups.tsx";
import { FilterForm } from "./job_filter.tsx";
import { findJobs, type JobFilter, nowOf, queryOf, readSearch } from "../api/job_query.ts";
import { JobTable } from "./job_table.tsx";
import { Faults, isLive, NO_MATCH_YET, Pages } from "./jobs_page.tsx";
import { answerPage, frameOf, Layout, mayWrite } from "./layout.tsx";
import { OperationList } from "./operation_list.tsx";

/** How long an operation that has ended is shown, ms. */
const SHOWN_MS = 60_000;

/**
 * Makes the route.
 *
 * @internal
 */
export function deadPageRoutes(context: AdminContext): Hono<BlankEnv> {
  return new Hono().get("/dead", (c) => show(c, context));
}

async function show(c: Context, context: AdminContext): Promise<Response> {
  const frame = frameOf(c, context);
  const { base, actor } = frame;
  const path = `${base}/dead`;
  const search = readSearch(c, context, "dead");
  const { filter, faults, pools } = search;
  const found = faults.length > 0 ? undefined : await findJobs(search, context);
  const operations = recent(context);
  const writes = mayWrite(actor);
  const failures = faults.length > 0 || (isNarrowed(filter) && filter.group === "")
    ? undefined
    : await context.failures.of(pools, context.sluice.pools.length);
  const names = [...new Set(found?.jobs.map(({ pool }) => pool))];
  return await answerPage(
    c,
    <Layout
      {...frame}
      title="Dead letters"
      place="dead"
      live={isLive(search) || operations.some(({ status }) => status === "running")}
    >
      {failures !== undefined && !isNarrowed(filter) && (
        <FailureGroups
          base={base}
          failures={failures}
          nowMs={nowOf(context)}
          writes={writes}
          {...filter.pool !== "" && { pool: filter.pool }}
        />
      )}
      <FilterForm action={path} filter={filter} context={context} states={false} />
      <Faults faults={faults} />
      <OperationList operations={operations} writes={writes} />
      {filter.group !== "" && (
        <p class="card">
          Dead jobs with this error: <strong>{visible(filter.group)}</strong>{" "}
          <a href={path + queryOf(filter, { group: "", state: undefined })}>all errors</a>
        </p>
      )}
      {found !== undefined && found.jobs.length > 0 && (
        <>
          {writes && (
            <Bulk
              filter={filter}
              failures={failures}
              // With a further page, other pools may have some too.
              pools={found.next === undefined ? names : pools.map(({ name }) => name)}
            />
          )}
          <JobTable
            base={base}
            label="Dead jobs"
            jobs={found.jobs}
            context={context}
            writes={writes}
            dead
          />
        </>
      )}
      {found?.jobs.length === 0 && <NoneDead filter={filter} more={found.next !== undefined} />}
      {found !== undefined && <Pages path={path} filter={filter} found={found} />}
    </Layout>,
    faults.length > 0 ? 400 : 200,
  );
}

/** True where the page is about some of a pool's dead jobs. */
function isNarrowed({ lane, match, group, cursor }: JobFilter): boolean {
  return lane !== "" || match !== "" || group !== "" || cursor !== "";
}

/** Operations that run, or have ended a moment ago. */
function recent({ operations, clock }: AdminContext): readonly OperationJson[] {
  const sinceMs = clock.nowMs() - SHOWN_MS;
  return operations.list().filter(({ endedAtMs }) => (endedAtMs ?? Infinity) > sinceMs);
}

const NoneDead: FC<{ filter: JobFilter; more: boolean }> = ({ filter, more }) => (
  <p class="card empty">
    {more
      ? NO_MATCH_YET
      : filter.match + filter.pool + filter.lane + filter.group !== ""
      ? "No dead job matches."
      : "No job is dead. Jobs that fail for good are kept here, see “keep” in the config."}
  </p>
);

interface BulkProps {
  readonly filter: JobFilter;
  readonly failures: FailuresJson | undefined;
  readonly pools: readonly string[];
}

const Bulk: FC<BulkProps> = ({ filter, failures, pools }) => (
  <div class="card bulk">
    {pools.map((pool) => {
      const chosen = `${manyOf(filter, failures, pool)} of "${pool}"${saidOf(filter)}`;
      return (
        <div data-key={pool} class="row" role="group" aria-label={`All that match in ${pool}`}>
          <span>
            {filter.match + filter.lane + filter.group === "" ? "All" : "All that match"} in{" "}
            <strong>{pool}</strong>
          </span>
          <Act
            path={`/api/pools/${encodeURIComponent(pool)}/operations`}
            body={{ retry: true, ...bodyOf(filter) }}
            ask={`Retry ${chosen}?`}
            more="Each goes back to the end of its lane, with all its attempts. This runs in the background and can be cancelled."
            cli={`sluice dlq retry ${shellWord(pool)} --all${optionsOf(filter)}`}
            label="Retry them"
            done="The retry has begun"
            name={`Retry all in ${pool}`}
          >
            Retry all…
          </Act>
          <Act
            path={`/api/pools/${encodeURIComponent(pool)}/operations`}
            body={{ discard: true, ...bodyOf(filter) }}
            ask={`Discard ${chosen}?`}
            more="They are deleted, with their payloads and errors. This cannot be undone."
            cli={`sluice dlq discard ${shellWord(pool)} --all${optionsOf(filter)}`}
            label="Discard them"
            done="The discard has begun"
            name={`Discard all in ${pool}`}
            danger
          >
            Discard all…
          </Act>
        </div>
      );
    })}
  </div>
);

/** How many there are, where that is known: of a group as a whole. */
function manyOf(
  { lane, match, group }: JobFilter,
  failures: FailuresJson | undefined,
  pool: string,
): string {
  const found = lane + match === ""
    ? failures?.groups.find((one) => one.group === group)
    : undefined;
  const count = found?.pools[pool];
  return count === undefined || failures === undefined ? "all dead jobs" : countOf(count, failures);
}

function saidOf({ lane, match, group }: JobFilter): string {
  const inLane = lane === "" ? "" : `, lane "${lane}"`;
  const having = match === "" ? inLane : `${inLane} with "${match}" in them`;
  return group === "" ? having : `${having} with this error`;
}

function bodyOf({ lane, match, group }: JobFilter): object {
  return Object.fromEntries(
    Object.entries({ lane, match, group }).filter(([, text]) => text !== ""),
  );
}

function optionsOf({ lane, match, group }: JobFilter): string {
  return Object.entries({ lane, match, group }).filter(([, text]) => text !== "")
    .map(([name, text]) => ` --${name} ${shellWord(text)}`).join("");
}
