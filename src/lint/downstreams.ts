/**
 * Named downstreams that nobody uses, or that are too small for the pools that do.
 *
 * @module
 */

import type { DownstreamSettings, PoolSettings, Settings } from "../config/settings.ts";
import { type Concern, concern, span } from "./concern.ts";

/** What is wrong with the downstreams of a config, over all its pools. */
export function lintDownstreams({ downstreams, pools }: Settings): readonly Concern[] {
  return downstreams.flatMap((downstream) => {
    const users = pools.flatMap((pool) => usesOf(pool, downstream));
    const isUsed = users.length > 0 ||
      pools.some(({ cooldowns }) => cooldowns.has(downstream.name));
    if (!isUsed) return [unused(downstream)];
    return [...tooFew(downstream, users), ...tooSlow(downstream, users)];
  });
}

/** What one pool takes of a downstream, in one process. */
interface User {
  /** Connections of a worker, and calls of a job. */
  readonly each: number;
  readonly min: number;
}

function usesOf({ size, caps }: PoolSettings, { name }: DownstreamSettings): User[] {
  const cap = caps.find(({ shared }) => shared?.downstream === name);
  return cap?.shared === undefined ? [] : [{ each: cap.shared.each, min: size.min }];
}

function unused({ name }: DownstreamSettings): Concern {
  return concern({
    code: "downstream-unused",
    severity: "warning",
    path: ["downstreams", name],
    message: `No pool uses downstream "${name}": it bounds nothing`,
    formula: "pools that use it = 0",
    numbers: { pools: 0 },
    change: `Name it in the uses of the pools that call it, or remove it`,
  });
}

function tooFew({ name, connections }: DownstreamSettings, users: readonly User[]): Concern[] {
  const needed = users.reduce((sum, { each, min }) => sum + Math.max(1, min) * each, 0);
  if (users.length < 2 || connections === undefined) return [];
  if (connections === 0) return []; // `pool-stopped` says so
  if (needed <= connections) return [];
  const short = users.every(({ min }) => min <= 1)
    ? "while all have work they take turns of a second"
    : "pools stay below their size.min";
  return [concern({
    code: "downstream-short",
    severity: "warning",
    path: ["downstreams", name, "connections"],
    message:
      `The fewest workers of ${users.length} pools need ${needed} of the ${connections} connections of downstream "${name}": ${short}`,
    formula: "sum of max(1, size.min) x uses > connections",
    numbers: { pools: users.length, needed, connections },
    change: `Allow ${needed} connections for each process, or lower size.min`,
  })];
}

/** A rate of which not every pool can have one job in the same window. */
function tooSlow({ name, rates }: DownstreamSettings, users: readonly User[]): Concern[] {
  const needed = users.reduce((sum, { each }) => sum + each, 0);
  if (users.length < 2) return [];
  return rates.flatMap(({ calls, perMs }, index) =>
    needed <= calls ? [] : [concern({
      code: "downstream-short",
      severity: "warning",
      path: ["downstreams", name, "rates", index],
      message:
        `Of ${users.length} pools each needs a part of the ${calls} calls in ${span(perMs)} ` +
        `of downstream "${name}": while all have work they take turns of a window`,
      formula: "sum of uses > calls",
      numbers: { pools: users.length, needed, calls, perMs },
      change: `Give the rate as ${needed} calls or more in a longer window`,
    })]
  );
}
