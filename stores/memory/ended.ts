/**
 * Jobs that have ended and are kept to be looked up.
 *
 * @module
 */

import type { Keep } from "../../src/contract/store.ts";
import { MemoryEnd } from "./end.ts";
import { DEAD, type MemoryJob } from "./job.ts";
import { JobRing } from "./ring.ts";

/** Value of `slot` of an ended job that is kept no more. */
const GONE = -1;

/** Keeps the latest jobs of each kind, up to a number and for a time. */
export class EndedJobs {
  readonly #done: Kept;
  readonly #dead: Kept;

  /** `forget` is called with each job that is dropped. */
  constructor(forget: (job: MemoryJob) => void) {
    this.#done = new Kept(forget);
    this.#dead = new Kept(forget);
  }

  /** Done and cancelled jobs that are kept. */
  get done(): number {
    return this.#done.size;
  }

  /** Dead jobs that are kept. */
  get dead(): number {
    return this.#dead.size;
  }

  /** Changes how many are kept, and how long. */
  limit(keep: Keep, nowMs: number): void {
    this.#done.limit(keep.done, keep.forMs, nowMs);
    this.#dead.limit(keep.dead, keep.forMs, nowMs);
  }

  /** Adds a job that has just ended. */
  push(job: MemoryJob): void {
    (job.code === DEAD ? this.#dead : this.#done).push(job);
  }

  /** Lets go of a job that is removed, or lives again. */
  leave(job: MemoryJob): void {
    (job.code === DEAD ? this.#dead : this.#done).leave(job);
  }

  /**
   * Those that are kept, the one that ended last first; of those that ended together, the one added
   * last. Only those that ended at `atMs` or before.
   */
  *latest(atMs = Infinity): Generator<MemoryJob> {
    let group: MemoryJob[] = [];
    for (const job of merged(this.#done.backwards(), this.#dead.backwards())) {
      if (endOf(job) > atMs) continue;
      if (group[0] !== undefined && endOf(group[0]) !== endOf(job)) {
        yield* group.sort((a, b) => b.sequence - a.sequence);
        group = [];
      }
      group.push(job);
    }
    yield* group.sort((a, b) => b.sequence - a.sequence);
  }

  /** Drops what has been kept long enough. */
  dropOld(nowMs: number): void {
    this.#done.dropOld(nowMs);
    this.#dead.dropOld(nowMs);
  }
}

class Kept {
  readonly #ring = new JobRing(isKept);
  readonly #forget: (job: MemoryJob) => void;
  #most = 0;
  #forMs = Infinity;

  constructor(forget: (job: MemoryJob) => void) {
    this.#forget = forget;
  }

  get size(): number {
    return this.#ring.live;
  }

  backwards(): Generator<MemoryJob> {
    return this.#ring.backwards();
  }

  limit(most: number, forMs: number, nowMs: number): void {
    this.#most = most;
    this.#forMs = forMs;
    this.#dropSurplus();
    this.dropOld(nowMs);
  }

  push(job: MemoryJob): void {
    job.slot = 0;
    this.#ring.push(job);
    this.#dropSurplus();
  }

  leave(job: MemoryJob): void {
    job.slot = GONE;
    this.#ring.leaveGap();
  }

  dropOld(nowMs: number): void {
    if (this.#forMs === Infinity) return;
    for (let job = this.#ring.first; job !== undefined; job = this.#ring.first) {
      if (!(job.fate instanceof MemoryEnd) || job.fate.atMs + this.#forMs > nowMs) return;
      this.#drop();
    }
  }

  #dropSurplus(): void {
    while (this.#ring.live > this.#most) this.#drop();
  }

  #drop(): void {
    const job = this.#ring.shift();
    if (job === undefined) return;
    job.slot = GONE;
    this.#forget(job);
  }
}

/** Two that are in order of their ends, as one. */
function* merged(a: Generator<MemoryJob>, b: Generator<MemoryJob>): Generator<MemoryJob> {
  let [left, right] = [a.next(), b.next()];
  while (left.done !== true && right.done !== true) {
    if (endOf(left.value) >= endOf(right.value)) {
      yield left.value;
      left = a.next();
    } else {
      yield right.value;
      right = b.next();
    }
  }
  if (left.done !== true) yield left.value;
  if (right.done !== true) yield right.value;
  yield* a;
  yield* b;
}

/** When an ended job ended. */
export function endOf({ fate }: MemoryJob): number {
  return fate instanceof MemoryEnd ? fate.atMs : -Infinity;
}

function isKept(job: MemoryJob): boolean {
  return job.slot !== GONE;
}
