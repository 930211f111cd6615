/**
 * Pools with what is wrong with them, as the first page lists them.
 *
 * @module
 */

import type { PoolEvent } from "../../contract/event.ts";
import { type Pause, type Trouble, troublesOf, worseFirst } from "../../explain/trouble.ts";
import type { PoolHandle } from "../../runtime/handles.ts";
import type { AdminContext } from "../api/context.ts";
import type { ShownPool } from "./pool_state.tsx";

/** A pool, and what is wrong with it. */
export interface Troubled {
  /** The pool. */
  readonly pool: ShownPool;
  /** What is wrong, worst first. Empty: nothing. */
  readonly troubles: readonly Trouble[];
}

/** Trends are against what was so long ago, ms. */
const BEFORE_MS = 60_000;

/** A pool as pages show it. */
export function shownPool(handle: PoolHandle): ShownPool {
  return { ...handle.snapshot(), diagnosis: handle.diagnosis() };
}

/** All pools with what is wrong with them: those that need someone first, else in the order of the config. */
export async function troubledPools(
  { sluice: { pools }, latestFailures, trail }: AdminContext,
): Promise<readonly Troubled[]> {
  const failures = await latestFailures.of(pools);
  return pools.map((handle, place): Troubled => {
    const pool = shownPool(handle);
    const troubles = troublesOf(pool, {
      ...failures[place],
      before: handle.history().samples.findLast(({ atMs }) => atMs <= pool.nowMs - BEFORE_MS),
      pauses: isPaused(pool) ? pausesOf(pool.pool, trail) : [],
    });
    return { pool, troubles };
  }).sort(worsePool);
}

function worsePool({ troubles: [a] }: Troubled, { troubles: [b] }: Troubled): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  return worseFirst(a, b);
}

function isPaused({ paused, lanes }: ShownPool): boolean {
  return paused || lanes.some((lane) => lane.paused);
}

/** Newest first. */
function pausesOf(pool: string, trail: AdminContext["trail"]): readonly Pause[] {
  const events = trail.list({
    pools: [pool],
    kinds: ["paused", "audit"],
    sinceMs: -Infinity,
    limit: Infinity,
  });
  return events.flatMap((event) => pauseOf(event) ?? []);
}

function pauseOf(event: PoolEvent): Pause | undefined {
  const { atMs } = event;
  if (event.kind === "paused") return { lane: event.lane, atMs, by: undefined };
  if (event.kind !== "audit" || event.action !== "pause") return undefined;
  return { lane: event.target, atMs, by: event.who };
}
