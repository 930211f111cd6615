/**
 * Orders of the overview.
 *
 * @module
 */

import type { PoolSnapshot } from "../../runtime/handles.ts";

/** What pools may be ordered by. */
export type OrderKey =
  | "name"
  | "workers"
  | "ready"
  | "oldest"
  | "in"
  | "done"
  | "failed"
  | "shed"
  | "wait"
  | "run";

/** An order that was asked for. */
export interface PoolOrder {
  /** By what. */
  readonly by: OrderKey;
  /** True: the greatest first. */
  readonly descending: boolean;
}

const VALUES: Readonly<Record<Exclude<OrderKey, "name">, (pool: PoolSnapshot) => number>> = {
  workers: ({ live }) => live,
  ready: ({ lanes }) => lanes.reduce((sum, lane) => sum + lane.ready, 0),
  oldest: oldestWaitMs,
  in: ({ window }) => window.arrivalsPerSec,
  done: ({ window }) => window.completionsPerSec,
  failed: ({ window }) => window.failuresPerSec,
  shed: ({ window }) => window.shedPerSec,
  wait: ({ window }) => window.waitMs?.p95 ?? 0,
  run: ({ window }) => window.serviceMs?.p95 ?? 0,
};

/** All keys, in the order of the columns. */
export const ORDER_KEYS: readonly OrderKey[] = [
  "name",
  "workers",
  "ready",
  "oldest",
  "in",
  "done",
  "failed",
  "shed",
  "wait",
  "run",
];

/** Wait of the oldest ready job of all lanes, ms. */
export function oldestWaitMs({ lanes }: PoolSnapshot): number {
  return Math.max(0, ...lanes.map((lane) => lane.oldestWaitMs));
}

/** The order that a query asks for: `?sort=oldest`, `?sort=-oldest` for the other way round. */
export function orderOf(sort: string | undefined): PoolOrder | undefined {
  const isReversed = sort?.startsWith("-") === true;
  const by = ORDER_KEYS.find((key) => key === (isReversed ? sort?.slice(1) : sort));
  if (by === undefined) return undefined;
  const isFirstDescending = by !== "name"; // figures: anyone who sorts by them looks for the greatest
  return { by, descending: isReversed !== isFirstDescending };
}

/** What `?sort=` asks for an order by, or turns it round if it is the one in effect. */
export function sortBy(key: OrderKey, now: PoolOrder | undefined): string {
  const isNow = now?.by === key && now.descending === (key !== "name");
  return `${isNow ? "-" : ""}${key}`;
}

/** Pools in an order; those that are alike stay as they are. */
export function ordered<Item extends { readonly pool: PoolSnapshot }>(
  pools: readonly Item[],
  order: PoolOrder | undefined,
): readonly Item[] {
  if (order === undefined) return pools;
  const sign = order.descending ? -1 : 1;
  const { by } = order;
  return pools.toSorted(({ pool: a }, { pool: b }) =>
    sign * (by === "name" ? a.pool.localeCompare(b.pool) : VALUES[by](a) - VALUES[by](b))
  );
}
