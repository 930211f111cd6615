/**
 * How leased jobs leave that do not start.
 *
 * @module
 */

import { JobRun, type RunOwner } from "./job_run.ts";
import type { Lane } from "./lane.ts";
import type { PutOff } from "./cooldown.ts";
import type { PoolState } from "./pool_state.ts";
import type { Settler } from "./settler.ts";
import type { Leased } from "../contract/store.ts";

/** How long a job waits whose key a handler still has that was given up, ms. */
const PUT_OFF_MS = 1000;

/** A job that is leased and has not started. */
export interface HeldJob {
  readonly job: Leased;
  readonly lane: Lane;
}

/** Ends leases without an attempt. */
export class Unstarted {
  readonly #state: PoolState;
  readonly #settler: Settler;
  readonly #owner: RunOwner;

  /** `settler` carries the ends to the store. */
  constructor(state: PoolState, settler: Settler, owner: RunOwner) {
    this.#state = state;
    this.#settler = settler;
    this.#owner = owner;
  }

  /** It goes to its old place, no attempt charged. */
  goesBack(held: HeldJob, nowMs: number): void {
    const run = this.#run(held, nowMs);
    run.to = "back";
    run.charged = false;
    this.#carry(run, nowMs);
  }

  /** It was cancelled. The next turn carries that: the store may be in the midst of the call that did it. */
  isCancelled(held: HeldJob, nowMs: number): void {
    const run = this.#run(held, nowMs);
    run.to = "cancelled";
    run.charged = false;
    this.#settler.add(run);
  }

  /** A handler of its key, of which the store knows no more, still runs here. */
  putOff(held: HeldJob, nowMs: number): void {
    const run = this.#run(held, nowMs);
    run.to = "retry";
    run.charged = false;
    run.dueAtMs = this.#state.wall.at(nowMs) + PUT_OFF_MS;
    run.error = "A handler of its key still runs in this process, though its attempt ended";
    this.#carry(run, nowMs);
  }

  /** The circuit breaker of its key lets no job start. */
  waits(held: HeldJob, { dueAtMs, keepsSlot }: PutOff, nowMs: number): void {
    const run = this.#run(held, nowMs);
    run.to = "retry";
    run.charged = false;
    run.dueAtMs = dueAtMs;
    run.keepsSlot = keepsSlot;
    run.error = "The circuit breaker of its key is open";
    this.#carry(run, nowMs);
  }

  /** It is too late to start: by its own time, as the store would find, or by the admission's. */
  dies(held: HeldJob, reason: "expired" | "late", nowMs: number): void {
    const run = this.#run(held, nowMs);
    run.to = "dead";
    run.charged = reason === "late";
    run.reason = reason;
    if (reason === "late") run.error = "It would have ended after its deadline";
    held.lane.dead[reason]++;
    this.#carry(run, nowMs);
  }

  #run({ job, lane }: HeldJob, nowMs: number): JobRun {
    return new JobRun(job, lane, undefined, nowMs, this.#owner);
  }

  #carry(run: JobRun, nowMs: number): void {
    this.#settler.add(run);
    this.#settler.flush(nowMs);
  }
}
