/**
 * One lane: its jobs that wait, in all their states, and its counts.
 *
 * @module
 */

import { type KeyRate, slotsOf } from "../../src/base/key_starts.ts";
import type { LaneCounts, LaneRules } from "../../src/contract/store.ts";
import { BlockedJobs } from "./blocked.ts";
import { DelayedJobs } from "./delayed.ts";
import { BLOCKED, type Code, DELAYED, type MemoryJob, READY } from "./job.ts";
import { KeyPlaces } from "./keys.ts";
import { JobRing } from "./ring.ts";
import { KeyStarts } from "./starts.ts";

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
 * place among those of the key from `ready` until `release`. Under a rate it may have it before: it is
 * delayed then, until the rate lets it start.
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
  /** Ends of its jobs that are noted to be handed on. */
  handsOn: LaneRules["handsOn"] = undefined;
  /** Leased by anyone. */
  running = 0;

  readonly #pool: LanePool;
  readonly #ready = new JobRing(isReady);
  readonly #delayed = new DelayedJobs();
  readonly #blocked = new BlockedJobs();
  #slots = Infinity; // of each key
  #keyRates: readonly KeyRate[] = [];
  #keyStarts: KeyStarts | undefined = undefined;
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
    this.#enter(job, nowMs);
  }

  /** Puts a job that ran in again. It has given its key's place up, or keeps it. */
  again(job: MemoryJob, dueAtMs: number, nowMs: number): void {
    job.restamp(Math.max(dueAtMs, nowMs));
    if (job.extra !== undefined) job.extra.dueAtMs = undefined;
    this.add(job, nowMs);
  }

  /** Puts a job whose attempt began in again, with the place of its key, when a rate lets it start. */
  keep(job: MemoryJob, beganAtMs: number, dueAtMs: number, nowMs: number): void {
    const key = this.#keys === undefined ? undefined : job.extra?.key;
    const atMs = key === undefined ? dueAtMs : this.#keys!.keep(key, beganAtMs, nowMs);
    job.ownExtra().keepsSlot = true;
    this.again(job, Math.max(dueAtMs, atMs), nowMs);
  }

  /** True if starts of the job count: it may not start again as it likes. */
  counts(job: MemoryJob): boolean {
    return this.#keyStarts !== undefined && job.key !== undefined;
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

  /**
   * Gives up the place of the job's key. `beganAtMs`: when its attempt did, if it did. True if another job
   * has left its wait for it.
   */
  release(job: MemoryJob, nowMs: number, beganAtMs?: number): boolean {
    const keys = this.#keys;
    const key = keys === undefined ? undefined : job.extra?.key;
    if (keys === undefined || key === undefined) return false;
    keys.release(key, beganAtMs, nowMs);
    let isGiven = false;
    for (let next = keys.next(key); next !== undefined; next = keys.next(key)) {
      isGiven = true;
      this.#blocked.leave();
      if (!next.isExpired(nowMs)) {
        const atMs = keys.take(key, next, nowMs);
        if (this.nextDueAtMs <= nowMs) this.#moveDue(nowMs);
        if (atMs > nowMs) this.#delay(next, atMs);
        else {
          next.unblock(nowMs);
          this.#toReady(next);
        }
        break;
      }
      this.#pool.expire(next, nowMs);
    }
    return isGiven;
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

  /** Changes how many jobs of a key may run and start. `holding`: jobs of this lane that do now, or keep their place. */
  limitKeys(rules: LaneRules, holding: Iterable<MemoryJob>, nowMs: number): void {
    const { maxRunningPerKey, keyRates = [] } = rules;
    const slots = slotsOf(maxRunningPerKey, keyRates);
    const isSame = slots === this.#slots &&
      JSON.stringify(keyRates) === JSON.stringify(this.#keyRates);
    if (isSame) return;
    this.#slots = slots;
    this.#keyRates = keyRates;
    const waiting = this.#ready.drain();
    for (const job of this.#keys?.drain() ?? []) waiting.push(job);
    waiting.sort((a, b) => a.readyAtMs - b.readyAtMs || a.sequence - b.sequence);
    this.#blocked.clear();
    if (keyRates.length === 0) this.#keyStarts = undefined;
    else if (this.#keyStarts === undefined) this.#keyStarts = new KeyStarts(keyRates);
    else this.#keyStarts.adopt(keyRates);
    this.#keys = slots === Infinity ? undefined : new KeyPlaces(slots, this.#keyStarts);
    for (const job of holding) {
      if (job.key !== undefined) this.#keys?.force(job.key);
    }
    for (const job of waiting) this.#enter(job, nowMs);
  }

  #enter(job: MemoryJob, nowMs: number): void {
    const hasSlot = job.extra !== undefined && takeSlot(job);
    const key = this.#keys === undefined ? undefined : job.extra?.key;
    if (key === undefined || hasSlot) {
      this.#toReady(job);
      return;
    }
    const atMs = this.#keys!.take(key, job, nowMs);
    if (atMs <= nowMs) this.#toReady(job);
    else if (atMs < Infinity) this.#delay(job, atMs);
    else this.#blocked.enter(job);
  }

  /** Delays a job that has the place of its key, until the key's rate lets it start. */
  #delay(job: MemoryJob, atMs: number): void {
    job.unblock(atMs);
    job.ownExtra().keepsSlot = true;
    this.#delayed.push(job);
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
    ) this.#enter(job, nowMs);
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
