/**
 * Asks the lane policy which lane is next.
 *
 * @module
 */

import { faultOfLane } from "../base/answers.ts";
import { messageOf } from "../contract/errors.ts";
import type { Lane } from "./lane.ts";
import type { PoolState } from "./pool_state.ts";
import type { Leased } from "../contract/store.ts";
import type { StrategySlots } from "./strategy_slots.ts";

/** Chooses among the lanes that may give a job. One at a time: its list of them is reused. */
export class LaneChoice {
  readonly #state: PoolState;
  readonly #slots: StrategySlots;
  readonly #eligible: Lane[] = [];
  /** By index of a lane: true while it is among those. The policy has only the list. */
  readonly #isOpen: boolean[] = [];
  #isEligible: (lane: Lane) => boolean = mayStart;

  /** Asks the current policy. */
  constructor(state: PoolState, slots: StrategySlots) {
    this.#state = state;
    this.#slots = slots;
  }

  /** Begins to choose. `isEligible`: which lanes may be chosen. How many there are. */
  among(isEligible: (lane: Lane) => boolean): number {
    this.#isEligible = isEligible;
    this.#gather();
    return this.#eligible.length;
  }

  /** How many may be chosen still. */
  get count(): number {
    return this.#eligible.length;
  }

  /** What the policy chooses; list order where it throws or answers nonsense. `undefined`: it chooses none. */
  next(): Lane | undefined {
    const { lanePolicy } = this.#slots;
    let fault: string;
    const eligible: readonly Lane[] = this.#eligible;
    const { length } = eligible;
    try {
      const answer = lanePolicy.run(this.#state.face, eligible);
      const lane = answer === undefined ? undefined : this.#state.lanes[answer.index];
      if (lane === answer && (lane === undefined || this.#isOpen[lane.index])) {
        this.#slots.works("lane", lanePolicy.name);
        if (eligible.length !== length) this.#gather(); // it is the policy's to read only
        return lane;
      }
      fault = faultOfLane(answer);
    } catch (thrown) {
      fault = messageOf(thrown);
    }
    this.#slots.fails("lane", lanePolicy.name, fault);
    this.#gather();
    return eligible[0];
  }

  /** A lane gave a job: it leaves the choice if that was its last. */
  gave(lane: Lane): void {
    if (this.#isEligible(lane)) return;
    this.#isOpen[lane.index] = false;
    this.#eligible.splice(this.#eligible.indexOf(lane), 1);
  }

  #gather(): void {
    const eligible = this.#eligible;
    let count = 0;
    for (const lane of this.#state.lanes) {
      const isOpen = this.#isEligible(lane);
      this.#isOpen[lane.index] = isOpen;
      if (isOpen) eligible[count++] = lane;
    }
    if (eligible.length > count) eligible.length = count; // seldom: it costs more than the rest
  }
}

/** True if a job of the lane may start now. */
export function mayStart(lane: Lane): boolean {
  return lane.planned < lane.byRate && hasPlace(lane);
}

/** The same, whatever the lane's own start rates say. */
export function hasPlace(lane: Lane): boolean {
  return lane.running < lane.maxRunning && (lane.claimable > 0 || (lane.held > 0 && !lane.paused));
}

/** The same, jobs that are being leased ahead included. */
export function mayStartOnceLeased(lane: Lane): boolean {
  return mayStart(lane) || (lane.ahead > 0 && !lane.paused && lane.running < lane.maxRunning);
}

/** True if a job of the lane that is leased now may start soon. */
export function mayStartSoon(lane: Lane): boolean {
  return lane.claimable > 0 && lane.running + lane.held + lane.ahead < lane.maxRunning;
}

/** What was leased, which comes lane by lane, in the order in which the policy chose `planned` lanes. */
export function inOrder(
  leased: readonly Leased[],
  chosen: readonly Lane[],
  planned: number,
): readonly Leased[] {
  let same = 0;
  while (same < leased.length && leased[same]?.lane === chosen[same]?.name) same++;
  if (same === leased.length) return leased;
  const byLane = Map.groupBy(leased.toReversed(), (job) => job?.lane);
  const jobs: Leased[] = [];
  for (const { name } of chosen.slice(0, planned)) {
    const job = byLane.get(name)?.pop();
    if (job !== undefined) jobs.push(job);
  }
  for (const rest of byLane.values()) jobs.push(...rest.reverse()); // more than were asked for
  return jobs;
}
