/**
 * Holds a start rate by the pool's own start stamps.
 *
 * @module
 */

/** Most stamps that are remembered: a faster rate is held over a shorter window. */
const MOST_STAMPS = 10_000;

/**
 * Allows at most `perSec` starts in any half-open window of one second: with N = floor(`perSec`),
 * a start and the N-th after it lie at least a second apart. A bucket with a burst would allow
 * twice the rate across a window's edge. Below one a second, starts lie 1/`perSec` apart.
 */
export class StartRate {
  #perSec = Infinity;
  #most = 0;
  #spanMs = 0;
  #stamps = new Float64Array(0); // a ring: the latest is the one before `#started`
  #started = 0;
  #before = { perSec: 0, untilMs: -Infinity }; // a faster rate, and until when its starts count

  /** The rate held, starts per second. `Infinity`: none. */
  get perSec(): number {
    return this.#perSec;
  }

  /** Holds another rate from now on. Starts so far count against it. */
  set(perSec: number): void {
    if (perSec === this.#perSec) return;
    if (perSec < this.#perSec && this.#stamps.length > 0) this.#slowDown(this.#perSec);
    this.#perSec = perSec;
    if (perSec === Infinity || perSec === 0) return;
    const parts = Math.max(1, Math.ceil(perSec / MOST_STAMPS));
    this.#most = Math.max(1, Math.floor(perSec / parts));
    this.#spanMs = perSec < 1 ? 1000 / perSec : 1000 / parts;
    const size = parts === 1 ? this.#most : MOST_STAMPS;
    if (size > this.#stamps.length) this.#remember(size);
  }

  /** How many jobs may start at `nowMs`, at most `wanted`. */
  allowed(nowMs: number, wanted: number): number {
    if (this.#perSec === Infinity) return wanted;
    if (this.#perSec === 0) return 0;
    let count = 0;
    while (
      count < wanted && count < this.#most &&
      this.#ago(this.#most - count) + this.#spanMs <= nowMs
    ) count++;
    return count;
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
    if (this.#perSec === 0 || count > this.#most) return Infinity;
    return this.#ago(this.#most - count + 1) + this.#spanMs;
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
