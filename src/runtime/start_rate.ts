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

/** While the rate is used in full, no more start within this than at twice the rate, ms; one at least. */
const SPREAD_MS = 10;

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
  const grains = Math.max(1000, starts * 1000 / perSec) / GRAIN_MS;
  return { starts, perMs: Math.ceil(grains - 1e-6) * GRAIN_MS };
}

/**
 * Holds a rate by its window: a start and the N-th after it lie at least the window apart. A bucket
 * with a burst would allow twice the rate across a window's edge. At a rate with a fraction, the
 * (N + 1)-th lies apart by as much longer as one start takes: such a rate is most often a greater one
 * less its headroom, and that one's window may hold one start more.
 *
 * N at once are allowed after a pause. Once the rate is used in full they would come at once in every
 * window, and where they arrive a little later the one time than the other, nearly twice as many as
 * N would arrive in a second. So they are spread then, at twice the rate at most: what is late can
 * catch up.
 */
export class StartRate {
  #perSec = Infinity;
  #isShare = false;
  #most = 0;
  #spanMs = 0;
  #longerMs = 0; // the window of one start more. 0: it follows from the other
  #few = 0; // this many within `#fewMs`, while the rate is used in full
  #fewMs = 0;
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
    this.#longerMs = isWhole ? 0 : perMs + Math.ceil(1000 / perSec / GRAIN_MS) * GRAIN_MS;
    const gapMs = this.#spanMs / this.#most / 2;
    this.#few = this.#most === 1 ? 1 : Math.max(1, Math.ceil(SPREAD_MS / gapMs));
    this.#fewMs = this.#few * gapMs;
    const size = parts === 1 ? this.#most + 1 : MOST_STARTS + 1;
    if (size > this.#stamps.length) this.#remember(size);
  }

  /** How many jobs may start at `nowMs`, at most `wanted`. */
  allowed(nowMs: number, wanted: number): number {
    const most = this.room(nowMs, wanted);
    if (this.#perSec === Infinity || this.#perSec === 0) return most;
    let count = 0;
    while (count < most && (!this.#isFull(count, nowMs) || this.#isSpread(count, nowMs))) count++;
    return count;
  }

  /** How many jobs the window leaves room for at `nowMs`, at most `wanted`. */
  room(nowMs: number, wanted: number): number {
    if (this.#perSec === Infinity) return wanted;
    if (this.#perSec === 0) return 0;
    let count = 0;
    while (count < wanted && count < this.#most && this.#freeAtMs(count) <= nowMs) count++;
    return count;
  }

  /** How many jobs may have started by `untilMs`, if each starts when it may; at most `wanted`. */
  by(untilMs: number, wanted: number): number {
    if (this.#perSec === Infinity) return wanted;
    const times: number[] = [];
    while (times.length < wanted) {
      const atMs = this.#next(times.length + 1, times);
      if (atMs > untilMs) break;
      times.push(atMs);
    }
    return times.length;
  }

  /** Records a start. */
  stamp(atMs: number): void {
    if (this.#stamps.length > 0) this.#stamps[this.#started++ % this.#stamps.length] = atMs;
  }

  /**
   * When the `count`-th next job may start. -Infinity if at once, `Infinity` at a rate of 0, or if that
   * depends on when those before it start.
   */
  nextAtMs(count = 1): number {
    if (this.#perSec === Infinity) return -Infinity;
    const times: number[] = [];
    while (times.length < count) times.push(this.#next(times.length + 1, times));
    return times[count - 1]!; // the last that was added
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

  /** When the `count`-th next may start; `times`: when those before it may. */
  #next(count: number, times: readonly number[]): number {
    if (this.#perSec === 0 || count > this.#most) return Infinity;
    const windowMs = this.#freeAtMs(count - 1);
    if (!this.#isFull(0, -Infinity)) return windowMs;
    const few = this.#few;
    const before = count > few ? times[count - few - 1]! : this.#ago(few - count + 1);
    return Math.max(windowMs, before + this.#fewMs);
  }

  /** When the window lets another start, after `count` others by then. */
  #freeAtMs(count: number): number {
    const places = this.#most - count;
    return Math.max(
      this.#ago(places) + this.#spanMs,
      this.#ago(places + 1) + this.#longerMs,
    );
  }

  /** True if the last of `count` starts at `nowMs` takes the place of another; at 0, the latest that there was. */
  #isFull(count: number, nowMs: number): boolean {
    const lastMs = count === 0 ? this.#ago(1) : nowMs;
    return lastMs - this.#ago(this.#most + 1 - count) <= FULL * this.#spanMs;
  }

  /** True if after `count` starts at `nowMs` another keeps apart from those before. */
  #isSpread(count: number, nowMs: number): boolean {
    return count < this.#few && this.#ago(this.#few - count) + this.#fewMs <= nowMs;
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
