/**
 * A queue of jobs in order of becoming claimable, in an array used round and round.
 *
 * @module
 */

import type { MemoryJob } from "./job.ts";

/** Up to this many jobs, taking out one in the middle is done at once. */
const SMALL = 64;

/** Share of jobs that may have left from the middle before the rest moves up: 1 of this many. */
const SLACK = 16;

/**
 * Takes jobs in and out at both ends in O(1). A job that leaves from the middle stays as a gap that
 * is skipped; the first place is never a gap.
 */
export class JobRing {
  readonly #isLive: (job: MemoryJob) => boolean;
  readonly #least: number;
  #items: (MemoryJob | undefined)[];
  #mask: number;
  #head = 0;
  #size = 0;
  #gaps = 0;

  /**
   * Makes an empty one.
   *
   * @param isLive False for a job that has left from the middle.
   * @param least Places to begin with, a power of two.
   */
  constructor(isLive: (job: MemoryJob) => boolean, least = 16) {
    this.#isLive = isLive;
    this.#least = least;
    this.#items = new Array(least);
    this.#mask = least - 1;
  }

  /** Jobs held, gaps not counted. */
  get live(): number {
    return this.#size - this.#gaps;
  }

  /** The first job. `undefined` if there is none. */
  get first(): MemoryJob | undefined {
    return this.#items[this.#head];
  }

  /** The last job, or a gap that keeps its time. `undefined` if there is none. */
  get last(): MemoryJob | undefined {
    return this.#size === 0 ? undefined : this.#at(this.#size - 1);
  }

  /** The job with this many others before it, gaps not counted. `undefined` if there is none. */
  at(earlier: number): MemoryJob | undefined {
    if (this.#gaps === 0) return earlier < this.#size ? this.#at(earlier) : undefined;
    for (let place = 0, left = earlier; place < this.#size; place++) {
      const job = this.#at(place)!;
      if (this.#isLive(job) && left-- === 0) return job;
    }
    return undefined;
  }

  /** Adds a job at the end. Its time may not be before the last one's where `countUpTo` is used. */
  push(job: MemoryJob): void {
    if (this.#size > this.#mask) this.#resize((this.#mask + 1) * 2);
    this.#items[(this.#head + this.#size) & this.#mask] = job;
    this.#size++;
  }

  /** Takes the first job out. */
  shift(): MemoryJob | undefined {
    const job = this.#items[this.#head];
    if (job === undefined) return undefined;
    this.#skip();
    if (this.#gaps > 0) this.#skipGaps();
    return job;
  }

  /** Puts a job that was taken out back before all that became claimable after it. */
  putBack(job: MemoryJob): void {
    if (this.#size > this.#mask) this.#resize((this.#mask + 1) * 2);
    this.#head = (this.#head - 1) & this.#mask;
    this.#size++;
    let place = 0;
    for (; place + 1 < this.#size; place++) {
      const next = this.#at(place + 1)!;
      if (isBefore(job, next)) break;
      this.#items[(this.#head + place) & this.#mask] = next;
    }
    this.#items[(this.#head + place) & this.#mask] = job;
  }

  /** Notes that a job in here is live no more. */
  leaveGap(): void {
    this.#gaps++;
    this.#skipGaps();
    if (this.#size <= SMALL || this.#gaps * SLACK > this.#size) this.#closeGaps();
  }

  /** Jobs whose time is `atMs` or before, at most a sixteenth too many while there are gaps. O(log n). */
  countUpTo(atMs: number): number {
    let low = 0;
    let high = this.#size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#at(middle)!.readyAtMs <= atMs) low = middle + 1;
      else high = middle;
    }
    return Math.min(low, this.live);
  }

  /** Jobs held, last to first, gaps left out. */
  *backwards(): Generator<MemoryJob> {
    for (let place = this.#size - 1; place >= 0; place--) {
      const job = this.#at(place)!;
      if (this.#isLive(job)) yield job;
    }
  }

  /** Takes all jobs out, first to last. */
  drain(): MemoryJob[] {
    const jobs: MemoryJob[] = [];
    for (let job = this.shift(); job !== undefined; job = this.shift()) jobs.push(job);
    return jobs;
  }

  #at(place: number): MemoryJob | undefined {
    return this.#items[(this.#head + place) & this.#mask];
  }

  #skip(): void {
    this.#items[this.#head] = undefined;
    this.#head = (this.#head + 1) & this.#mask;
    this.#size--;
    // An emptied backlog gives its room back.
    if (this.#size === 0 && this.#mask >= 4096) this.#resize(this.#least);
  }

  #skipGaps(): void {
    for (let job = this.first; job !== undefined && !this.#isLive(job); job = this.first) {
      this.#gaps--;
      this.#skip();
    }
  }

  #closeGaps(): void {
    if (this.#gaps === 0) return;
    let live = 0;
    for (let place = 0; place < this.#size; place++) {
      const job = this.#at(place)!;
      if (this.#isLive(job)) this.#items[(this.#head + live++) & this.#mask] = job;
    }
    for (let place = live; place < this.#size; place++) {
      this.#items[(this.#head + place) & this.#mask] = undefined;
    }
    this.#size = live;
    this.#gaps = 0;
  }

  #resize(capacity: number): void {
    const items: (MemoryJob | undefined)[] = new Array(capacity);
    for (let place = 0; place < this.#size; place++) items[place] = this.#at(place);
    this.#items = items;
    this.#mask = capacity - 1;
    this.#head = 0;
  }
}

function isBefore(a: MemoryJob, b: MemoryJob): boolean {
  return a.readyAtMs < b.readyAtMs || (a.readyAtMs === b.readyAtMs && a.sequence < b.sequence);
}
