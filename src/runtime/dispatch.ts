/**
 * Gives ready jobs to free workers: the lane policy is replayed over the free slots, then one
 * request leases what it chose.
 *
 * @module
 */

import type { Cooldown } from "./cooldown.ts";
import type { Crew } from "./crew.ts";
import { faultOfLane, judgeTake, received } from "../base/answers.ts";
import { messageOf } from "../contract/errors.ts";
import type { Lane } from "./lane.ts";
import { type HeldJob, Prefetch } from "./prefetch.ts";
import type { Overruns } from "./overruns.ts";
import type { PoolState } from "./pool_state.ts";
import type { Runner } from "./runner.ts";
import type { Settler } from "./settler.ts";
import type { StartRate } from "./start_rate.ts";
import type { Leased, Queue } from "../contract/store.ts";
import { judgeLeased } from "./store_answers.ts";
import { isPromise, type StoreGuard } from "./store_guard.ts";
import type { Admission, LanePolicy } from "../contract/strategy.ts";
import type { StrategySlots } from "./strategy_slots.ts";
import { JobRun } from "./job_run.ts";

/** How long a job waits whose key a handler still has that was given up, ms. */
const PUT_OFF_MS = 1000;

/** What dispatch needs of its pool. */
export interface DispatchContext {
  /** Its state; dispatch owns `planned`, `held` and `rateBound`. */
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
  #wants: number[] = [];
  readonly #eligible: Lane[] = [];
  /** The lanes that the policy chose last, in its order. */
  readonly #chosen: Lane[] = [];
  readonly #lead: Prefetch;
  #leasing = false;
  #askedMeanwhile = false;
  #open = true;

  /** Begins with the gate open. */
  constructor(context: DispatchContext) {
    this.#context = context;
    this.#state = context.state;
    this.#lead = new Prefetch(context.state, context.rate);
    this.adopt();
  }

  /** Takes the lanes of the state over. */
  adopt(): void {
    this.#wants = this.#state.lanes.map(() => 0);
  }

  /** Starts no more jobs. */
  close(nowMs: number): void {
    this.#open = false;
    this.giveBack(nowMs);
  }

  /** Hands back what is leased and has not started. */
  giveBack(nowMs: number): void {
    this.#trim(nowMs, 0);
  }

  /** Ends a cancelled job that is leased and has not started. False if there is none of that id. */
  drop(id: string, nowMs: number): boolean {
    const held = this.#lead.take(id);
    if (held !== undefined) this.#settle(held, "cancelled", nowMs);
    return held !== undefined;
  }

  /** When the start rate lets it do more. `Infinity`: it waits for something else. */
  nextAtMs(nowMs: number): number {
    if (!this.#state.rateBound) return Infinity;
    const { cooldown } = this.#context;
    if (cooldown.room(nowMs) <= this.#lead.size) return cooldown.nextAtMs(nowMs);
    const leaseAtMs = this.#lead.leaseAtMs();
    // What has been asked for is waited for; what has not, though it is due, has other reasons.
    const isDue = leaseAtMs <= nowMs && (this.#leasing || this.#lead.size > 0);
    return Math.min(this.#lead.startAtMs(), isDue ? Infinity : leaseAtMs);
  }

  /** True while leases are on their way. */
  get leasing(): boolean {
    return this.#leasing;
  }

  /** Fills the free workers, as far as lanes, policy and rate allow. */
  run(nowMs: number): void {
    const { crew, guard, cooldown } = this.#context;
    this.#startHeld(nowMs);
    if (this.#leasing) {
      this.#askedMeanwhile = true;
      return;
    }
    this.#state.rateBound = this.#lead.size > 0;
    while (
      this.#open && !this.#leasing && crew.idleCount > this.#lead.size &&
      !guard.closed("lease", nowMs)
    ) {
      const room = crew.idleCount - this.#lead.size;
      const open = Math.min(room, cooldown.room(nowMs) - this.#lead.size);
      const free = open > 0 ? this.#lead.due(nowMs, open) : 0;
      const planned = this.#plan(free);
      if (free < room && planned === free && this.#gatherEligible().length > 0) {
        this.#state.rateBound = true;
      }
      if (planned === 0) return;
      const started = this.#lease(planned, nowMs);
      if (this.#state.guessed) this.#context.changed(); // the rest is planned by what is known then
      // Workers that are free again by now wait for the next turn: endings go out, timers get theirs.
      if (started === 0 || started === planned) return;
    }
  }

  /** Replays the policy over `free` slots; fills `wants`. */
  #plan(free: number): number {
    const state = this.#state;
    const { slots } = this.#context;
    this.#wants.fill(0);
    this.#chosen.length = 0;
    const eligible = this.#gatherEligible();
    let planned = 0;
    state.guessed = false;
    while (planned < free && eligible.length > 0) {
      const lane = this.#choose(slots.lanePolicy.run, eligible);
      if (lane === undefined) break;
      if (state.guessed && eligible.length > 1) break;
      this.#chosen.push(lane);
      this.#wants[lane.index]!++;
      lane.planned++;
      state.planned++;
      planned++;
      if (!isEligible(lane)) eligible.splice(eligible.indexOf(lane), 1);
    }
    state.guessed &&= planned < free && eligible.length > 1;
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
    const { length } = eligible;
    try {
      const answer = policy(this.#state.face, eligible);
      const lane = this.#state.lanes[answer?.index ?? -1];
      if (lane === answer && (lane === undefined || isEligible(lane))) {
        slots.works("lane", slots.lanePolicy.name);
        if (eligible.length !== length) this.#gatherEligible(); // it is the policy's to read only
        return lane;
      }
      fault = faultOfLane(answer);
    } catch (thrown) {
      fault = messageOf(thrown);
    }
    slots.fails("lane", slots.lanePolicy.name, fault);
    this.#gatherEligible();
    return eligible[0];
  }

  /** Leases what was planned and starts it. Answers how many slots were used; all, if that is still open. */
  #lease(planned: number, nowMs: number): number {
    const { guard, queue, now } = this.#context;
    let used = planned;
    this.#leasing = true;
    let answered = false;
    guard.call("lease", {
      ask: () => {
        const answer = queue.lease(this.#wants, this.#state.wall.at(nowMs));
        answered = !isPromise(answer);
        return answer;
      },
      judge: judgeLeased,
      ok: (leased) => {
        this.#unplan();
        this.#leasing = false;
        const laterMs = answered ? nowMs : now();
        this.#lead.took(laterMs - nowMs);
        used = this.#start(leased, laterMs);
        if (!answered) this.#answeredLate(leased.length);
      },
      failed: () => {
        this.#unplan();
        this.#leasing = false;
        used = 0;
        if (!answered) this.#context.changed();
      },
      late: (leased) => this.#refuse(leased),
    });
    return used;
  }

  /** Hands back what was leased by a call that was given up: other jobs were asked for in their place. */
  #refuse(leased: readonly Leased[]): void {
    const nowMs = this.#context.now();
    for (const job of leased) {
      const lane = this.#laneOf(job);
      if (lane !== undefined) this.#settle({ job, lane }, "back", nowMs);
    }
  }

  /** The lane of what was leased. `undefined`, which is reported: it is none of this pool's jobs. */
  #laneOf(job: Leased): Lane | undefined {
    const lane = typeof job === "object" && job !== null ? this.#state.laneOf(job) : undefined;
    if (lane !== undefined) return lane;
    const { pool } = this.#state;
    const fault = `Expected the store's lease to give jobs of pool "${pool}" but received ${
      received(job)
    }`;
    this.#context.guard.blame("lease", new TypeError(fault));
    return undefined;
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

  /** Starts what was leased behind what waits already, as far as the rate allows. */
  #start(leased: readonly Leased[], nowMs: number): number {
    const { crew, rate, cooldown } = this.#context;
    this.#startHeld(nowMs);
    const jobs = this.#inOrder(leased);
    for (let index = 0; index < jobs.length; index++) {
      const job = jobs[index]!;
      const lane = this.#laneOf(job);
      if (lane === undefined) continue;
      const isFree = this.#open && crew.idleCount > 0 && cooldown.room(nowMs) > 0 &&
        rate.allowed(nowMs, 1) > 0;
      if (isFree && this.#lead.size === 0) this.#begin(job, lane, nowMs);
      else this.#lead.hold(job, lane);
    }
    this.#trim(nowMs);
    if (this.#lead.size > 0) this.#state.rateBound = true;
    return leased.length;
  }

  /** What was leased, which comes lane by lane, in the order in which the policy chose the lanes. */
  #inOrder(leased: readonly Leased[]): readonly Leased[] {
    const chosen = this.#chosen;
    let same = 0;
    while (same < leased.length && leased[same]?.lane === chosen[same]?.name) same++;
    if (same === leased.length) return leased;
    const byLane = Map.groupBy(leased.toReversed(), (job) => job?.lane);
    const jobs: Leased[] = [];
    for (const { name } of chosen) {
      const job = byLane.get(name)?.pop();
      if (job !== undefined) jobs.push(job);
    }
    for (const rest of byLane.values()) jobs.push(...rest.reverse()); // more than were asked for
    return jobs;
  }

  /** Starts what waits, as far as the rate allows. */
  #startHeld(nowMs: number): void {
    const { crew, cooldown } = this.#context;
    this.#state.nowMs = nowMs;
    while (this.#open && crew.idleCount > 0 && cooldown.room(nowMs) > 0) {
      const held = this.#lead.next(nowMs);
      if (held === undefined) break;
      if (held.lane.paused) this.#settle(held, "back", nowMs);
      else this.#begin(held.job, held.lane, nowMs);
    }
    this.#trim(nowMs);
  }

  /** Starts a job, unless it is too late for it. */
  #begin(job: Leased, lane: Lane, nowMs: number): void {
    const { crew, runner, rate, slots, overruns } = this.#context;
    const admission = slots.admission.run;
    const { wall } = this.#state;
    const ageMs = nowMs - wall.pastMs(job.firstReadyAtMs ?? job.readyAtMs, nowMs);
    if ((job.expiresAtMs ?? Infinity) <= wall.at(nowMs)) {
      this.#die({ job, lane }, "expired", nowMs);
    } else if (!overruns.hasPlace(job, lane)) {
      this.#putOff({ job, lane }, nowMs);
    } else if (
      ageMs <= (lane.deadlineMs ?? Infinity) &&
      (admission.take === undefined || this.#take(admission, lane, ageMs))
    ) {
      rate.stamp(nowMs);
      runner.begin(crew.takeIdle(nowMs), job, lane, nowMs);
    } else {
      lane.traffic.shed++;
      this.#state.traffic.shed++;
      this.#die({ job, lane }, "late", nowMs);
    }
  }

  /** Hands back what waits beyond `most`, as many as could start, and what the rate puts off for long. */
  #trim(nowMs: number, most = this.#most(nowMs)): void {
    for (;;) {
      const held = this.#lead.surplus(nowMs, most);
      if (held === undefined) return;
      this.#settle(held, "back", nowMs);
    }
  }

  #most(nowMs: number): number {
    const { crew, cooldown } = this.#context;
    return this.#open ? Math.min(crew.idleCount, cooldown.room(nowMs)) : 0;
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

  /** Lets a leased job go that does not start. */
  #settle({ job, lane }: HeldJob, to: "back" | "cancelled", nowMs: number): void {
    const run = new JobRun(job, lane, undefined, nowMs, this.#context.runner);
    run.to = to;
    run.charged = false;
    this.#carry(run, nowMs);
  }

  /** A handler of its key, of which the store knows no more, still runs here. */
  #putOff({ job, lane }: HeldJob, nowMs: number): void {
    const run = new JobRun(job, lane, undefined, nowMs, this.#context.runner);
    run.to = "retry";
    run.charged = false;
    run.dueAtMs = this.#state.wall.at(nowMs) + PUT_OFF_MS;
    run.error = "A handler of its key still runs in this process, though its attempt ended";
    this.#carry(run, nowMs);
  }

  /** Ends a leased job that is too late to start: by its own time, as the store would, or by the admission's. */
  #die({ job, lane }: HeldJob, reason: "expired" | "late", nowMs: number): void {
    const run = new JobRun(job, lane, undefined, nowMs, this.#context.runner);
    run.to = "dead";
    run.charged = reason === "late";
    run.reason = reason;
    if (reason === "late") run.error = "It would have ended after its deadline";
    lane.dead[reason]++;
    this.#carry(run, nowMs);
  }

  #carry(run: JobRun, nowMs: number): void {
    this.#context.settler.add(run);
    this.#context.settler.flush(nowMs);
  }
}

function isEligible(lane: Lane): boolean {
  return lane.claimable > 0 && lane.running < lane.maxRunning;
}
