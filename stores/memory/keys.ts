/**
 * The limit on how many jobs of one key run at once, and start in a window, in one lane.
 *
 * @module
 */

import { BLOCKED, type MemoryJob } from "./job.ts";
import { JobRing } from "./ring.ts";
import type { KeyStarts } from "./starts.ts";

interface KeyUse {
  /** Jobs that run, are ready, or will be when the rate of their key lets them start. */
  held: number;
  /** Jobs that wait for one of those to end. */
  waiting: JobRing | undefined;
}

/**
 * Gives out places. A job must have one to be ready, so claiming never meets a job that may not run,
 * and never looks at those that wait. Where there are rates, a place says when its job may start. A key
 * without jobs leaves no trace here.
 */
export class KeyPlaces {
  readonly #limit: number;
  readonly #starts: KeyStarts | undefined;
  readonly #uses = new Map<string, KeyUse>();

  /** Allows `limit` jobs of a key, and no more `starts` than their rates do. */
  constructor(limit: number, starts: KeyStarts | undefined) {
    this.#limit = limit;
    this.#starts = starts;
  }

  /** Takes a place: from when its job may start. `Infinity`: there is none, and the job waits for one. */
  take(key: string, job: MemoryJob, nowMs: number): number {
    const use = this.#use(key);
    if (use.held < this.#limit) return this.#give(use, key, nowMs);
    job.code = BLOCKED;
    use.waiting ??= new JobRing(isBlocked, 4);
    use.waiting.push(job);
    return Infinity;
  }

  /** Takes a place for a job that has one already. */
  force(key: string): void {
    this.#use(key).held++;
  }

  /** The attempt of a job began at `beganAtMs`, and it keeps its place: from when it may start again. */
  keep(key: string, beganAtMs: number, nowMs: number): number {
    this.#starts?.add(key, beganAtMs, nowMs);
    const use = this.#use(key);
    use.held--;
    return this.#give(use, key, nowMs);
  }

  /** Gives a place up. `beganAtMs`: when its job did. */
  release(key: string, beganAtMs: number | undefined, nowMs: number): void {
    if (beganAtMs !== undefined) this.#starts?.add(key, beganAtMs, nowMs);
    const use = this.#uses.get(key);
    if (use === undefined) return;
    use.held--;
    if (use.held === 0 && use.waiting === undefined) this.#uses.delete(key);
  }

  /** The next job of a key that waits, if there is a place: it has no place yet, and waits no more. */
  next(key: string): MemoryJob | undefined {
    const use = this.#uses.get(key);
    if (use === undefined) return undefined;
    const next = use.held < this.#limit ? use.waiting?.shift() : undefined;
    if (use.waiting?.live === 0) use.waiting = undefined;
    if (next === undefined && use.held === 0) this.#uses.delete(key);
    return next;
  }

  /** Notes that a job that waited for a place does so no more. */
  leave(key: string): void {
    const use = this.#uses.get(key);
    use?.waiting?.leaveGap();
    if (use?.waiting?.live === 0) use.waiting = undefined;
  }

  /** All jobs that wait for a place. They wait no more. */
  drain(): MemoryJob[] {
    const jobs: MemoryJob[] = [];
    for (const use of this.#uses.values()) {
      for (const job of use.waiting?.drain() ?? []) jobs.push(job);
    }
    this.#uses.clear();
    return jobs;
  }

  /** Keys that have jobs. */
  get size(): number {
    return this.#uses.size;
  }

  #give(use: KeyUse, key: string, nowMs: number): number {
    const atMs = this.#starts?.nextMs(key, use.held, nowMs) ?? nowMs;
    use.held++;
    return atMs;
  }

  #use(key: string): KeyUse {
    let use = this.#uses.get(key);
    if (use === undefined) {
      use = { held: 0, waiting: undefined };
      this.#uses.set(key, use);
    }
    return use;
  }
}

function isBlocked(job: MemoryJob): boolean {
  return job.code === BLOCKED;
}
