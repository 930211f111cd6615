/**
 * One lane of a running pool: its view, and the figures behind it.
 *
 * @module
 */

import type { DeadReason } from "../contract/job.ts";
import { hasKeySlots, type LaneSettings } from "../config/settings.ts";
import { RateMeter, SmoothMean } from "../base/stats.ts";
import type { LaneCounts, Queue } from "../contract/store.ts";
import { LaneExtremes } from "../planning/extremes.ts";
import { Histogram, type LaneCounters } from "../planning/lane_counters.ts";
import type { LaneTotals } from "../planning/sample.ts";
import { TimedRuns } from "./timed_runs.ts";
import { Traffic } from "./traffic.ts";
import type { LaneView, WindowStats } from "../contract/view.ts";
import type { Wall } from "../time/wall.ts";

/** The pool of a lane. */
interface LanePool {
  /** Read for ages. */
  readonly nowMs: number;
  /** What its queue's times go by. */
  readonly wall: Wall;
  /** Set when an age was read that the store does not know: the head's replaces it. */
  guessed: boolean;
}

const NO_JOBS: LaneCounts = {
  ready: 0,
  blocked: 0,
  delayed: 0,
  running: 0,
  oldestReadyAtMs: Infinity,
  nextDueAtMs: Infinity,
};

/** A lane as strategies see it. Times are those of the clock's owner, `nowMs`. */
export class Lane implements LaneView, LaneTotals {
  readonly name: string;
  settings: LaneSettings;
  /** Counts of the store. A store in memory keeps this object current. */
  counts: LaneCounts = NO_JOBS;
  /** Jobs that this process is adding and the counts do not hold yet. */
  adding = 0;
  /** Jobs whose addition was answered later than it was asked, so far. */
  added = 0;
  /** Slots given to this lane by a dispatch that has not started their jobs yet. */
  planned = 0;
  /** Jobs that its own start rates let start now, planned ones included. Owned by dispatch. */
  byRate = Infinity;
  /** Jobs of this lane that are being leased ahead of their start. */
  ahead = 0;
  /** Jobs of this lane that are leased and have not started: ready ones, as the pool counts. */
  held = 0;
  /** When the next of them became claimable. `Infinity`: there are none. */
  heldAtMs = Infinity;
  /** Waits count from then at the earliest: when a pause ended. */
  resumedAtMs = -Infinity;
  /** Counters and samples. */
  readonly traffic: Traffic;
  /** What its next sample says of the time before it. */
  readonly extremes = new LaneExtremes();
  /** Attempts that started later than the target wait. */
  late = 0;
  /** Attempts ended with `RetryLater`. */
  deferrals = 0;
  /** Jobs that ended as cancelled. */
  cancelled = 0;
  /** Jobs that died. */
  readonly dead: Record<DeadReason, number> = {
    attempts: 0,
    fatal: 0,
    expired: 0,
    late: 0,
    payload: 0,
  };
  readonly #waits = new Histogram();
  #blockedWaits: Histogram | undefined;
  readonly #runs = new Histogram();
  readonly #pool: LanePool;
  readonly #queue: Pick<Queue, "readyAtMs" | "leasesAdded">;
  readonly #arrivalRate: RateMeter;
  readonly #service = new SmoothMean();
  #index: number;
  #maxRunning: number;
  #overrun = 0;
  #orphans = 0;
  #paused: boolean;
  #running = 0;
  #startSumMs = 0;
  #endedMs = 0;
  #counted = 0;
  readonly #timed = new TimedRuns();

  /** Makes a lane of a queue. */
  constructor(
    settings: LaneSettings,
    index: number,
    pool: LanePool,
    queue: Pick<Queue, "readyAtMs" | "leasesAdded">,
  ) {
    this.name = settings.name;
    this.#index = index;
    this.settings = settings;
    this.#maxRunning = settings.maxRunning;
    this.#paused = settings.paused;
    this.#pool = pool;
    this.#queue = queue;
    this.#arrivalRate = new RateMeter(pool.nowMs);
    this.traffic = new Traffic(pool.nowMs);
  }

  /** Goes on with other settings, at another place. Figures and pauses stay. */
  adopt(settings: LaneSettings, index: number): void {
    this.#index = index;
    this.settings = settings;
    this.runsOn(0);
  }

  /** `more` handlers run on though their attempt was given up, `orphans` do of pools that have ended: they count. */
  runsOn(more: number, orphans = this.#orphans): void {
    this.#overrun += more;
    this.#orphans = orphans;
    this.#maxRunning = Math.max(0, this.settings.maxRunning - this.#overrun - orphans);
  }

  /** Pauses or resumes it: waits count from now if it was paused. */
  pause(paused: boolean, nowMs: number): void {
    if (this.#paused && !paused) this.resumedAtMs = nowMs;
    this.#paused = paused;
  }

  get index(): number {
    return this.#index;
  }

  /** True while the lane or the pool is paused. */
  get paused(): boolean {
    return this.#paused;
  }

  get timed(): number {
    return this.#timed.count;
  }

  get timedMs(): number {
    return this.#timed.ms;
  }

  get timedLog(): number {
    return this.#timed.log;
  }

  get window(): WindowStats {
    return this.traffic.window;
  }

  get weight(): number {
    return this.settings.weight;
  }

  get maxRunning(): number {
    return this.#maxRunning;
  }

  get targetWaitMs(): number | null {
    return this.settings.targetWaitMs;
  }

  get startWithinMs(): number | undefined {
    return this.settings.startWithinMs;
  }

  get deadlineMs(): number | undefined {
    return this.settings.deadlineMs;
  }

  get ready(): number {
    return Math.min(this.waiting, this.byRate);
  }

  /** Ready jobs, whatever the lane's own start rates say. */
  get waiting(): number {
    return this.#paused ? 0 : this.#due;
  }

  /** Ready jobs, whether or not the lane is paused. */
  get #due(): number {
    return Math.max(0, this.counts.ready - this.planned) + this.held;
  }

  /** Jobs that may be leased: ready ones, and those being added where the store leases them too. */
  get claimable(): number {
    if (this.#paused) return 0;
    const adding = this.adding > 0 && this.#queue.leasesAdded === true ? this.adding : 0;
    return Math.max(0, this.counts.ready + adding - this.planned - this.ahead);
  }

  get blocked(): number {
    const held = this.#paused ? this.counts.ready : Math.max(0, this.waiting - this.byRate);
    return this.counts.blocked + held;
  }

  get delayed(): number {
    return this.counts.delayed;
  }

  get running(): number {
    return this.#running + this.planned;
  }

  /** Jobs that wait: ready, blocked, delayed, and those on their way into the store. */
  get depth(): number {
    const { ready, blocked, delayed } = this.counts;
    return ready + blocked + delayed + this.adding + this.held;
  }

  get oldestWaitMs(): number {
    return this.ready === 0 ? 0 : this.#longestMs;
  }

  get oldestBlockedMs(): number {
    const { oldestBlockedAtMs = Infinity, blocked } = this.counts;
    const { nowMs, wall } = this.#pool;
    return blocked === 0 ? 0 : Math.max(0, nowMs - wall.pastMs(oldestBlockedAtMs, nowMs));
  }

  get #longestMs(): number {
    let oldestAtMs = Math.min(this.counts.oldestReadyAtMs, this.heldAtMs);
    if (this.held === 0 && this.planned > 0 && this.#queue.readyAtMs !== undefined) {
      const nextAtMs = this.#queue.readyAtMs(this.#index, this.planned);
      if (nextAtMs === undefined) this.#pool.guessed = true;
      else oldestAtMs = nextAtMs;
    }
    const { nowMs, wall } = this.#pool;
    return Math.max(0, nowMs - Math.max(wall.pastMs(oldestAtMs, nowMs), this.resumedAtMs));
  }

  /** When its next delayed job is due. `Infinity` if none is delayed. */
  get nextDueAtMs(): number {
    return this.counts.nextDueAtMs - this.#pool.wall.aheadMs;
  }

  get arrivalsPerSec(): number {
    return this.#arrivalRate.perSec;
  }

  get meanServiceMs(): number {
    return this.#service.value;
  }

  get servedMs(): number {
    return this.#endedMs + this.#running * this.#pool.nowMs - this.#startSumMs;
  }

  get arrivals(): number {
    return this.traffic.arrivals;
  }

  get starts(): number {
    return this.#waits.count + (this.#blockedWaits?.count ?? 0);
  }

  get waitedMs(): number {
    return this.#waits.sumMs + (this.#blockedWaits?.sumMs ?? 0);
  }

  get completions(): number {
    return this.traffic.completions;
  }

  get failures(): number {
    return this.traffic.failures;
  }

  get shed(): number {
    return this.traffic.shed;
  }

  /**
   * Jobs that have not ended, or may not have: what was just added counts until the next count. Never 0
   * while there is one; the counts of most stores hold what was just added, so it is not added to them.
   */
  get unfinished(): number {
    const uncounted = this.added - this.#counted; // the counts may not hold them yet
    const { depth, held } = this; // what is held is leased: the counts have it among what runs
    return Math.max(uncounted, depth + Math.max(this.counts.running - held, this.running));
  }

  /** The store has answered for a job that was on its way into it, later than it was asked. */
  addedLate(): void {
    this.adding--;
    this.added++;
  }

  /** Takes over what the store has counted. `added`: as it was when the store was asked. */
  counted(counts: LaneCounts, added: number): void {
    this.counts = counts;
    this.#counted = Math.max(this.#counted, added);
  }

  /** Notes how many are ready, at the beginning of a turn: what has come has not started yet. */
  look(): void {
    if (!this.#paused) this.extremes.ready(this.counts.ready + this.held);
  }

  /**
   * Records a start of a job that was due `waitMs` before. `readyWaitMs`: since it was claimable, if it was
   * blocked before: that is what it is late by, as no worker could have started it.
   */
  started(nowMs: number, waitMs: number, readyWaitMs: number | undefined): void {
    this.#running++;
    this.#startSumMs += nowMs;
    const claimableMs = readyWaitMs ?? waitMs;
    this.traffic.waited(nowMs, waitMs, claimableMs);
    if (readyWaitMs === undefined) this.#waits.add(waitMs);
    else (this.#blockedWaits ??= new Histogram()).add(waitMs);
    this.extremes.waited(claimableMs);
    const { targetWaitMs } = this.settings;
    if (targetWaitMs !== null && claimableMs > targetWaitMs) this.late++;
  }

  /** Records the end of an attempt that started at `startedAtMs`. @param measured False if its run time says nothing. */
  ended(nowMs: number, startedAtMs: number, measured: boolean): void {
    this.#running--;
    this.#startSumMs = this.#running === 0 ? 0 : this.#startSumMs - startedAtMs;
    const serviceMs = nowMs - startedAtMs;
    this.#endedMs += serviceMs;
    if (!measured) return;
    this.#timed.add(serviceMs);
    this.#service.add(serviceMs);
    this.traffic.serviceTimes.add(nowMs, serviceMs);
    this.#runs.add(serviceMs);
  }

  /**
   * A frozen copy of its view for users, who look jobs up and list them by state: what waits in a paused
   * lane, or for the lane's own rate, is ready there. A field of the view that is missing here does not compile.
   */
  freeze(): LaneView {
    return Object.freeze({
      name: this.name,
      index: this.index,
      weight: this.weight,
      maxRunning: this.maxRunning,
      targetWaitMs: this.targetWaitMs,
      startWithinMs: this.startWithinMs,
      deadlineMs: this.deadlineMs,
      ready: this.#due,
      blocked: this.counts.blocked,
      delayed: this.delayed,
      running: this.running,
      oldestWaitMs: this.waiting === 0 ? 0 : this.#longestMs,
      oldestBlockedMs: this.oldestBlockedMs,
      paused: this.paused,
      arrivalsPerSec: this.arrivalsPerSec,
      meanServiceMs: this.meanServiceMs,
      servedMs: this.servedMs,
      timed: this.timed,
      timedMs: this.timedMs,
      timedLog: this.timedLog,
      window: this.traffic.freezeWindow(),
    });
  }

  /** What has come of its jobs. */
  tally(): LaneCounters {
    const { arrivals, shed, completions, failures } = this.traffic;
    return Object.freeze({
      lane: this.name,
      accepted: arrivals,
      shed,
      late: this.late,
      done: completions,
      failed: failures,
      deferred: this.deferrals,
      cancelled: this.cancelled,
      dead: Object.freeze({ ...this.dead }),
      waits: this.#waits.read(),
      blockedWaits: hasKeySlots(this.settings) || this.#blockedWaits !== undefined
        ? (this.#blockedWaits ??= new Histogram()).read()
        : undefined,
      runs: this.#runs.read(),
    });
  }

  /** Ends a slot of the rates and windows. */
  update(nowMs: number): void {
    this.#arrivalRate.update(nowMs, this.traffic.arrivals);
    this.traffic.update(nowMs);
  }

  /** Ends an idle gap without ticks: rates decay over it, and what has come since came now. */
  rested(nowMs: number): void {
    this.#arrivalRate.rested(nowMs);
    this.traffic.rested(nowMs);
  }
}
