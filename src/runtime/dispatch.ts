/**
 * Gives ready jobs to free workers: the lane policy is replayed over the free slots, and chooses among
 * jobs that are leased already and those that are to be leased. One request leases what is missing.
 *
 * @module
 */

import { Ahead } from "./ahead.ts";
import type { Cooldown } from "./cooldown.ts";
import type { Crew } from "./crew.ts";
import { dueAtOf } from "../base/due.ts";
import { judgeTake } from "../base/answers.ts";
import { messageOf } from "../contract/errors.ts";
import type { Lane } from "./lane.ts";
import { hasPlace, inOrder, LaneChoice, mayStart, mayStartOnceLeased } from "./lane_choice.ts";
import { type LeasePlan, Leasing } from "./leasing.ts";
import { isLastAttempt, Prefetch } from "./prefetch.ts";
import type { Overruns } from "./overruns.ts";
import type { PoolState } from "./pool_state.ts";
import type { Runner } from "./runner.ts";
import type { Settler } from "./settler.ts";
import type { StartRates } from "./start_rates.ts";
import type { Leased, Queue } from "../contract/store.ts";
import type { StoreGuard } from "./store_guard.ts";
import type { Admission } from "../contract/strategy.ts";
import type { StrategySlots } from "./strategy_slots.ts";
import { Unstarted } from "./unstarted.ts";

/** Turns that are later than this were not held up by the machine, ms: a process was suspended. */
const MOST_LATE_MS = 500;

/** What is left of a late turn after each that was less so. */
const FORGETS = 0.95;

/** What dispatch needs of its pool. */
export interface DispatchContext {
  /** Its state; dispatch owns `planned`, `ahead`, `held` and `rateBound`. */
  readonly state: PoolState;
  /** Where jobs live. */
  readonly queue: Queue;
  /** Its workers. */
  readonly crew: Crew;
  /** Begins attempts. */
  readonly runner: Runner;
  /** Takes the endings of late jobs. */
  readonly settler: Settler;
  /** Backs off from a store that fails. */
  readonly guard: StoreGuard;
  /** Lane policy and admission. */
  readonly slots: StrategySlots;
  /** Start rates of the last plan. */
  readonly rates: StartRates;
  /** Whether the receiver takes any. */
  readonly cooldown: Cooldown;
  /** Handlers that run on after their attempt. */
  readonly overruns: Overruns;
  /** Reads the clock. */
  readonly now: () => number;
  /** Asks for another turn. */
  readonly changed: () => void;
}

/** Decides which jobs start now, and starts them. */
export class Dispatch {
  readonly #context: DispatchContext;
  readonly #state: PoolState;
  readonly #choice: LaneChoice;
  readonly #leasing: Leasing;
  readonly #prefetch: Prefetch;
  readonly #ahead: Ahead;
  readonly #unstarted: Unstarted;
  /** The lanes that the policy chose last and that had no job here, in its order: as many as were planned. */
  #chosen: Lane[] = [];
  /** True if the start rates of all lanes hold some back, or the cool-down does. */
  #isPoolBound = false;
  /** True if the highest lane has jobs that wait for them. */
  #isTopBound = false;
  #open = true;
  /** When the next start was due, as the loop was told. `Infinity`: nothing waited for its time. */
  #dueAtMs = Infinity;
  /** How late turns come recently, ms: nearly the latest. */
  #lateMs = 0;

  /** Begins with the gate open. */
  constructor(context: DispatchContext) {
    const { state, slots, settler, runner, queue, guard, now, changed } = context;
    this.#context = context;
    this.#state = state;
    this.#choice = new LaneChoice(state, slots);
    this.#prefetch = new Prefetch(state);
    this.#unstarted = new Unstarted({ state, settler, owner: runner, changed });
    this.#leasing = new Leasing({
      ...{ state, queue, guard, now },
      take: (jobs, plan, atMs, isLate) => this.#leased(jobs, plan, atMs, isLate),
      failed: changed,
      refused: (held, nowMs) => this.#unstarted.goesBack(held, nowMs),
    });
    const { crew, cooldown, rates } = context;
    this.#ahead = new Ahead({
      ...{ state, crew, cooldown, rates },
      choice: this.#choice,
      leasing: this.#leasing,
      prefetch: this.#prefetch,
    });
  }

  /** Takes the lanes of the state over. */
  adopt(): void {
    this.#leasing.adopt();
  }

  /** Starts no more jobs. */
  close(nowMs: number): void {
    this.#open = false;
    this.giveBack(nowMs);
  }

  /** Hands back what is leased and has not started. */
  giveBack(nowMs: number): void {
    if (this.#state.held > 0) this.#trim(nowMs, false);
  }

  /** Ends a cancelled job that is leased and has not started, with the next turn. False if there is none of that id. */
  drop(id: string, nowMs: number): boolean {
    const held = this.#state.held === 0 ? undefined : this.#prefetch.take(id);
    if (held !== undefined) this.#unstarted.isCancelled(held, nowMs);
    return held !== undefined;
  }

  /** When time lets it do more. `Infinity`: it waits for something else. */
  nextAtMs(nowMs: number): number {
    const { held, rateBound, planned } = this.#state;
    const { cooldown, rates } = this.#context;
    const backAtMs = held > 0 ? this.#prefetch.backAtMs(this.#leasing.ms) : Infinity;
    if (!rateBound) return backAtMs;
    if (cooldown.room(nowMs) <= planned) return Math.min(backAtMs, cooldown.nextAtMs(nowMs));
    const aheadAtMs = this.#ahead.isNeeded(0) ? this.#ahead.atMs(nowMs) : Infinity;
    const startAtMs = Math.min(
      this.#isPoolBound ? rates.nextAtMs(nowMs, planned + 1, this.#isTopBound) : Infinity,
      rates.holdLanes ? this.#nextOfLanesMs(nowMs) : Infinity,
    );
    // What is due and was not done has other reasons, or is being asked for.
    const isAsked = startAtMs <= nowMs && (held > 0 || this.#leasing.isOpen);
    this.#dueAtMs = isAsked ? Infinity : startAtMs;
    return Math.min(backAtMs, aheadAtMs > nowMs ? aheadAtMs : Infinity, this.#dueAtMs);
  }

  /** True while leases are on their way. */
  get leasing(): boolean {
    return this.#leasing.isOpen;
  }

  /** Fills the free workers, as far as lanes, policy and rate allow. */
  run(nowMs: number): void {
    this.#state.at(nowMs);
    if (this.#state.held > 0) this.#trim(nowMs, this.#open);
    this.#fill(nowMs, true);
  }

  /** `mayLease` false: what is not here already waits for the next turn. */
  #fill(nowMs: number, mayLease: boolean): void {
    const { guard, changed } = this.#context;
    const leasing = this.#leasing;
    while (this.#open) {
      const isClosed = guard.closed("lease", nowMs);
      if (isClosed && this.#state.held === 0) {
        this.#state.rateBound = false; // the store holds jobs back, as long as the guard says
        return;
      }
      const planned = this.#plan(nowMs);
      const ahead = this.#ahead.isNeeded(planned) ? this.#ahead.plan(nowMs) : 0;
      if (planned + ahead === 0) return;
      if (!mayLease || leasing.isFull || isClosed) {
        leasing.unplan();
        leasing.isBehind = true;
        return;
      }
      const came = this.#lease(nowMs, planned, ahead > 0);
      if (this.#state.guessed) changed(); // the rest is planned by what is known then
      // Workers that are free again by now wait for the next turn: endings go out, timers get theirs.
      if (came === undefined || came === 0 || came === planned) return;
    }
  }

  /** Asks for what was planned. Answers how many jobs came, or `undefined` if that is still open. */
  #lease(nowMs: number, planned: number, isAhead: boolean): number | undefined {
    const came = this.#leasing.ask({ nowMs, chosen: this.#chosen, planned, isAhead });
    if (came === undefined) this.#chosen = [];
    return came;
  }

  /** Replays the policy over the free workers: starts what is here, plans the rest. How many it has planned. */
  #plan(nowMs: number): number {
    const { crew, cooldown, rates } = this.#context;
    const state = this.#state;
    this.#seeLateness(nowMs);
    const before = state.planned;
    const room = crew.idleCount - before;
    if (rates.holdLanes) this.#readLaneRates(nowMs, room);
    const most = Math.min(room, cooldown.room(nowMs) - before);
    let free = most > 0 ? rates.allowed(nowMs, most + before, true) - before : 0;
    let paced = free > 0 ? rates.allowed(nowMs, most + before, false) - before : 0;
    const isBound = free < room;
    let planned = 0;
    state.guessed = false;
    state.rateBound = false;
    const { isStrict } = this.#leasing;
    const isEligible = isStrict && state.ahead > 0 ? mayStartOnceLeased : mayStart;
    this.#isPoolBound = false;
    this.#isTopBound = false;
    if (room <= 0) return 0;
    if (this.#choice.among(isEligible) === 0) {
      state.rateBound = rates.holdLanes && this.#isLaneBound;
      return 0;
    }
    let onlyTop = false;
    while (free > 0 && this.#choice.count > 0) {
      if (paced <= 0 && !onlyTop) { // the others keep the pace
        onlyTop = true;
        if (this.#choice.among((lane) => lane.index === 0 && isEligible(lane)) === 0) break;
      }
      const lane = this.#choice.next();
      if (lane === undefined) break;
      if (state.guessed && this.#choice.count > 1) break;
      // What was chosen before is on its way, or about to be: this one would pass it.
      if (isStrict && state.planned > 0 && lane.held > 0) break;
      if (lane.held === 0 && lane.claimable === 0) break;
      const held = lane.held > 0 ? this.#prefetch.next(lane) : undefined;
      let isTaken = true;
      if (held === undefined && this.#leasing.just > 0 && free <= this.#leasing.just) break;
      if (held === undefined) {
        this.#chosen[planned++] = lane;
        this.#leasing.plan(lane);
      } else isTaken = this.#begin(held.job, lane, nowMs);
      if (isTaken) {
        free--;
        paced--;
      }
      this.#choice.gave(lane);
      if (crew.idleCount <= state.planned) break;
    }
    state.guessed &&= free > 0 && this.#choice.count > 1;
    const isHeld = isBound && free <= 0;
    const isPaced = onlyTop && crew.idleCount > state.planned;
    if (isPaced) this.#choice.among(isEligible);
    this.#isPoolBound = (isHeld || isPaced) && this.#choice.count > 0;
    this.#isTopBound = isHeld && isEligible(state.lanes[0]!);
    state.rateBound = this.#isPoolBound ||
      rates.holdLanes && crew.idleCount > state.planned && this.#isLaneBound;
    return planned;
  }

  /** Takes in how much later than it was due this turn comes, and how long leases take. */
  #seeLateness(nowMs: number): void {
    if (this.#dueAtMs <= nowMs) {
      const lateMs = Math.max(nowMs - this.#dueAtMs, this.#lateMs * FORGETS);
      this.#lateMs = Math.min(MOST_LATE_MS, lateMs);
    }
    this.#dueAtMs = Infinity;
    const { rates, cooldown } = this.#context;
    rates.late(this.#lateMs + 2 * this.#leasing.ms);
    if (rates.hold || rates.holdLanes) rates.paces(cooldown.hasRefused(nowMs));
  }

  /** Reads how many jobs of each lane its own rates let start. */
  #readLaneRates(nowMs: number, room: number): void {
    for (const lane of this.#state.lanes) {
      const own = this.#context.rates.of(lane.name);
      const most = lane.planned + Math.max(room, 1);
      lane.byRate = own?.allowed(nowMs, most, lane.index === 0) ?? Infinity;
    }
  }

  /** True if a lane's own rates hold jobs back. */
  get #isLaneBound(): boolean {
    return this.#state.lanes.some((lane) => lane.planned >= lane.byRate && hasPlace(lane));
  }

  /** When a lane's own rates let another job start. */
  #nextOfLanesMs(nowMs: number): number {
    let atMs = Infinity;
    for (const lane of this.#state.lanes) {
      const own = this.#context.rates.of(lane.name);
      if (own === undefined || lane.planned < lane.byRate || !hasPlace(lane)) continue;
      atMs = Math.min(atMs, own.nextAtMs(nowMs, lane.planned + 1, lane.index === 0));
    }
    return atMs;
  }

  /** Starts what was leased for free workers; what was leased ahead is chosen among with all that is held. */
  #leased(came: readonly Leased[], plan: LeasePlan, nowMs: number, isLate: boolean): void {
    const { isAhead, chosen, planned } = plan;
    const leased = isAhead ? came : inOrder(came, chosen, planned);
    const { isBehind } = this.#leasing;
    this.#leasing.isBehind = false;
    this.#state.at(nowMs);
    if (isAhead || this.#state.held > 0) {
      this.#startAll(leased, nowMs, mayNotWait);
      this.#fill(nowMs, false);
      this.#leasing.isBehind = false;
    } else this.#startAll(leased, nowMs, mayStartAtOnce);
    if (this.#state.held > 0) this.#settleHeld(leased, nowMs);
    // To ask again where nothing came would only ask the same: the counts are older than what others took.
    if (isLate && (leased.length > 0 || isBehind || !this.#open)) this.#context.changed();
  }

  /** Starts as many as may start still, and holds the rest. */
  #startAll(
    jobs: readonly Leased[],
    nowMs: number,
    isFit: (job: Leased, lane: Lane) => boolean,
  ): void {
    const { crew, rates, cooldown } = this.#context;
    for (let index = 0; index < jobs.length; index++) {
      const job = jobs[index]!;
      const lane = this.#leasing.laneOf(job);
      if (lane === undefined) continue;
      const isFree = isFit(job, lane) && this.#open && crew.idleCount > 0 &&
        cooldown.room(nowMs) > 0 && rates.allowed(nowMs, 1, lane.index === 0) > 0 &&
        (rates.of(lane.name)?.allowed(nowMs, 1, lane.index === 0) ?? 1) > 0;
      if (isFree) this.#begin(job, lane, nowMs);
      else this.#prefetch.hold(job, lane, nowMs);
    }
  }

  /** Of what was just leased and has not started goes back what is not to be held. */
  #settleHeld(leased: readonly Leased[], nowMs: number): void {
    for (const job of leased) {
      const lane = this.#state.laneOf(job);
      if (lane === undefined || !isLastAttempt(job, lane)) continue;
      const held = this.#prefetch.take(job.id);
      if (held !== undefined) this.#unstarted.goesBack(held, nowMs);
    }
    this.#trim(nowMs, this.#open);
  }

  /** Starts a job, unless it is too late for it: false then. */
  #begin(job: Leased, lane: Lane, nowMs: number): boolean {
    const { crew, runner, rates, slots, overruns, cooldown } = this.#context;
    const admission = slots.admission.run;
    const { wall } = this.#state;
    const ageMs = nowMs - wall.pastMs(job.firstReadyAtMs ?? dueAtOf(job), nowMs);
    if ((job.expiresAtMs ?? Infinity) <= wall.at(nowMs)) {
      this.#unstarted.dies({ job, lane }, "expired", nowMs);
      return false;
    }
    if (!overruns.hasPlace(job, lane)) {
      this.#unstarted.putOff({ job, lane }, nowMs);
      return false;
    }
    if (
      ageMs > (lane.deadlineMs ?? Infinity) ||
      (admission.take !== undefined && !this.#take(admission, lane, ageMs))
    ) {
      lane.traffic.shed++;
      this.#state.traffic.shed++;
      this.#unstarted.dies({ job, lane }, "late", nowMs);
      return false;
    }
    const putOff = cooldown.holdsKeys ? cooldown.putOff({ job, lane }, nowMs) : undefined;
    if (putOff !== undefined) {
      this.#unstarted.waits({ job, lane }, putOff, nowMs);
      return false;
    }
    rates.stamp(nowMs, lane.name);
    if (lane.byRate < Infinity) lane.byRate--;
    runner.begin(crew.takeIdle(nowMs), job, lane, nowMs);
    return true;
  }

  /** Hands back what is held and will not start soon. */
  #trim(nowMs: number, isOpen: boolean): void {
    for (const held of this.#prefetch.goingBack(nowMs, this.#leasing.ms, isOpen)) {
      this.#unstarted.goesBack(held, nowMs);
    }
  }

  #take(admission: Admission, lane: Lane, ageMs: number): boolean {
    const { slots } = this.#context;
    try {
      // The caller asked whether there is one.
      const takes = judgeTake(admission.take!(lane, ageMs, this.#state.face));
      slots.works("take", slots.admission.name);
      return takes;
    } catch (thrown) {
      slots.fails("take", slots.admission.name, messageOf(thrown));
      return true;
    }
  }
}

function mayStartAtOnce(): boolean {
  return true;
}

/** On its last attempt a job is not held: it was asked for to start when it comes. */
function mayNotWait(job: Leased, lane: Lane): boolean {
  return isLastAttempt(job, lane) && lane.running < lane.maxRunning;
}
