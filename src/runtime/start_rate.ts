/**
 * Holds a start rate by the pool's own start stamps.
 *
 * @module
 */

/** Most starts that a window holds: a faster rate is held over a part of it. */
const MOST_STARTS = 10_000;

/** What a product of decimals may miss a whole number by. */
const ROUNDING = 1e-9;

/** Times since 1970 in ms have no finer grain than this: windows are whole multiples, so that sums are exact. */
const GRAIN_MS = 2 ** -12;

/** Starts that come late are made up for as far as this, ms, and a lease: a timer's lateness, not a pause. */
const LATE_MS = 20;

/** It is used in full if a start takes the place of another no later than this times the window. */
const FULL = 1.25;

/** A rate as whole starts: at most `starts` in any half-open window of `perMs`. */
export interface StartWindow {
  /** Starts in each window, whole, at least 1. */
  readonly starts: number;
  /** Length of a window, ms, at least a second. */
  readonly perMs: number;
}

/**
 * The window of a rate: N = ceil(`perSec`) starts in N / `perSec` seconds, so that a fraction is neither
 * lost nor exceeded: 2.5 a second are 3 in any 1.2 s.
 */
export function windowOf(perSec: number): StartWindow {
  const starts = Math.max(1, Math.ceil(perSec - ROUNDING));
  return { starts, perMs: grainsUp(Math.max(1000, starts * 1000 / perSec)) };
}

function grainsUp(ms: number): number {
  return Math.ceil(ms / GRAIN_MS - 1e-6) * GRAIN_MS;
}

function grainsDown(ms: number): number {
  return Math.floor(ms / GRAIN_MS + 1e-6) * GRAIN_MS;
}

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
  /** How long leases take, ms: starts may be late by that as well. */
  leaseMs = 0;
  #perSec = Infinity;
  #isShare = false;
  #most = 0;
  #spanMs = 0;
  #longerMs = 0; // the window of one start more. 0: it follows from the other
  #fullMs = 0; // the rate is used in full if its starts take no longer than this
  #paceMs = 0; // between starts that keep the pace
  #dueAtMs = -Infinity; // when the next of them may be
  #stamps = new Float64Array(0); // a ring: the latest is the one before `#started`
  #started = 0;
  #before = { perSec: 0, untilMs: -Infinity }; // a faster rate, and until when its starts count

  /** The rate held, starts per second. `Infinity`: none. */
  get perSec(): number {
    return this.#perSec;
  }

  /**
   * Holds another rate from now on. Starts so far count against it.
   *
   * @param isShare It is this process's part of a rate over several: whole permits, and no window but theirs.
   */
  set(perSec: number, isShare = false): void {
    if (perSec === this.#perSec && isShare === this.#isShare) return;
    this.#isShare = isShare;
    if (perSec < this.#perSec && this.#stamps.length > 0) this.#slowDown(this.#perSec);
    this.#perSec = perSec;
    if (perSec === Infinity || perSec === 0) return;
    const { starts, perMs } = windowOf(perSec);
    const parts = Math.ceil(starts / MOST_STARTS);
    this.#most = Math.floor(starts / parts);
    this.#spanMs = perMs / parts;
    const isWhole = isShare || parts > 1 || Math.abs(starts - perSec) < ROUNDING;
    this.#longerMs = isWhole ? 0 : perMs + grainsUp(1000 / perSec);
    this.#fullMs = grainsUp(FULL * this.#spanMs);
    const size = parts === 1 ? this.#most + 1 : MOST_STARTS + 1;
    if (size > this.#stamps.length) this.#remember(size);
    this.#keepPace(grainsDown(this.#spanMs / this.#most));
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
    if (this.#perSec === Infinity) return wanted;
    return this.#foresee(nowMs, jumps, { count: wanted, untilMs }).count;
  }

  /** When the `count`-th next job may start, if those before it start when they may. `Infinity`: that is too far to see. */
  nextAtMs(nowMs: number, count: number, jumps: boolean): number {
    if (this.#perSec === Infinity) return nowMs;
    return this.#foresee(nowMs, jumps, { count, untilMs: Infinity }).atMs;
  }

  /** Records a start, of whichever lane. */
  stamp(atMs: number): void {
    if (this.#stamps.length > 0) this.#stamps[this.#started++ % this.#stamps.length] = atMs;
    this.#dueAtMs = this.#dueAfter(this.#dueAtMs, atMs);
  }

  /** Starts in the last `spanMs`, no fewer than there were. */
  used(nowMs: number, spanMs: number): number {
    const size = this.#stamps.length;
    let count = 0;
    while (count < size && this.#ago(count + 1) + spanMs > nowMs) count++;
    if (count < size || size === 0) return count;
    const { perSec, untilMs } = this.#before; // a fast rate is remembered for a part of a second only
    return Math.max(count, Math.floor(nowMs < untilMs ? perSec : this.#perSec));
  }

  /** Lets up to `count` start one after the other, each when it may: how many have by `untilMs`, and when the last does. */
  #foresee(
    nowMs: number,
    jumps: boolean,
    { count, untilMs }: { readonly count: number; readonly untilMs: number },
  ): { readonly count: number; readonly atMs: number } {
    const seen = this.#perSec === 0 ? 0 : Math.min(count, this.#most);
    let atMs = nowMs;
    let lastMs = this.#ago(1);
    let dueAtMs = this.#dueAtMs;
    for (let started = 0; started < seen; started++) {
      atMs = Math.max(atMs, this.#freeAtMs(started));
      // The rate is used in full if the latest start took the place of another.
      const isFull = lastMs - this.#ago(this.#most + 1 - started) < this.#fullMs;
      if (!jumps || isFull) atMs = Math.max(atMs, dueAtMs);
      if (atMs > untilMs) return { count: started, atMs };
      dueAtMs = this.#dueAfter(dueAtMs, atMs);
      lastMs = atMs;
    }
    return { count: seen, atMs: seen < count ? Infinity : atMs };
  }

  /** When the pace lets the next start, after one at `atMs` for which it was `dueAtMs`. */
  #dueAfter(dueAtMs: number, atMs: number): number {
    return Math.max(dueAtMs, atMs - LATE_MS - 2 * this.leaseMs) + this.#paceMs;
  }

  /** Another pace, from the last start on. */
  #keepPace(paceMs: number): void {
    const lastMs = this.#ago(1);
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
      this.#ago(places) + this.#spanMs,
      this.#ago(places + 1) + this.#longerMs,
    );
  }

  /** When the start before `count - 1` others was. `-Infinity`: there were fewer. */
  #ago(count: number): number {
    const size = this.#stamps.length;
    return this.#stamps[(this.#started - count + 2 * size) % size]!;
  }

  #slowDown(from: number): void {
    const latestMs = this.#ago(1);
    const { perSec, untilMs } = this.#before;
    const most = latestMs < untilMs ? Math.max(from, perSec) : from;
    this.#before = { perSec: most, untilMs: latestMs + 1000 };
  }

  #remember(size: number): void {
    const before = this.#stamps.length;
    const latest = Array.from({ length: before }, (_, index) => this.#ago(before - index));
    this.#stamps = new Float64Array(size).fill(-Infinity);
    latest.forEach((atMs, index) => this.#stamps[index] = atMs);
    this.#started = before;
  }
}
