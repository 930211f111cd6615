/**
 * Carries the ends of attempts to the store, in batches, until it has them.
 *
 * @module
 */

import type { PoolEvent } from "../contract/event.ts";
import type { EventHub } from "./event_hub.ts";
import type { JobRun } from "./job_run.ts";
import type { PoolCore } from "./pool_core.ts";
import type { PoolState } from "./pool_state.ts";
import type { Queue } from "../contract/store.ts";
import { judgeSettled } from "./store_answers.ts";
import type { GuardedCall, StoreGuard } from "./store_guard.ts";

/** What a settler needs of its pool. */
export interface SettlerContext extends PoolCore {
  /** Where leases are held. */
  readonly queue: Queue;
  /** Backs off from a store that fails. */
  readonly guard: StoreGuard;
  /** The store has taken or refused endings. */
  readonly changed: () => void;
  /** The store has taken some that are to be handed on. */
  readonly noted: () => void;
}

/** Endings that are carried together. */
interface Batch {
  readonly runs: readonly JobRun[];
  /** When they were. */
  readonly nowMs: number;
}

/** Owns the endings that the store does not have yet. */
export class Settler {
  /** Ids of jobs whose handlers were given up, and that went back uncharged. */
  readonly handedBack: string[] = [];
  readonly #queue: Queue;
  readonly #guard: StoreGuard;
  readonly #hub: EventHub;
  readonly #state: PoolState;
  readonly #changed: () => void;
  readonly #noted: () => void;
  #pending: JobRun[] = [];
  #inFlight = 0;
  #flushing = false;
  readonly #question: GuardedCall<readonly boolean[], Batch> = {
    ask: ({ runs, nowMs }) => this.#queue.settle(runs, this.#state.wall.at(nowMs)),
    judge: (accepted, { runs }) => judgeSettled(accepted, runs.length),
    ok: (accepted, batch) => this.#settled(batch, accepted),
    failed: ({ runs }) => {
      this.#inFlight -= runs.length;
      this.#pending = runs.concat(this.#pending);
      this.#tell();
    },
    // They are asked about again by now: the store has what it takes here, and refuses it then.
    late: (accepted, { runs }) => runs.forEach((run, index) => run.stored ||= accepted[index]!),
  };

  /** Begins with nothing. */
  constructor({ queue, guard, hub, state, changed, noted }: SettlerContext) {
    this.#queue = queue;
    this.#guard = guard;
    this.#hub = hub;
    this.#state = state;
    this.#changed = changed;
    this.#noted = noted;
  }

  /** Endings that the store has not answered for. */
  get outstanding(): number {
    return this.#pending.length + this.#inFlight;
  }

  /** True if there is something to flush. */
  get waiting(): boolean {
    return this.#pending.length > 0;
  }

  /** When what waits may be carried to a store that failed. */
  nextAtMs(nowMs: number): number {
    const isHeldUp = this.waiting && this.#guard.closed("settle", nowMs);
    return isHeldUp ? this.#guard.resumeAtMs("settle") : Infinity;
  }

  /** Adds an attempt that ended; the next flush carries it. */
  add(run: JobRun): void {
    run.wallAheadMs ??= this.#state.wall.aheadMs;
    this.#pending.push(run);
  }

  /** Carries all that waits to the store. What fails is kept for the next flush. */
  flush(nowMs: number): void {
    if (this.#pending.length === 0 || this.#guard.closed("settle", nowMs)) return;
    const runs = this.#pending;
    this.#pending = [];
    this.#inFlight += runs.length;
    for (const run of runs) run.follow(this.#state.wall.aheadMs);
    this.#flushing = true;
    this.#guard.call("settle", this.#question, { runs, nowMs });
    this.#flushing = false;
  }

  /** An answer that came at once is seen by the one that flushes. */
  #tell(): void {
    if (!this.#flushing) this.#changed();
  }

  #settled({ runs, nowMs }: Batch, accepted: readonly boolean[]): void {
    this.#inFlight -= runs.length;
    let isNoted = false;
    for (let index = 0; index < runs.length; index++) {
      const run = runs[index]!;
      const { to, error, job } = run; // a job that had not started has no error
      const isStored = accepted[index]! || run.stored;
      if (to === "back" && error !== undefined && isStored) this.handedBack.push(job.id);
      if (to === "cancelled" && isStored) run.lane.cancelled++;
      if (to === "done" && run.lane.settings.then !== undefined) isNoted = true;
      if (to === "dead" && run.lane.settings.onDead !== undefined) isNoted = true;
      if (this.#hub.active) this.#hub.emit(this.#event(run, isStored, nowMs));
    }
    if (isNoted) this.#noted();
    this.#tell();
  }

  #event(run: JobRun, accepted: boolean, atMs: number): PoolEvent {
    const { id, lane } = run.job;
    const base = { atMs, pool: this.#state.pool, lane, id };
    if (!accepted) return { kind: "lease-lost", ...base };
    const { attempt, serviceMs } = run;
    switch (run.to) {
      case "done":
        return { kind: "job-done", ...base, attempt, serviceMs };
      case "dead":
        return {
          kind: "job-dead",
          ...base,
          reason: run.reason ?? "fatal",
          error: run.error,
          ...(run.stack === undefined ? {} : { stack: run.stack }),
          serviceMs: run.reason === "late" || run.reason === "expired" ? undefined : serviceMs,
        };
      case "cancelled":
        return { kind: "job-cancelled", ...base };
      case "back":
        return { kind: "job-handed-back", ...base, error: run.error };
      case "retry": {
        const error = run.error ?? "";
        const retryInMs = Math.max(0, run.dueAtMs - this.#state.wall.at(atMs));
        return run.charged
          ? {
            ...{ kind: "job-failed" as const, ...base, attempt, error },
            ...(run.stack === undefined ? {} : { stack: run.stack }),
            ...{ retryInMs, serviceMs },
          }
          : { kind: "job-deferred", ...base, reason: error, retryInMs, serviceMs };
      }
    }
  }
}
