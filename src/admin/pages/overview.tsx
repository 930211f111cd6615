/**
 * The first page: every pool with its lanes, at one glance.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import { type Context, Hono } from "hono";
import type { BlankEnv } from "hono/types";
import type { FC } from "hono/jsx";
import { display } from "../../config/faults.ts";
import { duration, grouped, rate } from "../../base/format.ts";
import type { PoolHandle } from "../../runtime/handles.ts";
import type { LaneView } from "../../contract/view.ts";
import { whyOf } from "../../explain/reason.ts";
import { WorkersBar } from "./bars.tsx";
import { Fact, OldestCell, WindowCells } from "./cells.tsx";
import type { AdminContext } from "../api/context.ts";
import { answerPage, frameOf, type FrameProps, Layout } from "./layout.tsx";
import {
  oldestWaitMs,
  ORDER_KEYS,
  ordered,
  type OrderKey,
  orderOf,
  type PoolOrder,
  sortBy,
} from "./pool_order.ts";
import { findingClass, Marks, Meanings, needsAttention, type ShownPool } from "./pool_state.tsx";
import { queryFaults, queryNumber } from "../http/problem.ts";
import { badQuery } from "./trouble.tsx";

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

/** A pool as pages show it. */
export function shownPool(handle: PoolHandle): ShownPool {
  return { ...handle.snapshot(), diagnosis: handle.diagnosis() };
}

function show(c: Context, context: AdminContext): Response | Promise<Response> {
  const refresh = queryNumber(c, "refresh", { min: 0, max: 3_600, default: REFRESH_SECONDS });
  const faults = queryFaults(c, ["refresh", "sort"]);
  if (typeof refresh === "object") return badQuery(c, context, [refresh, ...faults]);
  if (faults.length > 0) return badQuery(c, context, faults);
  const sort = c.req.query("sort");
  const order = orderOf(sort);
  if (sort !== undefined && order === undefined) {
    const detail =
      `Expected sort to be one of ${ORDER_KEYS.join(", ")}, or one of them after "-", ` +
      `but received ${display(sort)}`;
    return badQuery(c, context, [{ pointer: "?sort", detail }]);
  }
  const pools = ordered(context.sluice.pools.map(shownPool), order);
  return answerPage(
    c,
    <Overview {...frameOf(c, context)} pools={pools} order={order} refresh={refresh} />,
  );
}

interface OverviewProps extends FrameProps {
  readonly pools: readonly ShownPool[];
  readonly order: PoolOrder | undefined;
  readonly refresh: number;
}

const Overview: FC<OverviewProps> = ({ base, actor, dead, pools, order, refresh }) => (
  <Layout base={base} actor={actor} dead={dead} title="Pools" place="pools" live refresh={refresh}>
    {pools.length === 0
      ? (
        <p class="card empty">
          No pool is configured: add one to the config, then reload it.
        </p>
      )
      : (
        <>
          <Totals pools={pools} />
          <div class="card scroll" tabindex={0} role="region" aria-label="Pools and their lanes">
            <table class="pools">
              <Head order={order} />
              {pools.map((pool) => <Pool base={base} pool={pool} />)}
            </table>
          </div>
        </>
      )}
  </Layout>
);

const Totals: FC<{ pools: readonly ShownPool[] }> = ({ pools }) => {
  const sum = (value: (pool: ShownPool) => number): number =>
    pools.reduce((total, pool) => total + value(pool), 0);
  const amiss = pools.filter(needsAttention);
  return (
    <dl class="facts">
      <Fact
        name="Need attention"
        text={amiss.length === 0 ? "none" : `${amiss.length} of ${pools.length}`}
        bad={amiss.length > 0}
      />
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

const COLUMNS: readonly { readonly key: OrderKey; readonly name: string; readonly wide?: true }[] =
  [
    { key: "name", name: "Pool and lanes" },
    { key: "workers", name: "Busy / workers" },
    { key: "oldest", name: "Oldest wait" },
    { key: "ready", name: "Ready", wide: true },
    { key: "in", name: "In/s" },
    { key: "done", name: "Done/s" },
    { key: "failed", name: "Failed/s", wide: true },
    { key: "shed", name: "Shed/s", wide: true },
    { key: "wait", name: "Wait p50 / p95", wide: true },
    { key: "run", name: "Run p50 / p95", wide: true },
  ];

const Head: FC<{ order: PoolOrder | undefined }> = ({ order }) => (
  <thead>
    <tr>
      {COLUMNS.map(({ key, name, wide }) => {
        const sorted = order?.by === key
          ? order.descending ? "descending" : "ascending"
          : undefined;
        return (
          <th scope="col" class={wide === true ? "wide" : undefined} aria-sort={sorted}>
            <a href={sortBy(key, order)} title={`Sort by ${name.toLowerCase()}`}>
              {name}
              {sorted !== undefined && (
                <span aria-hidden="true">{sorted === "descending" ? " ▼" : " ▲"}</span>
              )}
            </a>
          </th>
        );
      })}
    </tr>
  </thead>
);

const Pool: FC<{ base: string; pool: ShownPool }> = ({ base, pool }) => {
  return (
    <tbody data-key={pool.pool} class={pool.stale ? "stale" : undefined}>
      <tr class="whole">
        <th scope="rowgroup">
          <a href={`${base}/pools/${encodeURIComponent(pool.pool)}`}>{pool.pool}</a>{" "}
          <Marks pool={pool} />
        </th>
        <td>
          {grouped(pool.busy)} / {grouped(pool.live)}
          <span class="soft">{Number.isFinite(pool.limit) && ` limit ${grouped(pool.limit)}`}</span>
          <WorkersBar pool={pool} />
        </td>
        <td>{duration(oldestWaitMs(pool))}</td>
        <td class="wide">{grouped(pool.lanes.reduce((sum, { ready }) => sum + ready, 0))}</td>
        <WindowCells window={pool.window} />
      </tr>
      {pool.lanes.map((lane) => <Lane lane={lane} />)}
      <tr class="why">
        <td colspan={COLUMNS.length}>
          <p>{whyOf(pool)}</p>
          {!pool.stopped && <Meanings pool={pool} tone="bad" />}
          <p class="narrow soft">{narrowText(pool)}</p>
          {pool.diagnosis.map((finding) => (
            <p data-key={`${finding.code} ${finding.lane ?? ""}`} class={findingClass(finding)}>
              <strong>{finding.code.replaceAll("-", " ")}:</strong> {finding.saw}.{" "}
              <span class="soft">{finding.change}.</span>
            </p>
          ))}
        </td>
      </tr>
    </tbody>
  );
};

const Lane: FC<{ lane: LaneView }> = ({ lane }) => (
  <tr class="lane">
    <th scope="row">
      {lane.name} {lane.paused && <span class="mark warn">paused</span>}{" "}
      {lane.blocked > 0 && <span class="soft">{grouped(lane.blocked)} blocked</span>}
    </th>
    <td>{grouped(lane.running)}</td>
    <OldestCell lane={lane} />
    <td class="wide">{grouped(lane.ready)}</td>
    <WindowCells window={lane.window} />
  </tr>
);

/** What narrow pages have no columns for. */
function narrowText(
  { window: { failuresPerSec, shedPerSec, waitMs, serviceMs } }: ShownPool,
): string {
  return [
    `Failed ${rate(failuresPerSec)}/s, shed ${rate(shedPerSec)}/s`,
    waitMs !== undefined && `wait p95 ${duration(waitMs.p95)}`,
    serviceMs !== undefined && `run p95 ${duration(serviceMs.p95)}`,
  ].filter((part) => part !== false).join(", ");
}
