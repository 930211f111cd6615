/**
 * The limit on how many jobs of one key run at once, in one lane.
 *
 * @module
 */

import { BLOCKED, type MemoryJob } from "./job.ts";
import { JobRing } from "./ring.ts";

interface KeyUse {
  /** Jobs that run or are ready. */
  held: number;
  /** Jobs that wait for one of those to end. */
  waiting: JobRing | undefined;
}

/**
 * Gives out places. A job must have one to be ready, so claiming never meets a job that may not run,
 * and never looks at those that wait. A key without jobs leaves no trace.
 */
export class KeyPlaces {
  readonly #limit: number;
  readonly #uses = new Map<string, KeyUse>();

  /** Allows `limit` jobs of a key. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Takes a place; false queues the job for one instead. */
  take(key: string, job: MemoryJob): boolean {
    const use = this.#use(key);
    if (use.held < this.#limit) {
      use.held++;
      return true;
    }
    job.code = BLOCKED;
    use.waiting ??= new JobRing(isBlocked, 4);
    use.waiting.push(job);
    return false;
  }

  /** Takes a place for a job that runs already. */
  force(key: string): void {
    this.#use(key).held++;
  }

  /** Gives a place up. The job that gets it, if one waits for it. */
  release(key: string): MemoryJob | undefined {
    const use = this.#uses.get(key);
    if (use === undefined) return undefined;
    use.held--;
    const next = use.held < this.#limit ? use.waiting?.shift() : undefined;
    if (next !== undefined) use.held++;
    if (use.waiting?.live === 0) use.waiting = undefined;
    if (use.held === 0) this.#uses.delete(key);
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
