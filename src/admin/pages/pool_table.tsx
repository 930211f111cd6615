/**
 * Pools as a table: those with trouble with all their lanes, those that are well a row each.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import type { FC } from "hono/jsx";
import { duration, grouped, rate } from "../../base/format.ts";
import type { LaneView } from "../../contract/view.ts";
import { whyOf } from "../../explain/reason.ts";
import { WorkersBar } from "./bars.tsx";
import { OldestCell, WindowCells } from "./cells.tsx";
import { Name } from "./name.tsx";
import { oldestWaitMs, type OrderKey, type PoolOrder } from "./pool_order.ts";
import { Marks, type ShownPool } from "./pool_state.tsx";
import type { Troubled } from "./troubled.ts";

/** What the table is made of. */
export interface PoolTableProps {
  /** Path that the app is mounted at. */
  readonly base: string;
  /** The pools of this page. */
  readonly pools: readonly Troubled[];
  /** The order that was asked for. */
  readonly order: PoolOrder | undefined;
  /** The address that asks for another order. */
  readonly sortBy: (key: OrderKey) => string;
  /** True: pools that are well have their lanes too. */
  readonly hasLanes: boolean;
}

/** The table. */
export function PoolTable(
  { base, pools, order, sortBy, hasLanes }: PoolTableProps,
): ReturnType<FC> {
  return (
    <div class="card scroll" tabindex={0} role="region" aria-label="Pools and their lanes">
      <table class="pools">
        <Head order={order} sortBy={sortBy} />
        {pools.map(({ pool, troubles }) => (
          <Pool base={base} pool={pool} isOpen={hasLanes || troubles.length > 0} />
        ))}
      </table>
    </div>
  );
}

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

const Head: FC<Pick<PoolTableProps, "order" | "sortBy">> = ({ order, sortBy }) => (
  <thead>
    <tr>
      {COLUMNS.map(({ key, name, wide }) => {
        const sorted = order?.by === key
          ? order.descending ? "descending" : "ascending"
          : undefined;
        return (
          <th scope="col" class={wide === true ? "wide" : undefined} aria-sort={sorted}>
            <a href={sortBy(key)} title={`Sort by ${name.toLowerCase()}`}>
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

const Pool: FC<{ base: string; pool: ShownPool; isOpen: boolean }> = ({ base, pool, isOpen }) => (
  <tbody data-key={pool.pool} class={pool.stale ? "stale" : undefined}>
    <tr class="whole">
      <th scope="rowgroup">
        <Name name={pool.pool} href={`${base}/pools/${encodeURIComponent(pool.pool)}`} />{" "}
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
    {isOpen && (
      <>
        {pool.lanes.map((lane) => <Lane lane={lane} />)}
        <tr class="why">
          <td colspan={COLUMNS.length}>
            <p>{whyOf(pool)}</p>
            <p class="narrow soft">{narrowText(pool)}</p>
          </td>
        </tr>
      </>
    )}
  </tbody>
);

const Lane: FC<{ lane: LaneView }> = ({ lane }) => (
  <tr class="lane">
    <th scope="row">
      <Name name={lane.name} /> {lane.paused && <span class="mark warn">paused</span>}{" "}
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
