/**
 * Holds one start rate by the stamps of starts.
 *
 * @module
 */

import type { StartLimit } from "../contract/strategy.ts";
import type { StartLog } from "./start_log.ts";
import { grainsDown, grainsUp, ROUNDING, windowOf } from "../planning/start_window.ts";

/** Most starts that a window holds: a faster rate is held over a part of it. */
const MOST_STARTS = 10_000;

/** Starts that come late are made up for as far as this, ms, at least: a timer's lateness, not a pause. */
const LATE_MS = 20;

/** It is used in full if a start takes the place of another no later than this times the window. */
const FULL = 1.25;

/**
 * Holds a rate by a window and a pace. The window is the guard: a start and the N-th after it lie at
 * least the window apart. A bucket with a burst would allow twice the rate across a window's edge. At a
 * rate with a fraction, the (N + 1)-th lies apart by as much longer as one start takes: such a rate is
 * most often a greater one less its headroom, and that one's window may hold one start more.
 *
 * With the window alone a backlog would use up at once what a window holds, and a job of a higher lane
 * that comes then would wait for the next. So starts keep a pace, 1 / rate apart; what comes late is
 * made up for, as far as timers are late. Only the highest lane may jump the pace: after a pause it has
 * all that the window leaves, until the rate is used in full.
 */
export class StartRate {
  /** By how much starts are late recently that nothing but their turn held up, ms: that is made up for as well. */
  lateMs = 0;
  readonly #log: StartLog;
  #limit: StartLimit = { starts: 0, perMs: 1000 };
  #isShare = false;
  #most = 0;
  #spanMs = 0;
  #longerMs = 0; // the window of one start more. 0: it follows from the other
  #fullMs = 0; // the rate is used in full if its starts take no longer than this
  #paceMs = 0; // between starts that keep the pace
  #burstMs = LATE_MS; // as much of a pause is made up for
  #dueAtMs = -Infinity; // when the next of them may be
  #before = { perSec: 0, untilMs: -Infinity }; // a faster rate, and until when its starts count

  /** Nothing starts before the first `set`. @param log All starts that count. */
  constructor(log: StartLog) {
    this.#log = log;
  }

  /**
   * Holds another limit from now on. Starts so far count against it.
   *
   * @param isShare It is this process's part of a limit over several: whole permits, and no window but theirs.
   */
  set(limit: StartLimit, isShare = false): void {
    const { starts, perMs, burst } = this.#limit;
    const isSame = limit.starts === starts && limit.perMs === perMs && limit.burst === burst;
    if (isSame && isShare === this.#isShare) return;
    this.#isShare = isShare;
    const before = this.#perSec;
    this.#limit = limit;
    if (this.#perSec < before) this.#slowDown(before);
    if (limit.starts === 0) return;
    const window = windowOf(limit);
    const parts = Math.ceil(window.starts / MOST_STARTS);
    this.#most = Math.floor(window.starts / parts);
    this.#spanMs = window.perMs / parts;
    const isWhole = isShare || parts > 1 || Math.abs(window.starts - limit.starts) < ROUNDING;
    this.#longerMs = isWhole ? 0 : window.perMs + grainsUp(limit.perMs / limit.starts);
    this.#fullMs = grainsUp(FULL * this.#spanMs);
    this.#log.remember(parts === 1 ? this.#most + 1 : MOST_STARTS + 1);
    this.#keepPace(grainsDown(this.#spanMs / this.#most));
    this.#burstMs = Math.max(LATE_MS, ((limit.burst ?? 1) - 1) * this.#paceMs);
  }

  /**
   * How many jobs may start at `nowMs`, at most `wanted`.
   *
   * @param jumps They are of the highest lane: after a pause they need not keep the pace.
   */
  allowed(nowMs: number, wanted: number, jumps: boolean): number {
    return this.by(nowMs, nowMs, wanted, jumps);
  }

  /** How many jobs may have started by `untilMs`, if from `nowMs` on each starts when it may; at most `wanted`. */
  by(untilMs: number, nowMs: number, wanted: number, jumps: boolean): number {
    return this.#foresee(nowMs, jumps, { count: wanted, untilMs }).count;
  }

  /** When the `count`-th next job may start, if those before it start when they may. `Infinity`: that is too far to see. */
  nextAtMs(nowMs: number, count: number, jumps: boolean): number {
    return this.#foresee(nowMs, jumps, { count, untilMs: Infinity }).atMs;
  }

  /** A job starts, of whichever lane: the log has it. */
  started(atMs: number): void {
    this.#dueAtMs = this.#dueAfter(this.#dueAtMs, atMs);
  }

  /** Time between two starts that keep the pace, ms. */
  get paceMs(): number {
    return this.#paceMs;
  }

  /** Starts in the last `spanMs`, no fewer than there were. */
  used(nowMs: number, spanMs: number): number {
    const { size } = this.#log;
    const count = this.#log.within(nowMs, spanMs);
    if (count < size) return count;
    // Of a fast rate a part of the window is remembered only.
    const { perSec, untilMs } = this.#before;
    const fastest = nowMs < untilMs ? perSec : this.#perSec;
    return Math.max(count, Math.floor(fastest * spanMs / 1000));
  }

  get #perSec(): number {
    return this.#limit.starts * 1000 / this.#limit.perMs;
  }

  /** Lets up to `count` start one after the other, each when it may: how many have by `untilMs`, and when the last does. */
  #foresee(
    nowMs: number,
    jumps: boolean,
    { count, untilMs }: { readonly count: number; readonly untilMs: number },
  ): { readonly count: number; readonly atMs: number } {
    const seen = this.#limit.starts === 0 ? 0 : Math.min(count, this.#most);
    let atMs = nowMs;
    let lastMs = this.#log.ago(1);
    let dueAtMs = this.#dueAtMs;
    for (let started = 0; started < seen; started++) {
      atMs = Math.max(atMs, this.#freeAtMs(started));
      // The rate is used in full if the latest start took the place of another.
      const isFull = lastMs - this.#log.ago(this.#most + 1 - started) < this.#fullMs;
      if (!jumps || isFull) atMs = Math.max(atMs, dueAtMs);
      if (atMs > untilMs) return { count: started, atMs };
      dueAtMs = this.#dueAfter(dueAtMs, atMs);
      lastMs = atMs;
    }
    return { count: seen, atMs: seen < count ? Infinity : atMs };
  }

  /** When the pace lets the next start, after one at `atMs` for which it was `dueAtMs`. */
  #dueAfter(dueAtMs: number, atMs: number): number {
    return Math.max(dueAtMs, atMs - this.#burstMs - this.lateMs) + this.#paceMs;
  }

  /** Another pace, from the last start on. */
  #keepPace(paceMs: number): void {
    const lastMs = this.#log.ago(1);
    if (lastMs > -Infinity && this.#paceMs > 0) {
      const leftMs = (this.#dueAtMs - lastMs) * paceMs / this.#paceMs;
      this.#dueAtMs = lastMs + Math.min(leftMs, this.#spanMs); // longer is for the window to say
    }
    this.#paceMs = paceMs;
  }

  /** When the window lets another start, after `count` others by then. */
  #freeAtMs(count: number): number {
    const places = this.#most - count;
    return Math.max(
      this.#log.ago(places) + this.#spanMs,
      this.#log.ago(places + 1) + this.#longerMs,
    );
  }

  #slowDown(from: number): void {
    const latestMs = this.#log.ago(1);
    const { perSec, untilMs } = this.#before;
    const most = latestMs < untilMs ? Math.max(from, perSec) : from;
    this.#before = { perSec: most, untilMs: latestMs + this.#limit.perMs };
  }
}
