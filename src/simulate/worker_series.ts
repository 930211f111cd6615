/**
 * A worker count over time, in bounded memory.
 *
 * @module
 */

/** More points than this many are thinned out. */
const MOST_POINTS = 4096;

/** Keeps a count over time: its extremes and its integral exactly, its course roughly if it is long. */
export class WorkerSeries {
  #min = Infinity;
  #peak = 0;
  #count = 0;
  #sinceMs: number | undefined;
  #integral = 0;
  #points: (readonly [atMs: number, count: number])[] = [];
  #gapMs = 0;
  #stretchEndMs = -Infinity;

  /** The lowest count that lasted, or is now: processes begin one by one. 0 before the first look. */
  get min(): number {
    return Math.min(this.#min, this.#count);
  }

  /** The highest count so far. */
  get peak(): number {
    return this.#peak;
  }

  /** The count now. */
  get count(): number {
    return this.#count;
  }

  /** When it changed, and to what: all changes, or of a long run the last one of each stretch of time. */
  get timeline(): readonly (readonly [atMs: number, count: number])[] {
    return this.#points;
  }

  /** Worker time until `nowMs`, in worker-ms. */
  workerMs(nowMs: number): number {
    return this.#integral + this.#count * (nowMs - (this.#sinceMs ?? nowMs));
  }

  /** Takes the count in. */
  look(nowMs: number, count: number): void {
    if (count === this.#count && this.#sinceMs !== undefined) return;
    if (this.#sinceMs !== undefined && nowMs > this.#sinceMs) this.#min = this.min;
    this.#integral = this.workerMs(nowMs);
    this.#sinceMs = nowMs;
    this.#count = count;
    if (count > this.#peak) this.#peak = count;
    this.#add(nowMs, count);
  }

  /** One point a stretch of `#gapMs`: its last one. */
  #add(nowMs: number, count: number): void {
    if (nowMs < this.#stretchEndMs || this.#points.at(-1)?.[0] === nowMs) this.#points.pop();
    else this.#stretchEndMs = nowMs + this.#gapMs;
    this.#points.push([nowMs, count]);
    if (this.#points.length > MOST_POINTS) this.#thin(nowMs);
  }

  #thin(nowMs: number): void {
    const all = this.#points;
    this.#gapMs = Math.max(this.#gapMs * 2, nowMs / (MOST_POINTS / 2));
    this.#stretchEndMs = -Infinity;
    this.#points = [];
    for (const [atMs, count] of all) this.#add(atMs, count);
  }
}
