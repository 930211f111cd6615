/**
 * How many jobs of a lane are blocked, and since when the oldest is due.
 *
 * @module
 */

import { BLOCKED, type MemoryJob } from "./job.ts";

/** With up to this many entries, those that have left are not looked for. */
const SMALL = 64;

/** A job as it was blocked. It may have left since, and been blocked again. */
interface Entry {
  readonly job: MemoryJob;
  readonly dueAtMs: number;
}

/**
 * Jobs are blocked in the order of their due times, but for those of callers whose clocks differ: so the
 * first that is blocked still is the oldest. Who has left is skipped when it is at the front.
 */
export class BlockedJobs {
  /** How many are blocked. */
  size = 0;
  #entries: Entry[] = [];
  #front = 0;

  /** A job is blocked from now on. */
  enter(job: MemoryJob): void {
    this.size++;
    this.#entries.push({ job, dueAtMs: job.readyAtMs });
  }

  /** A job is blocked no more: its code, or its time, is another by the next look. */
  leave(): void {
    this.size--;
    if (this.size === 0) this.clear();
    else if (this.#entries.length > SMALL + 2 * this.size) {
      this.#entries = this.#entries.slice(this.#front).filter(isBlocked);
      this.#front = 0;
    }
  }

  /** None is blocked any more. */
  clear(): void {
    this.size = 0;
    this.#entries = [];
    this.#front = 0;
  }

  /** Jobs have been stamped again: what they are due at now counts. */
  restamped(): void {
    const jobs = new Set(this.#entries.slice(this.#front).map(({ job }) => job));
    this.#entries = [...jobs].map((job) => ({ job, dueAtMs: job.readyAtMs }));
    this.#front = 0;
  }

  /** When the oldest was due. `Infinity` if none is blocked. */
  get oldestAtMs(): number {
    for (let entry = this.#entries[this.#front]; entry !== undefined;) {
      if (isBlocked(entry)) return entry.job.dueAtMs ?? entry.dueAtMs;
      entry = this.#entries[++this.#front];
    }
    return Infinity;
  }
}

function isBlocked({ job, dueAtMs }: Entry): boolean {
  return job.code === BLOCKED && job.readyAtMs === dueAtMs;
}
