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
  #stamps = new Float64Array(0);
  #spanMs = 0;
  #started = 0;

  /** The rate held, starts per second. `Infinity`: none. */
  get perSec(): number {
    return this.#perSec;
  }

  /**
   * Holds another rate from now on. Starts so far count against it.
   *
   * @param othersAtMs For a share that grew because others share the rate no more, or that is new:
   * when the last starts of others may have been. What is not used by own starts counts as used then.
   */
  set(perSec: number, othersAtMs?: number): void {
    if (perSec === this.#perSec && othersAtMs === undefined) return;
    const kept = this.#latest();
    this.#perSec = perSec;
    if (perSec === Infinity) {
      this.#stamps = new Float64Array(0);
      this.#started = 0;
      return;
    }
    const parts = Math.max(1, Math.ceil(perSec / MOST_STAMPS));
    const size = Math.max(1, Math.floor(perSec / parts));
    this.#spanMs = perSec < 1 ? 1000 / perSec : 1000 / parts;
    const own = kept.slice(-size).map((stamp) => Math.min(stamp, othersAtMs ?? stamp));
    const others = new Array<number>(size - own.length).fill(othersAtMs ?? -Infinity);
    // Oldest first: what is used up by others is so for the longest.
    this.#stamps = Float64Array.from(
      othersAtMs === undefined ? [...others, ...own] : [...own, ...others],
    );
    this.#started = 0;
  }

  /** How many jobs may start at `nowMs`, at most `wanted`. */
  allowed(nowMs: number, wanted: number): number {
    if (this.#perSec === Infinity) return wanted;
    if (this.#perSec === 0) return 0;
    const size = this.#stamps.length;
    let count = 0;
    while (
      count < wanted && count < size &&
      this.#stamps[(this.#started + count) % size]! + this.#spanMs <= nowMs
    ) count++;
    return count;
  }

  /** Records a start. */
  stamp(atMs: number): void {
    if (this.#perSec === Infinity || this.#perSec === 0) return;
    this.#stamps[this.#started++ % this.#stamps.length] = atMs;
  }

  /** When the next job may start. `Infinity` at a rate of 0, -Infinity if at once. */
  nextAtMs(): number {
    if (this.#perSec === Infinity) return -Infinity;
    if (this.#perSec === 0) return Infinity;
    return this.#stamps[this.#started % this.#stamps.length]! + this.#spanMs;
  }

  #latest(): number[] {
    const size = this.#stamps.length;
    const stamps: number[] = [];
    for (let index = 0; index < size; index++) {
      const stamp = this.#stamps[(this.#started + index) % size]!;
      if (stamp > -Infinity) stamps.push(stamp);
    }
    return stamps;
  }
}
