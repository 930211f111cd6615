/**
 * What happens between two samples of a pool: extremes that a look once a second would miss, and
 * the time that workers were there.
 *
 * @module
 */

/** Extremes of one lane since its last sample. */
export class LaneExtremes {
  /** Longest that a job that started had been claimable, ms. */
  longestWaitMs = 0;
  /** Most jobs that were ready at once. */
  mostReady = 0;

  /** A job started that had been claimable for so long. Called with every job. */
  waited(ms: number): void {
    if (ms > this.longestWaitMs) this.longestWaitMs = ms;
  }

  /** This many are ready. Called with every turn. */
  ready(count: number): void {
    if (count > this.mostReady) this.mostReady = count;
  }

  /** Starts over: a sample was taken. */
  clear(): void {
    this.longestWaitMs = 0;
    this.mostReady = 0;
  }
}

/** How many workers there were since the last sample, and for how long since the pool began. */
export class LiveMeter {
  /** Fewest at once. */
  least: number;
  /** Most at once. */
  most: number;
  #ms = 0;
  #live: number;
  #atMs: number;

  /** Begins with `live` workers at `nowMs`. */
  constructor(nowMs: number, live = 0) {
    this.#atMs = nowMs;
    this.#live = this.least = this.most = live;
  }

  /** There is no sample yet: what was before counts for nothing. */
  begin(nowMs: number, live: number): void {
    this.look(nowMs, live);
    this.clear();
  }

  /** Integral of the number of workers over time, up to the last look, ms. */
  get ms(): number {
    return this.#ms;
  }

  /** There are `live` workers now. Called with every turn: between two of them the number stays. */
  look(nowMs: number, live: number): void {
    this.#ms += this.#live * (nowMs - this.#atMs);
    this.#atMs = nowMs;
    this.#live = live;
    if (live < this.least) this.least = live;
    if (live > this.most) this.most = live;
  }

  /** Starts over: a sample was taken. */
  clear(): void {
    this.least = this.most = this.#live;
  }
}
