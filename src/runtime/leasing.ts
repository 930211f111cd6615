/**
 * Leases on their way: what was asked of the store, and how long it takes to answer.
 *
 * @module
 */

import { received } from "../base/answers.ts";
import type { Lane } from "./lane.ts";
import type { PoolState } from "./pool_state.ts";
import type { Leased, Queue } from "../contract/store.ts";
import { judgeLeased } from "./store_answers.ts";
import type { GuardedCall, StoreGuard } from "./store_guard.ts";
import type { HeldJob } from "./unstarted.ts";

/** No answer counts as longer, ms. */
const LONGEST_MS = 1000;

/** What is left of a long wait for a lease after each shorter one. */
const FORGETS = 0.9;

/** What was planned, for when the answer comes. */
export interface LeasePlan {
  /** When it was asked. */
  readonly nowMs: number;
  /** The lanes that the policy chose, in its order: `planned` of them. */
  readonly chosen: readonly Lane[];
  readonly planned: number;
  /** Some of it is asked for ahead of its start. */
  readonly isAhead: boolean;
}

/** A question on its way. */
interface Asked extends LeasePlan {
  readonly lanes: readonly Lane[];
  /** By lane. */
  starts: readonly number[];
  ahead: readonly number[];
  /** Of those ahead, how many start when they come. */
  readonly just: number;
  /** True once the turn that asked is over. */
  isLate: boolean;
  /** How many jobs came within it. */
  came: number | undefined;
}

/** What leasing needs of its pool. */
export interface LeasingContext {
  /** Its state; leasing owns `planned` and `ahead`, of the pool and its lanes. */
  readonly state: PoolState;
  /** Where jobs live. */
  readonly queue: Queue;
  /** Backs off from a store that fails. */
  readonly guard: StoreGuard;
  /** Reads the clock. */
  readonly now: () => number;
  /** Takes what was leased. `isLate`: its question was asked in an earlier turn. */
  readonly take: (jobs: readonly Leased[], plan: LeasePlan, nowMs: number, isLate: boolean) => void;
  /** Told when the store has failed at a question that was asked in an earlier turn. */
  readonly failed: () => void;
  /** Takes what was leased by a question that was given up: other jobs were asked for in their place. */
  readonly refused: (held: HeldJob, nowMs: number) => void;
}

/** Owns the questions. */
export class Leasing {
  /** How long answers have taken recently, ms: nearly the longest. 0: they come at once. */
  ms = 0;
  /** The same, nearly the shortest. */
  leastMs = 0;
  /** Jobs on their way that start when they come: what a start rate allows until then is theirs. */
  just = 0;
  /** True if there was more to ask for than may be under way at once. */
  isBehind = false;
  readonly #context: LeasingContext;
  readonly #state: PoolState;
  /** Jobs to lease, by index of the lane: those that start now, and all of them. Reused. */
  #starts: number[] = [];
  #ahead: number[] = [];
  #wants: number[] = [];
  /** Of those ahead, the ones that may be on their last attempt. */
  #just: number[] = [];
  #told: number[] = [];
  #isAhead = false;
  #open = 0;
  readonly #question: GuardedCall<readonly Leased[], Asked> = {
    ask: ({ nowMs }) => this.#put(nowMs),
    judge: judgeLeased,
    ok: (leased, asked) => this.#answered(leased, asked),
    failed: (asked) => {
      this.#close(asked);
      if (asked.isLate) this.#context.failed();
      else asked.came = 0;
    },
    late: (leased) => {
      const { refused, now } = this.#context;
      for (const job of leased) {
        const lane = this.laneOf(job);
        if (lane !== undefined) refused({ job, lane }, now());
      }
    },
  };

  /** Begins with nothing asked. */
  constructor(context: LeasingContext) {
    this.#context = context;
    this.#state = context.state;
    this.adopt();
  }

  /** Takes the lanes of the state over. */
  adopt(): void {
    this.#starts = this.#state.lanes.map(() => 0);
    this.#ahead = this.#state.lanes.map(() => 0);
    this.#wants = this.#state.lanes.map(() => 0);
    this.#just = this.#state.lanes.map(() => 0);
    this.#told = this.#state.lanes.map(() => 0);
  }

  /** True while leases are on their way. */
  get isOpen(): boolean {
    return this.#open > 0;
  }

  /** True if nothing may be asked until an answer comes. */
  get isFull(): boolean {
    return this.#open >= this.#most;
  }

  /** True if nothing may be asked ahead until an answer comes: the last place is for workers that wait. */
  get isFullAhead(): boolean {
    return this.#open >= Math.max(1, this.#most - 1);
  }

  /** True if what the policy chooses before others starts before them, though it is not here yet. */
  get isStrict(): boolean {
    return this.#most === 1;
  }

  get #most(): number {
    return this.#context.queue.leaseCalls ?? 1;
  }

  /** A worker waits for a job of this lane: the next question asks for it. */
  plan(lane: Lane): void {
    this.#starts[lane.index]!++;
    lane.planned++;
    this.#state.planned++;
  }

  /** The next question asks for this many jobs of this lane that do not start at once. */
  planAhead(lane: Lane, count: number): void {
    this.#ahead[lane.index]! += count;
    this.#isAhead = true;
    lane.ahead += count;
    this.#state.ahead += count;
  }

  /** As `planAhead`, of jobs that may start when they come: those on their last attempt too. */
  planJust(lane: Lane): void {
    this.#just[lane.index]!++;
    this.just++;
    this.planAhead(lane, 1);
  }

  /** Forgets what was planned and not asked. */
  unplan(): void {
    this.just -= this.#justPlanned;
    this.#release(this.#state.lanes, this.#starts, this.#ahead);
    this.#clear();
  }

  /** Asks for what was planned. Answers how many jobs came, or `undefined` if that is still open. */
  ask({ nowMs, chosen, planned, isAhead }: LeasePlan): number | undefined {
    const asked: Asked = {
      nowMs,
      chosen,
      planned,
      isAhead,
      lanes: this.#state.lanes,
      starts: this.#starts,
      ahead: this.#ahead,
      just: this.#justPlanned,
      isLate: false,
      came: undefined,
    };
    this.#open++;
    this.#context.guard.call("lease", this.#question, asked);
    if (asked.came !== undefined) return asked.came;
    asked.isLate = true;
    asked.starts = asked.starts.slice();
    asked.ahead = asked.ahead.slice();
    this.#clear();
    return undefined;
  }

  #answered(leased: readonly Leased[], asked: Asked): void {
    const { take, now } = this.#context;
    this.#close(asked);
    if (leased.length === 0 && asked.planned > 0) this.#state.emptyLeases++;
    if (asked.isLate) {
      this.#took(now() - asked.nowMs);
      take(leased, asked, now(), true);
      return;
    }
    asked.came = leased.length;
    take(leased, asked, asked.nowMs, false);
  }

  /** A question is answered, or failed. */
  #close({ lanes, starts, ahead, just, isLate }: Asked): void {
    this.#open--;
    this.just -= just;
    this.#release(lanes, starts, ahead);
    if (!isLate) this.#clear();
  }

  /** The lane of what was leased. `undefined`, which is reported: it is none of this pool's jobs. */
  laneOf(job: Leased): Lane | undefined {
    const lane = typeof job === "object" && job !== null ? this.#state.laneOf(job) : undefined;
    if (lane !== undefined) return lane;
    const { pool } = this.#state;
    const fault = `Expected the store's lease to give jobs of pool "${pool}" but received ${
      received(job)
    }`;
    this.#context.guard.blame("lease", new TypeError(fault));
    return undefined;
  }

  #put(nowMs: number): ReturnType<Queue["lease"]> {
    const { queue } = this.#context;
    const wallMs = this.#state.wall.at(nowMs);
    if (!this.#isAhead) return queue.lease(this.#starts, wallMs);
    this.#starts.forEach((count, index) => this.#wants[index] = count + this.#ahead[index]!);
    this.#ahead.forEach((count, index) => this.#told[index] = count - this.#just[index]!);
    return queue.lease(this.#wants, wallMs, this.#told);
  }

  get #justPlanned(): number {
    if (!this.#isAhead) return 0;
    let sum = 0;
    for (let index = 0; index < this.#just.length; index++) sum += this.#just[index]!;
    return sum;
  }

  #took(ms: number): void {
    this.ms = Math.min(LONGEST_MS, Math.max(ms, this.ms * FORGETS));
    this.leastMs = Math.min(ms, FORGETS * this.leastMs + (1 - FORGETS) * ms);
    this.#state.leaseMs = this.leastMs;
  }

  /** Jobs of a question are leased, or will not be. Lanes may have moved since. */
  #release(lanes: readonly Lane[], starts: readonly number[], ahead: readonly number[]): void {
    for (let index = 0; index < lanes.length; index++) {
      const lane = lanes[index]!;
      lane.planned -= starts[index]!;
      this.#state.planned -= starts[index]!;
      lane.ahead -= ahead[index]!;
      this.#state.ahead -= ahead[index]!;
    }
  }

  #clear(): void {
    for (let index = 0; index < this.#starts.length; index++) this.#starts[index] = 0;
    if (!this.#isAhead) return;
    this.#ahead.fill(0);
    this.#just.fill(0);
    this.#isAhead = false;
  }
}
