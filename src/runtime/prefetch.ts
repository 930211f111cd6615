/**
 * Jobs that are leased and have not started, and how many more to lease ahead of their start.
 *
 * @module
 */

import type { Lane } from "./lane.ts";
import type { Leasing } from "./leasing.ts";
import type { PoolState } from "./pool_state.ts";
import type { Leased } from "../contract/store.ts";
import type { HeldJob } from "./unstarted.ts";

/** More is leased once what is here and on its way covers less than this many times an answer's time. */
export const LOW = 1.5;

/**
 * As much is leased then as covers this many times an answer's time. With one depth of 2 instead of the band a
 * job takes 1.67 times as many commits at 30 ms (bench/README.md).
 */
export const HIGH = 2.5;

/** A job is short if an answer takes at least this part of it: workers would wait for it otherwise. */
const SHORT = 0.05;

/** Most that are leased ahead for each worker, whatever answers take: a killed process charges each an attempt. */
const MOST_EACH = 32;

/** A job that has not started goes back after this time, ms, or after this many answers' time if longer. */
const HELD_MS = 250;
const HELD_TIMES = 4;

/** How often it is looked which lanes take the workers' time, ms. */
const LOOK_MS = 250;

/** True if workers of the lane would wait for leases that are asked for when they are free. */
export function isShort({ timed, meanServiceMs }: Lane, leaseMs: number): boolean {
  return timed > 0 && meanServiceMs * SHORT <= leaseMs;
}

/** True if a kill of this process would be the end of the job, started or not: it is never leased ahead. */
export function isLastAttempt({ attempt }: Leased, { settings }: Lane): boolean {
  return attempt >= settings.attempts;
}

interface Entry extends HeldJob {
  readonly sinceMs: number;
}

/** What is known of a lane. */
interface Sight {
  /** Its workers' time when it was looked at last, ms. */
  servedMs: number;
  /** Recent time of its workers, ms. */
  shareMs: number;
  /** How many of its jobs had ended when one went back that workers had no time for: none is leased ahead until one more has. */
  stalledAt: number;
}

/**
 * A store that takes its time to answer is asked before workers are free, and before a start rate lets
 * jobs start. What is leased then waits here. It counts as ready, and which lane is next is chosen at the
 * start: nothing comes first by being here. The depth follows Little's law, lane by lane: the share of
 * the workers that the lane has, times the time of an answer over that of a job.
 */
export class Prefetch {
  readonly #state: PoolState;
  readonly #held = new Map<Lane, Entry[]>();
  readonly #seen = new Map<Lane, Sight>();
  #oldestMs = Infinity; // none is here for longer
  #lookedAtMs = -Infinity;

  /** Begins with nothing held. */
  constructor(state: PoolState) {
    this.#state = state;
  }

  /** Adds a leased job, behind those of its lane that are as old. */
  hold(job: Leased, lane: Lane, nowMs: number): void {
    let jobs = this.#held.get(lane);
    if (jobs === undefined) this.#held.set(lane, jobs = []);
    let place = jobs.length;
    while (place > 0 && jobs[place - 1]!.job.readyAtMs > job.readyAtMs) place--;
    jobs.splice(place, 0, { job, lane, sinceMs: nowMs });
    this.#oldestMs = Math.min(this.#oldestMs, nowMs);
    this.#changed(lane, 1);
  }

  /** The next one of a lane, which starts. */
  next(lane: Lane): HeldJob | undefined {
    const held = this.#held.get(lane)?.shift();
    if (held !== undefined) this.#changed(lane, -1);
    return held;
  }

  /** One by its id. `undefined`: it is not here. */
  take(id: string): HeldJob | undefined {
    for (const [lane, jobs] of this.#held) {
      const place = jobs.findIndex(({ job }) => job.id === id);
      if (place === -1) continue;
      const [held] = jobs.splice(place, 1);
      this.#changed(lane, -1);
      return held;
    }
    return undefined;
  }

  /** When the next one goes back that has not started. `Infinity`: none is here. */
  backAtMs(leaseMs: number): number {
    return this.#oldestMs + this.#mostMs(leaseMs);
  }

  /**
   * Takes out what goes back: what has been here for long, for its lease may be lost after a suspension,
   * and others could have run it; what cannot start, because its lane is paused or gone; and all of it
   * if there is no worker, or `isOpen` is false.
   */
  goingBack(nowMs: number, leaseMs: number, isOpen: boolean): readonly HeldJob[] {
    const { lanes, live } = this.#state;
    const back: HeldJob[] = [];
    const mostMs = this.#mostMs(leaseMs);
    const isLate = this.#oldestMs + mostMs <= nowMs;
    for (const [lane, jobs] of this.#held) {
      const isStuck = !isOpen || live === 0 || lane.paused || !lanes.includes(lane);
      if (!isStuck && !isLate) continue;
      const [late, others] = split(jobs, ({ sinceMs }) => isStuck || sinceMs + mostMs <= nowMs);
      if (late.length === 0) continue;
      this.#held.set(lane, others);
      this.#changed(lane, -late.length);
      back.push(...late);
      const sight = this.#seen.get(lane);
      if (sight !== undefined && !isStuck) sight.stalledAt = lane.timed;
    }
    if (isLate) this.#findOldest();
    return back;
  }

  /**
   * Plans to lease up to `most` more jobs, for workers that will be free. How many it has planned.
   *
   * @param placesOf How many more the start rates of a lane will let start soon.
   */
  plan(
    leasing: Leasing,
    nowMs: number,
    most: number,
    placesOf: (lane: Lane) => number,
  ): number {
    this.#look(nowMs);
    let planned = 0;
    for (const lane of this.#state.lanes) {
      const room = Math.min(lane.claimable, most - planned, placesOf(lane));
      if (room <= 0 || lane.settings.attempts === 1) continue;
      const here = lane.held + lane.ahead;
      if (here >= this.#depth(lane, leasing.ms, LOW)) continue;
      const count = Math.min(room, this.#depth(lane, leasing.ms, HIGH) - here);
      leasing.planAhead(lane, count);
      planned += count;
    }
    return planned;
  }

  /** Jobs that the workers of a lane start in `times` answers, and one for each that waits with others. */
  #depth(lane: Lane, leaseMs: number, times: number): number {
    if (lane.timed === 0) return 1;
    if (!isShort(lane, leaseMs) || this.#seen.get(lane)?.stalledAt === lane.timed) return 0;
    const each = Math.min(MOST_EACH, 1 + times * leaseMs / lane.meanServiceMs);
    return Math.max(1, Math.ceil(this.#workersOf(lane) * each));
  }

  /** Workers that a lane has, by their recent time. */
  #workersOf(lane: Lane): number {
    const { live, lanes } = this.#state;
    let sumMs = 0;
    for (const { shareMs } of this.#seen.values()) sumMs += shareMs;
    return sumMs === 0 ? live / lanes.length : live * this.#seen.get(lane)!.shareMs / sumMs;
  }

  /** Updates which lanes have had the workers' time since the last look. */
  #look(nowMs: number): void {
    const isDue = nowMs - this.#lookedAtMs >= LOOK_MS;
    if (isDue) this.#lookedAtMs = nowMs;
    for (const lane of this.#state.lanes) {
      const seen = this.#seen.get(lane);
      const { servedMs } = lane;
      if (seen === undefined) {
        this.#seen.set(lane, { servedMs, shareMs: servedMs, stalledAt: -1 });
      } else if (isDue) {
        seen.shareMs = seen.shareMs / 2 + servedMs - seen.servedMs;
        seen.servedMs = servedMs;
      }
    }
    if (!isDue) return;
    for (const lane of this.#seen.keys()) {
      if (!this.#state.lanes.includes(lane)) this.#seen.delete(lane);
    }
  }

  #mostMs(leaseMs: number): number {
    const { leaseMs: lostAfterMs } = this.#state.settings;
    return Math.min(lostAfterMs / 3, Math.max(HELD_MS, HELD_TIMES * leaseMs));
  }

  #findOldest(): void {
    this.#oldestMs = Infinity;
    for (const jobs of this.#held.values()) {
      for (const { sinceMs } of jobs) this.#oldestMs = Math.min(this.#oldestMs, sinceMs);
    }
  }

  #changed(lane: Lane, more: number): void {
    lane.held += more;
    lane.heldAtMs = this.#held.get(lane)?.[0]?.job.readyAtMs ?? Infinity;
    this.#state.held += more;
    if (lane.held === 0) this.#held.delete(lane);
    if (this.#state.held === 0) this.#oldestMs = Infinity;
  }
}

function split<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  const first: T[] = [];
  const others: T[] = [];
  for (const item of items) (isFirst(item) ? first : others).push(item);
  return [first, others];
}
