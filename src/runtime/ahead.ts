/**
 * How many jobs to lease before their workers are free, or before a start rate lets them start.
 *
 * @module
 */

import type { Cooldown } from "./cooldown.ts";
import type { Crew } from "./crew.ts";
import type { Lane } from "./lane.ts";
import { type LaneChoice, mayStartSoon } from "./lane_choice.ts";
import type { Leasing } from "./leasing.ts";
import type { PoolState } from "./pool_state.ts";
import { HIGH, isShort, LOW, type Prefetch } from "./prefetch.ts";
import type { StartRates } from "./start_rates.ts";

/** What the sum of a time and a difference may miss it by, ms. */
const ROUNDING_MS = 0.001;

/** What it goes by. */
export interface AheadContext {
  /** The pool's state. */
  readonly state: PoolState;
  /** Its workers. */
  readonly crew: Crew;
  /** Whether the receiver takes any. */
  readonly cooldown: Cooldown;
  /** Start rates of the last plan. */
  readonly rates: StartRates;
  /** Asks the lane policy. */
  readonly choice: LaneChoice;
  /** What is planned is asked for by it. */
  readonly leasing: Leasing;
  /** What is leased already, and how much more free workers would want. */
  readonly prefetch: Prefetch;
}

/** Plans leases for later starts. What then starts is chosen at the start. */
export class Ahead {
  readonly #context: AheadContext;

  /** Plans nothing by itself. */
  constructor(context: AheadContext) {
    this.#context = context;
  }

  /**
   * True if answers take so long that workers, or a start rate, would wait for what is asked for too late.
   * What is `planned` is asked for in any case, and takes along what is leased ahead: else workers that
   * get free one by one would take all places, each for one job.
   */
  isNeeded(planned: number): boolean {
    const { leasing: { ms, isFull, isFullAhead }, rates, state } = this.#context;
    if (ms === 0 || (planned > 0 ? isFull : isFullAhead)) return false;
    // Without a worker, as while all are stuck, what came would go back at once, and be asked for again.
    if (state.live === 0) return false;
    const isRated = rates.hold;
    for (const lane of state.lanes) {
      if (lane.claimable === 0) continue;
      if (isRated || rates.of(lane.name) !== undefined) return true;
      if (lane.settings.attempts > 1 && isShort(lane, ms)) return true;
    }
    return false;
  }

  /** When more is to be leased ahead of the start rate. */
  atMs(nowMs: number): number {
    const { rates, leasing, state: { held, planned, ahead, lanes } } = this.#context;
    const top = lanes[0]!;
    const next = rates.nextAtMs(nowMs, planned + ahead + held + 1, false);
    const nextOfTop = top.claimable > 0
      ? rates.nextAtMs(nowMs, top.held + top.planned + top.ahead + 1, true)
      : Infinity;
    let atMs = Math.min(next, nextOfTop);
    for (const lane of rates.holdLanes ? lanes : []) {
      const own = lane.claimable > 0 ? rates.of(lane.name) : undefined;
      const count = lane.planned + lane.held + lane.ahead + 1;
      if (own !== undefined) atMs = Math.min(atMs, own.nextAtMs(nowMs, count, lane.index === 0));
    }
    const justAtMs = lanes.some(isOnce) ? next - leasing.leastMs : Infinity; // it may have passed
    const aheadAtMs = atMs - LOW * leasing.ms;
    return aheadAtMs > nowMs ? Math.min(aheadAtMs, justAtMs) : justAtMs;
  }

  /** Plans what to lease ahead. How many jobs those are. */
  plan(nowMs: number): number {
    const { crew, cooldown, rates, leasing, prefetch, state } = this.#context;
    const { held, planned, ahead, live } = state;
    const here = held + planned + ahead;
    const room = cooldown.room(nowMs) - here;
    if (room <= 0) return 0;
    const placesOf = (lane: Lane): number => this.#placesOf(lane, nowMs);
    if (!rates.hold) return prefetch.plan(leasing, nowMs, room, placesOf);
    const idle = crew.idleCount - here;
    const first = this.#planFirst(nowMs, room) + this.#planJust(nowMs, Math.min(room, idle));
    const isLow = rates.nextAtMs(nowMs, here + 1, false) <= nowMs + LOW * leasing.ms;
    if (!isLow && first === 0) return 0; // one question asks for all: the next may have to wait for its answer
    const wanted = here + Math.max(idle, live);
    const most = rates.by(nowMs + HIGH * leasing.ms, nowMs, wanted, false) - here - first;
    return first +
      (crew.idleCount > 0
        ? this.#planForRate(Math.min(room - first, idle - first, most), placesOf)
        : prefetch.plan(leasing, nowMs, Math.min(room - first, most), placesOf));
  }

  /**
   * Jobs with one attempt are not leased ahead: if this process dies they have had it. They are asked for
   * so that they come when they may start, by the shortest time that a lease has taken.
   */
  #planJust(nowMs: number, most: number): number {
    const { rates, leasing, choice, state: { held, planned, ahead } } = this.#context;
    if (!this.#context.state.lanes.some(isOnce)) return 0;
    const here = held + planned + ahead;
    const untilMs = nowMs + leasing.leastMs + ROUNDING_MS;
    const soon = Math.min(most, rates.by(untilMs, nowMs, here + most, false) - here);
    let count = 0;
    if (soon <= 0 || choice.among((lane) => isOnce(lane) && mayStartSoon(lane)) === 0) return 0;
    while (count < soon && choice.count > 0) {
      const lane = choice.next();
      if (lane === undefined) break;
      leasing.planJust(lane);
      choice.gave(lane);
      count++;
    }
    return count;
  }

  /** Jobs of the highest lane do not wait until what is here of others has started: they start before it. */
  #planFirst(nowMs: number, room: number): number {
    const { crew, rates, leasing, state } = this.#context;
    const top = state.lanes[0]!;
    if (top.settings.attempts === 1) return 0;
    const here = top.held + top.planned + top.ahead;
    const places = top.maxRunning - top.running - top.held - top.ahead;
    const byRate = this.#placesOf(top, nowMs);
    const most = Math.min(room, places, byRate, crew.idleCount - here, top.claimable);
    if (most <= 0 || rates.nextAtMs(nowMs, here + 1, true) > nowMs + LOW * leasing.ms) return 0;
    const count = rates.by(nowMs + HIGH * leasing.ms, nowMs, here + most, true) - here;
    leasing.planAhead(top, count);
    return count;
  }

  /** How many more jobs the lane's own rates will let start soon. */
  #placesOf(lane: Lane, nowMs: number): number {
    const { rates, leasing: { ms }, state } = this.#context;
    const own = rates.of(lane.name);
    if (own === undefined) return Infinity;
    const here = lane.planned + lane.held + lane.ahead;
    return own.by(nowMs + HIGH * ms, nowMs, here + state.live, lane.index === 0) - here;
  }

  /** Replays the policy over starts that the rate will allow soon. */
  #planForRate(most: number, placesOf: (lane: Lane) => number): number {
    if (most <= 0) return 0;
    const { choice, leasing } = this.#context;
    let count = 0;
    choice.among((lane) => lane.settings.attempts > 1 && mayStartSoon(lane) && placesOf(lane) > 0);
    while (count < most && choice.count > 0) {
      const lane = choice.next();
      if (lane === undefined) break;
      leasing.planAhead(lane, 1);
      choice.gave(lane);
      count++;
    }
    return count;
  }
}

/** True if its jobs have one attempt, and some wait. */
function isOnce({ settings, claimable }: Lane): boolean {
  return settings.attempts === 1 && claimable > 0;
}
