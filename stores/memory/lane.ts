/**
 * One lane: its jobs that wait, in all their states, and its counts.
 *
 * @module
 */

import type { LaneCounts } from "../../src/contract/store.ts";
import { BlockedJobs } from "./blocked.ts";
import { DelayedJobs } from "./delayed.ts";
import { BLOCKED, type Code, DELAYED, type MemoryJob, READY } from "./job.ts";
import { KeyPlaces } from "./keys.ts";
import { JobRing } from "./ring.ts";

/** What a lane must know of its pool. */
export interface LanePool {
  /** Name of the pool. */
  readonly name: string;
  /** What ids begin with. */
  readonly idPrefix: string;
  /** Ends a job that has left its lane because it expired. */
  expire(job: MemoryJob, nowMs: number): void;
}

/**
 * Jobs come in by `add`, `again` or `putBack` and leave by `next` or `drop`. A job with a key keeps its
 * place among those of the key from `ready` until `release`.
 *
 * `ready` is in order of `readyAtMs`: whatever is due is moved up before anything is put behind it.
 */
export class MemoryLane implements LaneCounts {
  /** Name, unique within the pool. */
  readonly name: string;
  /** Number within the pool, in order of first being opened: stays. */
  readonly ordinal: number;
  /** Name of the pool. */
  readonly pool: string;
  /** What ids begin with. */
  readonly idPrefix: string;
  /** Index in the queue that was opened last. */
  index = 0;
  /** Leased by anyone. */
  running = 0;

  readonly #pool: LanePool;
  readonly #ready = new JobRing(isReady);
  readonly #delayed = new DelayedJobs();
  readonly #blocked = new BlockedJobs();
  #maxRunningPerKey = Infinity;
  #keys: KeyPlaces | undefined = undefined;

  /** Makes an empty lane. */
  constructor(name: string, ordinal: number, pool: LanePool) {
    this.name = name;
    this.ordinal = ordinal;
    this.pool = pool.name;
    this.idPrefix = pool.idPrefix;
    this.#pool = pool;
  }

  /** Due and not held by a key limit. */
  get ready(): number {
    return this.#ready.live;
  }

  /** Due and held by a key limit. */
  get blocked(): number {
    return this.#blocked.size;
  }

  /** When the oldest of those was due. `Infinity` if none is blocked. */
  get oldestBlockedAtMs(): number {
    return this.#blocked.oldestAtMs;
  }

  /** Due later. */
  get delayed(): number {
    return this.#delayed.size;
  }

  /** When the oldest ready job became claimable. `Infinity` if none is ready. */
  get oldestReadyAtMs(): number {
    return this.#ready.first?.readyAtMs ?? Infinity;
  }

  /** When the next delayed job is due. `Infinity` if none is delayed. */
  get nextDueAtMs(): number {
    return this.#delayed.nextDueAtMs;
  }

  /** Puts a job in that is claimable at its `readyAtMs`: behind all that are by then. */
  add(job: MemoryJob, nowMs: number): void {
    if (job.readyAtMs > nowMs) {
      this.#delayed.push(job);
      return;
    }
    if (this.nextDueAtMs <= nowMs) this.#moveDue(nowMs);
    this.#enter(job);
  }

  /** Puts a job that ran in again. It has given its key's place up, or keeps it. */
  again(job: MemoryJob, dueAtMs: number, nowMs: number): void {
    job.restamp(Math.max(dueAtMs, nowMs));
    if (job.extra !== undefined) job.extra.dueAtMs = undefined;
    this.add(job, nowMs);
  }

  /** Puts a job that ran back to where it was. It keeps its key's place. */
  putBack(job: MemoryJob): void {
    job.code = READY;
    this.#ready.putBack(job);
  }

  /** Takes the oldest claimable job out; expired ones end instead. */
  next(nowMs: number): MemoryJob | undefined {
    const job = this.#ready.shift();
    if (job === undefined || job.extra === undefined || !job.isExpired(nowMs)) return job;
    this.#expire(job, nowMs);
    this.tidy(nowMs);
    return this.#ready.shift();
  }

  /** Moves due jobs up and ends expired ones at the head, so that the counts are true. */
  tidy(nowMs: number): void {
    if (this.nextDueAtMs <= nowMs) this.#moveDue(nowMs);
    for (
      let job = this.#ready.first;
      job !== undefined && job.isExpired(nowMs);
      job = this.#ready.first
    ) {
      this.#ready.shift();
      this.#expire(job, nowMs);
    }
  }

  /** Takes a waiting job out from anywhere. Its code was `was` and has been changed. */
  drop(job: MemoryJob, was: Code, nowMs: number): void {
    if (was === DELAYED) {
      this.#delayed.leave();
      if (takeSlot(job)) this.release(job, nowMs);
    } else if (was === READY) {
      this.#ready.leaveGap();
      this.release(job, nowMs);
    } else if (was === BLOCKED) {
      this.#blocked.leave();
      if (job.key !== undefined) this.#keys?.leave(job.key);
    }
  }

  /** Gives up the place of the job's key. True if another job has left its wait for it. */
  release(job: MemoryJob, nowMs: number): boolean {
    const key = this.#keys === undefined ? undefined : job.extra?.key;
    if (key === undefined) return false;
    let next = this.#keys!.release(key);
    if (next === undefined) return false;
    while (next !== undefined) {
      this.#blocked.leave();
      if (!next.isExpired(nowMs)) {
        if (this.nextDueAtMs <= nowMs) this.#moveDue(nowMs);
        next.unblock(nowMs);
        this.#toReady(next);
        break;
      }
      this.#pool.expire(next, nowMs);
      next = this.#keys!.release(key);
    }
    return true;
  }

  /** Delayed and blocked jobs have been stamped again. */
  restamped(): void {
    this.#delayed.sort();
    this.#blocked.restamped();
  }

  /** Ready jobs that became claimable at `atMs` or before. */
  readySince(atMs: number): number {
    return this.#ready.countUpTo(atMs);
  }

  /** When the ready job with `earlier` others before it became claimable. */
  readyAtMs(earlier: number): number {
    return this.#ready.at(earlier)?.readyAtMs ?? Infinity;
  }

  /** Changes how many jobs of a key may run. `holding`: jobs of this lane that do now, or keep their place. */
  limitKeys(maxRunningPerKey: number, holding: Iterable<MemoryJob>): void {
    if (maxRunningPerKey === this.#maxRunningPerKey) return;
    this.#maxRunningPerKey = maxRunningPerKey;
    const waiting = this.#ready.drain();
    for (const job of this.#keys?.drain() ?? []) waiting.push(job);
    waiting.sort((a, b) => a.readyAtMs - b.readyAtMs || a.sequence - b.sequence);
    this.#blocked.clear();
    this.#keys = maxRunningPerKey === Infinity ? undefined : new KeyPlaces(maxRunningPerKey);
    for (const job of holding) {
      if (job.key !== undefined) this.#keys?.force(job.key);
    }
    for (const job of waiting) this.#enter(job);
  }

  #enter(job: MemoryJob): void {
    const hasSlot = job.extra !== undefined && takeSlot(job);
    const key = this.#keys === undefined ? undefined : job.extra?.key;
    if (key === undefined || hasSlot || this.#keys!.take(key, job)) this.#toReady(job);
    else this.#blocked.enter(job);
  }

  #toReady(job: MemoryJob): void {
    job.code = READY;
    // Only where the callers' clocks differ: a job may not be older than the one before it.
    const last = this.#ready.last;
    if (last !== undefined && last.readyAtMs > job.readyAtMs) job.restamp(last.readyAtMs);
    this.#ready.push(job);
  }

  #moveDue(nowMs: number): void {
    for (
      let job = this.#delayed.popDue(nowMs);
      job !== undefined;
      job = this.#delayed.popDue(nowMs)
    ) this.#enter(job);
  }

  #expire(job: MemoryJob, nowMs: number): void {
    this.#pool.expire(job, nowMs);
    this.release(job, nowMs);
  }
}

/** True if it has kept the slot of its key. Who asks has it from now on. */
function takeSlot({ extra }: MemoryJob): boolean {
  if (extra?.keepsSlot !== true) return false;
  extra.keepsSlot = false;
  return true;
}

function isReady(job: MemoryJob): boolean {
  return job.code === READY;
}
