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
import { shellWord } from "../../base/shell_word.ts";
import { grouped } from "../../base/format.ts";
import { Act } from "./act.tsx";
import type { AdminContext } from "../api/context.ts";
import { FailureGroups } from "./failure_groups.tsx";
import { FilterForm } from "./job_filter.tsx";
import {
  findJobs,
  type FoundJobs,
  type JobFilter,
  nowOf,
  queryOf,
  readSearch,
} from "../api/job_query.ts";
import { JobList, LIST_SCRIPTS } from "./job_list.tsx";
import { Faults, isLive } from "./jobs_page.tsx";
import type { PoolHandle } from "../../runtime/handles.ts";
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
  const failures = faults.length > 0 || isNarrowed(filter)
    ? undefined
    : await context.failures.of(pools, context.sluice.pools.length);
  return await answerPage(
    c,
    <Layout
      {...frame}
      title="Dead letters"
      place="dead"
      scripts={LIST_SCRIPTS}
      live={isLive(search) || operations.some(({ status }) => status === "running")}
    >
      {failures !== undefined && (
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
      {found !== undefined && (
        <JobList
          base={base}
          path={path}
          label="Dead jobs"
          search={search}
          found={found}
          context={context}
          writes={writes}
          none={noneOf(filter)}
        >
          {writes && <Bulk filter={filter} pools={pools} found={found} />}
        </JobList>
      )}
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

function noneOf({ match, pool, lane, group }: JobFilter): string {
  return match + pool + lane + group !== ""
    ? "No dead job matches."
    : "No job is dead. Jobs that fail for good are kept here, see “keep” in the config.";
}

const Bulk: FC<{ filter: JobFilter; pools: readonly PoolHandle[]; found: FoundJobs }> = (
  { filter, pools, found },
) => {
  const names = new Set(found.jobs.map(({ pool }) => pool));
  // With a further page, other pools may have some too.
  const some = pools.filter((pool) =>
    names.has(pool.name) || (found.next !== undefined && pool.counts().dead !== 0)
  );
  return (
    <div class="card bulk">
      {some.map((pool) => <BulkOf pool={pool} filter={filter} found={found} />)}
    </div>
  );
};

const BulkOf: FC<{ pool: PoolHandle; filter: JobFilter; found: FoundJobs }> = (
  { pool, filter, found },
) => {
  const { name } = pool;
  const isAll = filter.lane + filter.match + filter.group === "";
  const isWhole = filter.cursor === "" && found.next === undefined;
  const known = isWhole
    ? found.jobs.filter((job) => job.pool === name).length
    : isAll
    ? pool.counts().dead
    : undefined;
  const many = (count: string): string => `${count} dead ${count === "1" ? "job" : "jobs"}`;
  const ofPool = ` of "${name}"${saidOf(filter)}`;
  const chosen = `${known === undefined ? "all dead jobs" : many(grouped(known))}${ofPool}`;
  const query = new URLSearchParams({ state: "dead", ...bodyOf(filter) });
  const path = `/api/pools/${encodeURIComponent(name)}`;
  const shared = {
    path: `${path}/operations`,
    list: `/dead${queryOf({ ...filter, pool: name, state: undefined })}`,
    ...known === undefined && { count: `${path}/jobs/count?${query}` },
  };
  const options = `${shellWord(name)} --all${optionsOf(filter)}`;
  const number = known === undefined ? "all" : grouped(known);
  return (
    <div data-key={name} class="row" role="group" aria-label={`All that match in ${name}`}>
      <span>
        {isAll ? "All" : "All that match"} in <strong>{name}</strong>
      </span>
      <Act
        {...shared}
        body={{ retry: true, ...bodyOf(filter) }}
        ask={`Retry ${chosen}?`}
        counted={`Retry {n} dead jobs${ofPool}?`}
        more="Each goes back to the end of its lane, with all its attempts. This runs in the background and can be cancelled."
        cli={`sluice dlq retry ${options}`}
        label="Retry them"
        done="The retry has begun"
        name={`Retry ${number} in ${name}`}
      >
        Retry {number}…
      </Act>
      <Act
        {...shared}
        body={{ discard: true, ...bodyOf(filter) }}
        ask={`Discard ${chosen}?`}
        counted={`Discard {n} dead jobs${ofPool}?`}
        more="They are deleted, with their payloads and errors. This cannot be undone."
        cli={`sluice dlq discard ${options}`}
        label="Discard them"
        done="The discard has begun"
        name={`Discard ${number} in ${name}`}
        danger
      >
        Discard {number}…
      </Act>
    </div>
  );
};

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
