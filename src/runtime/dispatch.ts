/**
 * Gives ready jobs to free workers: the lane policy is replayed over the free slots, then one
 * request leases what it chose.
 *
 * @module
 */

import type { Crew } from "./crew.ts";
import { messageOf } from "../errors.ts";
import type { Lane } from "./lane.ts";
import type { PoolState } from "./pool_state.ts";
import type { Runner } from "./runner.ts";
import type { Settler } from "./settler.ts";
import type { StartRate } from "./start_rate.ts";
import type { Leased, Queue } from "../store.ts";
import { isPromise, type StoreGuard } from "./store_guard.ts";
import type { Admission, LanePolicy } from "../strategy.ts";
import type { StrategySlots } from "./strategy_slots.ts";
import { JobRun } from "./job_run.ts";

/** What dispatch needs of its pool. */
export interface DispatchContext {
  /** Its state; dispatch owns `planned` and `rateBound`. */
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
  /** Start rate of the last plan. */
  readonly rate: StartRate;
  /** Reads the clock. */
  readonly now: () => number;
  /** Asks for another turn. */
  readonly changed: () => void;
}

/** Decides which jobs start now, and starts them. */
export class Dispatch {
  readonly #context: DispatchContext;
  readonly #state: PoolState;
  #wants: number[] = [];
  readonly #eligible: Lane[] = [];
  #leasing = false;
  #askedMeanwhile = false;
  #open = true;

  /** Begins with the gate open. */
  constructor(context: DispatchContext) {
    this.#context = context;
    this.#state = context.state;
    this.adopt();
  }

  /** Takes the lanes of the state over. */
  adopt(): void {
    this.#wants = this.#state.lanes.map(() => 0);
  }

  /** Starts no more jobs. */
  close(): void {
    this.#open = false;
  }

  /** True while leases are on their way. */
  get leasing(): boolean {
    return this.#leasing;
  }

  /** Fills the free workers, as far as lanes, policy and rate allow. */
  run(nowMs: number): void {
    const { crew, guard, rate } = this.#context;
    if (this.#leasing) {
      this.#askedMeanwhile = true;
      return;
    }
    this.#state.rateBound = false;
    while (
      this.#open && !this.#leasing && crew.idleCount > 0 && !guard.closed("lease", nowMs)
    ) {
      const free = rate.allowed(nowMs, crew.idleCount);
      const planned = this.#plan(free);
      if (free < crew.idleCount && planned === free) {
        this.#state.rateBound = this.#gatherEligible().length > 0;
      }
      if (planned === 0) return;
      const started = this.#lease(planned, nowMs);
      // Workers that are free again by now wait for the next turn: endings go out, timers get theirs.
      if (started === 0 || started === planned) return;
    }
  }

  /** Replays the policy over `free` slots; fills `wants`. */
  #plan(free: number): number {
    const state = this.#state;
    const { slots } = this.#context;
    this.#wants.fill(0);
    const eligible = this.#gatherEligible();
    let planned = 0;
    while (planned < free && eligible.length > 0) {
      const lane = this.#choose(slots.lanePolicy.run, eligible);
      if (lane === undefined) break;
      this.#wants[lane.index]!++;
      lane.planned++;
      state.planned++;
      planned++;
      if (!isEligible(lane)) eligible.splice(eligible.indexOf(lane), 1);
    }
    return planned;
  }

  #gatherEligible(): Lane[] {
    const eligible = this.#eligible;
    eligible.length = 0;
    for (const lane of this.#state.lanes) if (isEligible(lane)) eligible.push(lane);
    return eligible;
  }

  /** Asks the policy. One that throws or answers nonsense: list order. */
  #choose(policy: LanePolicy, eligible: readonly Lane[]): Lane | undefined {
    const { slots } = this.#context;
    let fault: string;
    try {
      const answer = policy(this.#state, eligible);
      if (answer === undefined) return undefined;
      const lane = this.#state.lanes[answer.index];
      if (lane === answer && eligible.includes(lane)) {
        slots.works(slots.lanePolicy.name);
        return lane;
      }
      fault = `Expected one of the eligible lanes but received "${String(answer.name)}"`;
    } catch (thrown) {
      fault = messageOf(thrown);
    }
    slots.fails(slots.lanePolicy.name, fault);
    return eligible[0];
  }

  /** Leases what was planned and starts it. Answers how many slots were used; all, if that is still open. */
  #lease(planned: number, nowMs: number): number {
    const { guard, queue } = this.#context;
    let used = planned;
    this.#leasing = true;
    let answered = false;
    guard.call(
      "lease",
      () => {
        const answer = queue.lease(this.#wants, nowMs);
        answered = !isPromise(answer);
        return answer;
      },
      (leased) => {
        this.#unplan();
        this.#leasing = false;
        used = this.#start(leased, answered ? nowMs : this.#context.now());
        if (!answered) this.#answeredLate(leased.length);
      },
      () => {
        this.#unplan();
        this.#leasing = false;
        used = 0;
        if (!answered) this.#context.changed();
      },
    );
    return used;
  }

  /**
   * Asks for another turn, unless nothing was leased: then the counts are older than what others have
   * taken, and to lease again before the next ones would only ask the same of the store.
   */
  #answeredLate(leased: number): void {
    if (leased > 0 || this.#askedMeanwhile || !this.#open) this.#context.changed();
    this.#askedMeanwhile = false;
  }

  #unplan(): void {
    for (const lane of this.#state.lanes) lane.planned = 0;
    this.#state.planned = 0;
  }

  #start(leased: readonly Leased[], nowMs: number): number {
    const { crew, runner, rate, slots } = this.#context;
    const state = this.#state;
    state.nowMs = nowMs;
    const admission = slots.admission.run;
    for (let index = 0; index < leased.length; index++) {
      const job = leased[index]!;
      const lane = state.laneOf(job);
      // The rate may have become slower while the lease was on its way.
      if (!this.#open || crew.idleCount === 0 || rate.allowed(nowMs, 1) === 0) {
        this.#settle(job, lane, "back", nowMs);
      } else if (admission.take === undefined || this.#take(admission, lane, job, nowMs)) {
        rate.stamp(nowMs);
        runner.begin(crew.takeIdle(nowMs), job, nowMs);
      } else {
        lane.traffic.shed++;
        state.traffic.shed++;
        this.#settle(job, lane, "dead", nowMs);
      }
    }
    return leased.length;
  }

  #take(admission: Admission, lane: Lane, job: Leased, nowMs: number): boolean {
    const { slots } = this.#context;
    try {
      return admission.take!(lane, nowMs - job.readyAtMs, this.#state); // the caller asked whether there is one
    } catch (thrown) {
      slots.fails(slots.admission.name, messageOf(thrown));
      return true;
    }
  }

  /** Ends a leased job that does not start. */
  #settle(job: Leased, lane: Lane, to: "back" | "dead", nowMs: number): void {
    const run = new JobRun(job, lane, undefined, nowMs, this.#context.runner);
    run.to = to;
    run.charged = to === "dead";
    if (to === "dead") {
      run.reason = "late";
      lane.dead.late++;
      run.error = "It would have ended after its deadline";
    }
    this.#context.settler.add(run);
    this.#context.settler.flush(nowMs);
  }
}

function isEligible(lane: Lane): boolean {
  return lane.claimable > 0 && lane.running < lane.maxRunning;
}
