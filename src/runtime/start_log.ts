/**
 * When jobs started: the stamps that start rates are held by.
 *
 * @module
 */

/** The latest starts. As many are remembered as the rates that go by them ask for. */
export class StartLog {
  #stamps = new Float64Array(0); // a ring: the latest is the one before `#started`
  #started = 0;

  /** How many are remembered. */
  get size(): number {
    return this.#stamps.length;
  }

  /** When the start before `count - 1` others was. `-Infinity`: there were fewer. @param count At most `size`. */
  ago(count: number): number {
    const size = this.#stamps.length;
    return this.#stamps[(this.#started - count + 2 * size) % size] ?? -Infinity;
  }

  /** Records a start. */
  stamp(atMs: number): void {
    if (this.#stamps.length > 0) this.#stamps[this.#started++ % this.#stamps.length] = atMs;
  }

  /** How many were less than `spanMs` ago, of those that it remembers. */
  within(nowMs: number, spanMs: number): number {
    let count = 0;
    while (count < this.size && this.ago(count + 1) + spanMs > nowMs) count++;
    return count;
  }

  /** Remembers `size` at least, from now on. */
  remember(size: number): void {
    const before = this.#stamps.length;
    if (size <= before) return;
    const latest = Array.from({ length: before }, (_, index) => this.ago(before - index));
    this.#stamps = new Float64Array(size).fill(-Infinity);
    latest.forEach((atMs, index) => this.#stamps[index] = atMs);
    this.#started = before;
  }
}
