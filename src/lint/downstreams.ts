/**
 * Named downstreams that nobody uses, or that are too small for the pools that do.
 *
 * @module
 */

import type { DownstreamSettings, PoolSettings, Settings } from "../config/settings.ts";
import { type Concern, concern } from "./concern.ts";

/** What is wrong with the downstreams of a config, over all its pools. */
export function lintDownstreams({ downstreams, pools }: Settings): readonly Concern[] {
  return downstreams.flatMap((downstream) => {
    const users = pools.flatMap((pool) => usesOf(pool, downstream));
    const isUsed = users.length > 0 ||
      pools.some(({ cooldowns }) => cooldowns.has(downstream.name));
    return isUsed ? tooSmall(downstream, users) : [unused(downstream)];
  });
}

/** What one pool takes of a downstream, in one process. */
interface User {
  readonly pool: string;
  /** For its fewest workers, one at least. */
  readonly least: number;
  readonly min: number;
}

function usesOf({ name, size, caps }: PoolSettings, downstream: DownstreamSettings): User[] {
  return caps.flatMap(({ shared }) =>
    shared?.downstream !== downstream.name ? [] : [{
      pool: name,
      least: Math.max(1, size.min) * shared.each,
      min: size.min,
    }]
  );
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

function tooSmall({ name, connections }: DownstreamSettings, users: readonly User[]): Concern[] {
  const needed = users.reduce((sum, { least }) => sum + least, 0);
  if (users.length < 2 || connections === undefined) return [];
  if (connections === 0) return []; // `pool-stopped` says so
  if (needed <= connections) return [];
  const short = users.every(({ min }) => min <= 1)
    ? "a pool without one waits for as long as the others have work"
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
