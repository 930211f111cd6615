/**
 * Jobs that are due later.
 *
 * @module
 */

import { Heap } from "../../src/base/heap.ts";
import { DELAYED, type MemoryJob } from "./job.ts";

/** Below this many left jobs the heap is not recreated. */
const LEAST_LEFT = 32;

/** Gives jobs back in the order in which they are due. */
export class DelayedJobs {
  #heap = new Heap<MemoryJob>(isDueBefore);
  #left = 0;

  /** When the next one is due. `Infinity` if there is none. */
  nextDueAtMs = Infinity;

  /** Jobs held. */
  get size(): number {
    return this.#heap.size - this.#left;
  }

  /** Adds a job that is due at its `readyAtMs`. */
  push(job: MemoryJob): void {
    job.code = DELAYED;
    this.#heap.push(job);
    if (job.readyAtMs < this.nextDueAtMs) this.nextDueAtMs = job.readyAtMs;
  }

  /** Takes out the next job that is due. `undefined` if none is. */
  popDue(nowMs: number): MemoryJob | undefined {
    if (this.nextDueAtMs > nowMs) return undefined;
    const job = this.#heap.pop();
    this.#skipLeft();
    return job;
  }

  /** Notes that a job in here is delayed no more. */
  leave(): void {
    this.#left++;
    if (this.#left > LEAST_LEFT && this.#left * 2 > this.#heap.size) this.#rebuild();
    this.#skipLeft();
  }

  /** Jobs in here have been stamped again. */
  sort(): void {
    this.#rebuild();
    this.#skipLeft();
  }

  #skipLeft(): void {
    let next = this.#heap.peek();
    while (next !== undefined && next.code !== DELAYED) {
      this.#heap.pop();
      this.#left--;
      next = this.#heap.peek();
    }
    this.nextDueAtMs = next === undefined ? Infinity : next.readyAtMs;
  }

  #rebuild(): void {
    const heap = new Heap<MemoryJob>(isDueBefore);
    for (let job = this.#heap.pop(); job !== undefined; job = this.#heap.pop()) {
      if (job.code === DELAYED) heap.push(job);
    }
    this.#heap = heap;
    this.#left = 0;
  }
}

function isDueBefore(a: MemoryJob, b: MemoryJob): boolean {
  return a.readyAtMs < b.readyAtMs || (a.readyAtMs === b.readyAtMs && a.sequence < b.sequence);
}
