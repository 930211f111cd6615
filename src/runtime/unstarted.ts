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

/** What it needs of its pool. */
export interface UnstartedContext {
  readonly state: PoolState;
  /** Carries the ends to the store. */
  readonly settler: Settler;
  readonly owner: RunOwner;
  /** Asks for another turn: the worker that one was for is free still. */
  readonly changed: () => void;
}

/** Ends leases without an attempt. */
export class Unstarted {
  readonly #context: UnstartedContext;

  /** Begins with none. */
  constructor(context: UnstartedContext) {
    this.#context = context;
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
    this.#context.settler.add(run);
  }

  /** A handler of its key, of which the store knows no more, still runs here. */
  putOff(held: HeldJob, nowMs: number): void {
    const run = this.#run(held, nowMs);
    run.to = "retry";
    run.charged = false;
    run.dueAtMs = this.#context.state.wall.at(nowMs) + PUT_OFF_MS;
    run.error = "A handler of its key still runs in this process, though its attempt ended";
    this.#carry(run, nowMs);
    this.#context.changed();
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
    this.#context.changed();
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
    this.#context.changed();
  }

  #run({ job, lane }: HeldJob, nowMs: number): JobRun {
    return new JobRun(job, lane, undefined, nowMs, this.#context.owner);
  }

  #carry(run: JobRun, nowMs: number): void {
    this.#context.settler.add(run);
    this.#context.settler.flush(nowMs);
  }
}
