/**
 * Which workers a pool can do without.
 *
 * @module
 */

import type { PoolView, WorkerState, WorkerView } from "../../src/contract/view.ts";

/**
 * Ids of up to `count` workers in `state`, those that entered it longest ago first. Dispatch hands
 * jobs to the worker that became idle last, so a surplus worker is one that has long been idle.
 */
export function longestIn(state: WorkerState, view: PoolView, count: number): readonly string[] {
  const workers = view.workers.filter((worker) => worker.state === state);
  workers.sort(bySince); // stable: of two alike the older worker
  return workers.slice(0, count).map((worker) => worker.id);
}

function bySince(a: WorkerView, b: WorkerView): number {
  return a.sinceMs - b.sinceMs;
}
