/**
 * What holds the jobs of each lane that wait, and for how long: looked at with each tick.
 *
 * @module
 */

import type { LaneView, PoolView } from "../contract/view.ts";
import type { LaneSample } from "./sample.ts";

/** For how long what has held jobs of a lane since the pool began, ms. */
export type HeldMs = LaneSample["held"];

/** What may hold jobs that are due. */
export type HoldCause = keyof HeldMs;

const NONE: HeldMs = Object.freeze({
  worker: 0,
  growth: 0,
  rate: 0,
  lane: 0,
  key: 0,
  policy: 0,
  store: 0,
  receiver: 0,
});

/** All of them. */
export const HOLD_CAUSES = Object.keys(NONE) as readonly HoldCause[]; // a literal of the type

/** A lane as holds are read from it. */
export interface HeldLane extends LaneView {
  /** Jobs that are being leased for workers that wait. */
  readonly planned: number;
}

/** A pool as holds are read from it. */
export interface HeldPool extends PoolView {
  /** Its lanes. */
  readonly lanes: readonly HeldLane[];
  /** Leases that the store gave nothing for, since the pool began. */
  readonly emptyLeases: number;
  /** Jobs that are being leased, for workers that wait or ahead. */
  readonly planned: number;
  readonly ahead: number;
}

/** A longer time between two ticks is not known to be held all along, ms. */
const LONGEST_MS = 1000;

/** Adds up what holds the jobs of one pool. */
export class HoldTimes {
  readonly #byLane = new Map<string, HeldMs>();
  #atMs = Infinity;
  #emptyLeases = 0;

  /** Looks, once what may start has started. */
  watch(pool: HeldPool): void {
    const { nowMs, emptyLeases, lanes } = pool;
    const forMs = Math.min(LONGEST_MS, nowMs - this.#atMs);
    const cameNone = emptyLeases > this.#emptyLeases;
    this.#atMs = nowMs;
    this.#emptyLeases = emptyLeases;
    if (forMs <= 0) return;
    for (const lane of lanes) {
      const cause = causeOf(pool, lane, cameNone);
      if (cause === undefined) continue;
      const held = this.of(lane.name);
      this.#byLane.set(lane.name, { ...held, [cause]: held[cause] + forMs });
    }
  }

  /** What has held the jobs of a lane: the same object while nothing does. */
  of(lane: string): HeldMs {
    return this.#byLane.get(lane) ?? NONE;
  }
}

/** What holds the oldest job of a lane that is due. `undefined`: none waits, or its lane is paused. */
function causeOf(
  pool: HeldPool,
  lane: HeldLane,
  cameNone: boolean,
): HoldCause | undefined {
  const { ready, blocked, planned, paused, running, maxRunning } = lane;
  if (paused || ready + blocked + planned === 0) return undefined;
  if (pool.holdUntilMs > 0) return "receiver";
  if (planned > 0) return "store";
  if (ready === 0) return pool.rateBound ? "rate" : "key"; // a lane's own rate counts as blocked
  if (running >= maxRunning) return "lane";
  if (pool.rateBound) return "rate";
  if (pool.idle > 0) return cameNone || pool.planned + pool.ahead > 0 ? "store" : "policy";
  return hasRoom(pool) ? "growth" : "worker";
}

function hasRoom({ live, workers, limit }: PoolView): boolean {
  return live < limit && workers.length < limit;
}
