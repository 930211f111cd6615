/**
 * The first page: what is wrong, then the pools.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import { type Context, Hono } from "hono";
import type { BlankEnv } from "hono/types";
import type { FC } from "hono/jsx";
import { display } from "../../config/faults.ts";
import { counted, duration, grouped, rate } from "../../base/format.ts";
import { Fact } from "./cells.tsx";
import type { AdminContext } from "../api/context.ts";
import { answerPage, frameOf, type FrameProps, Layout, mayWrite } from "./layout.tsx";
import { addressOf, listOf, type ListQuery, type PoolList } from "./pool_list.ts";
import { oldestWaitMs, ORDER_KEYS, orderOf, sortBy } from "./pool_order.ts";
import type { ShownPool } from "./pool_state.tsx";
import { PoolTable } from "./pool_table.tsx";
import { queryFaults, queryNumber } from "../http/problem.ts";
import type { ProblemError } from "../http/wire.ts";
import { badQuery } from "./trouble.tsx";
import { TroubleList } from "./trouble_list.tsx";
import { troubledPools } from "./troubled.ts";

/** Without a script the page is reloaded after so long, s, unless `?refresh=` says otherwise. */
const REFRESH_SECONDS = 5;

/** The start page, below the path of another app, with a slash at its end. */
export const MOUNTED_START = "/:slash{.{0}}";

/**
 * Makes the route.
 *
 * @internal
 */
export function overviewRoutes(context: AdminContext): Hono<BlankEnv> {
  return new Hono()
    .get("/", (c) => show(c, context))
    .all(MOUNTED_START, (c) => isRead(c) ? show(c, context) : c.notFound());
}

function isRead(c: Context): boolean {
  return c.req.method === "GET" || c.req.method === "HEAD";
}

async function show(c: Context, context: AdminContext): Promise<Response> {
  const refresh = queryNumber(c, "refresh", { min: 0, max: 3_600, default: REFRESH_SECONDS });
  const page = queryNumber(c, "page", { min: 1, max: 1_000_000, default: 1 });
  const faults = queryFaults(c, ["refresh", "sort", "match", "well", "page"]);
  if (typeof refresh === "object") return await badQuery(c, context, [refresh, ...faults]);
  if (typeof page === "object") return await badQuery(c, context, [page, ...faults]);
  if (faults.length > 0) return await badQuery(c, context, faults);
  const { sort, match = "", well } = c.req.query();
  const wrong = wrongChoices(sort, well);
  if (wrong.length > 0) return await badQuery(c, context, wrong);
  const query = { sort: sort ?? "", match, page, isUnfolded: well === "shown" };
  const list = listOf(await troubledPools(context), query);
  return await answerPage(
    c,
    <Overview
      {...frameOf(c, context)}
      list={list}
      query={{ ...query, page: list.page }}
      count={context.sluice.pools.length}
      refresh={refresh}
    />,
  );
}

function wrongChoices(sort: string | undefined, well: string | undefined): ProblemError[] {
  const faults: ProblemError[] = [];
  if (sort !== undefined && orderOf(sort) === undefined) {
    const detail =
      `Expected sort to be one of ${ORDER_KEYS.join(", ")}, or one of them after "-", ` +
      `but received ${display(sort)}`;
    faults.push({ pointer: "?sort", detail });
  }
  if (well !== undefined && well !== "shown") {
    const detail = `Expected well to be "shown" but received ${display(well)}`;
    faults.push({ pointer: "?well", detail });
  }
  return faults;
}

interface OverviewProps extends FrameProps {
  readonly list: PoolList;
  readonly query: ListQuery;
  /** How many pools there are. */
  readonly count: number;
  readonly refresh: number;
}

const Overview: FC<OverviewProps> = ({ base, actor, dead, list, query, count, refresh }) => (
  <Layout
    base={base}
    actor={actor}
    dead={dead}
    title="Pools"
    place="pools"
    beside={count > 1 && <Filter query={query} />}
    live
    refresh={refresh}
  >
    {count === 0
      ? (
        <p class="card empty">
          No pool is configured: add one to the config, then reload it.
        </p>
      )
      : list.matching.length === 0
      ? (
        <p class="card empty">
          No pool and no lane has "{query.match.slice(0, 100)}" in its name.{" "}
          <a href={base || "/"}>All pools</a>
        </p>
      )
      : (
        <>
          <TroubleList base={base} pools={list.matching} writes={mayWrite(actor)} />
          <Totals pools={list.matching.map(({ pool }) => pool)} />
          {list.shown.length > 0 && (
            <PoolTable
              base={base}
              pools={list.shown}
              order={orderOf(query.sort)}
              sortBy={(key) =>
                addressOf(query, { sort: sortBy(key, orderOf(query.sort)), page: 1 })}
              hasLanes={list.hasLanes}
            />
          )}
          <Rest base={base} list={list} query={query} />
        </>
      )}
  </Layout>
);

const Filter: FC<{ query: ListQuery }> = ({ query: { sort, match } }) => (
  <form class="row filter" method="get" role="search">
    <label class="unseen" for="match">Pools or lanes with this in their names</label>
    <input id="match" type="search" name="match" value={match} placeholder="Pool or lane" />
    {sort !== "" && <input type="hidden" name="sort" value={sort} />}
    <button type="submit" class="small">Filter</button>
  </form>
);

/** What is not in the table: pools that are well, other pages. */
const Rest: FC<{ base: string; list: PoolList; query: ListQuery }> = ({ base, list, query }) => {
  const { folded, page, pages } = list;
  const isUnfolded = query.isUnfolded && query.sort === "" && query.match === "";
  const many = folded === 1 ? "1 pool is well" : `${counted(folded, "pool")} are well`;
  return (
    <p class="row rest">
      {folded > 0 && <a href={addressOf(query, { isUnfolded: true, page: 1 })}>▸ {many}</a>}
      {isUnfolded && <a href={base || "/"}>▾ Fold pools that are well</a>}
      {page > 1 && <a href={addressOf(query, { page: page - 1 })} rel="prev">Previous</a>}
      {pages > 1 && <span class="soft">Page {page} of {pages}</span>}
      {page < pages && <a href={addressOf(query, { page: page + 1 })} rel="next">Next</a>}
    </p>
  );
};

const Totals: FC<{ pools: readonly ShownPool[] }> = ({ pools }) => {
  const sum = (value: (pool: ShownPool) => number): number =>
    pools.reduce((total, pool) => total + value(pool), 0);
  return (
    <dl class="facts">
      <Fact
        name="Workers busy"
        text={`${grouped(sum(({ busy }) => busy))} of ${grouped(sum(({ live }) => live))}`}
      />
      <Fact
        name="Ready jobs"
        text={grouped(sum(({ lanes }) => lanes.reduce((all, { ready }) => all + ready, 0)))}
      />
      <Fact name="Oldest wait" text={duration(Math.max(...pools.map(oldestWaitMs)))} />
      <Fact name="In per s" text={rate(sum(({ window }) => window.arrivalsPerSec))} />
      <Fact name="Done per s" text={rate(sum(({ window }) => window.completionsPerSec))} />
      <Fact name="Failed per s" text={rate(sum(({ window }) => window.failuresPerSec))} />
      <Fact name="Shed per s" text={rate(sum(({ window }) => window.shedPerSec))} />
    </dl>
  );
};
