/**
 * Waits until jobs have ended, no matter which process enqueued them.
 *
 * @module
 */

import type { Clock } from "../../time/clock.ts";
import type { Observer, PoolEvent } from "../../contract/event.ts";
import type { JobRecord } from "../../contract/job.ts";
import type { Ended } from "../../contract/outcome.ts";

/** What waiting needs. */
export interface EndsOptions {
  /** Adds an observer until the function it returns is called. */
  readonly observe: (observer: Observer) => () => void;
  /** Looks a job up. `undefined`: nobody knows it. */
  readonly find: (id: string) => Promise<JobRecord | undefined>;
  /** Time of waits. */
  readonly clock: Clock;
  /** Ends all waits. */
  readonly signal?: AbortSignal | undefined;
}

/** A job that runs in another process tells no end here, so it is looked at so often, ms. */
const LOOK_EVERY_MS = 1_000;

/** Waits for ends. Observes only while someone waits. */
export class EndWaiters {
  readonly #options: EndsOptions;
  readonly #waiting = new Map<string, Set<() => void>>();
  #unobserve: (() => void) | undefined;

  /** Nothing is observed before the first wait. */
  constructor(options: EndsOptions) {
    this.#options = options;
  }

  /**
   * Waits until a job has ended.
   *
   * @returns The job as it is then, or as it is after `waitMs` or when the server stops. `undefined`:
   * nobody knows it.
   */
  async until(id: string, waitMs: number): Promise<JobRecord | undefined> {
    const { clock, find, signal } = this.#options;
    if (waitMs <= 0) return await find(id); // most do not wait: nothing is observed for them
    const untilMs = clock.nowMs() + waitMs;
    for (;;) {
      const turn = this.#turn(id, Math.min(untilMs, clock.nowMs() + LOOK_EVERY_MS));
      try {
        const job = await find(id); // an end that comes from here on wakes the turn
        const isOver = job === undefined || hasEnded(job) || signal?.aborted === true;
        if (isOver || clock.nowMs() >= untilMs) return job;
        await turn.over;
      } finally {
        turn.leave();
      }
    }
  }

  /** Waits for an end of the job, a time, or the stop of the server. */
  #turn(id: string, untilMs: number): { readonly over: Promise<void>; leave(): void } {
    const { clock, signal } = this.#options;
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => resolve();
    const timer = clock.at(untilMs, wake);
    const wakes = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, wakes.add(wake));
    signal?.addEventListener("abort", wake);
    this.#unobserve ??= this.#options.observe((event) => this.#hear(event));
    const leave = (): void => {
      timer.cancel();
      signal?.removeEventListener("abort", wake);
      wakes.delete(wake);
      if (wakes.size === 0) this.#waiting.delete(id);
      if (this.#waiting.size > 0) return;
      this.#unobserve?.();
      this.#unobserve = undefined;
    };
    return { over: promise, leave };
  }

  #hear(event: PoolEvent): void {
    switch (event.kind) {
      case "job-done":
      case "job-dead":
      case "job-cancelled":
        for (const wake of this.#waiting.get(event.id) ?? []) wake();
    }
  }
}

/** True for a job that does not run any more. */
export function hasEnded(job: JobRecord): job is JobRecord & Ended {
  const { state } = job;
  return state === "done" || state === "dead" || state === "cancelled";
}
