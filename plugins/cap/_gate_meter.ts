/**
 * Measures what a pool's workers bring: run time, concurrency and throughput over spans of time.
 *
 * @module
 */

import type { PoolView } from "../../src/view.ts";

/** Marks that are kept, and the least time between two of them, ms. */
const KEPT = 128;
const LEAST_GAP_MS = 4;

/** Most that a squared coefficient of variation counts for: a rare giant says little. */
const MOST_VARIATION = 3;

/** Cumulative figures at one moment. */
export interface Mark {
  readonly atMs: number;
  /** Attempts ended, deferrals included. */
  readonly ended: number;
  /** Of these, attempts whose run time counts: a deferral's does not. */
  readonly timed: number;
  /** Their run time, ms. */
  readonly serviceMs: number;
  /** Integral of the running jobs over time, ms. */
  readonly busyMs: number;
}

/** What happened between a mark and the latest reading. */
export interface Span {
  readonly ms: number;
  /** Attempts ended, deferrals included. */
  readonly ended: number;
  /** Of these, attempts whose run time counts. */
  readonly timed: number;
  /** Mean run time of these, ms. NaN if there are none. */
  readonly serviceMs: number;
  /** Mean number of running jobs. NaN over no time. */
  readonly concurrency: number;
  /**
   * Attempts per ms, by Little's law: concurrency over run time. Few attempts may be counted a run
   * time too early or too late; these two are exact. NaN if no run time is known.
   */
  readonly perMs: number;
}

/** Takes a reading at each ask. */
export class GateMeter {
  /** Smoothed run time, ms. NaN until an attempt has ended. */
  meanMs = NaN;
  #now: Mark | undefined;
  #squareMs = NaN; // smoothed square of the run time
  #squares = 0; // sum of squares at the latest reading
  #timed = 0;
  readonly #marks: Mark[] = [];

  /** The latest reading. */
  get now(): Mark {
    return this.#now ?? { atMs: 0, ended: 0, timed: 0, serviceMs: 0, busyMs: 0 };
  }

  /** Takes a reading. Answers what happened since the one before, nothing at the first. */
  take({ nowMs, totals }: PoolView): Span {
    const { serviceMs, serviceMsSq, busyMs, completions, failures, deferrals } = totals;
    const timed = completions + failures;
    const mark = { atMs: nowMs, ended: timed + deferrals, timed, serviceMs, busyMs };
    const before = this.#now ?? mark;
    this.#now = mark;
    const span = this.since(before);
    if (span.timed > 0) this.#smooth(span, (serviceMsSq - this.#squares) / span.timed);
    this.#squares = serviceMsSq;
    const last = this.#marks.at(-1);
    if (last === undefined || nowMs - last.atMs >= LEAST_GAP_MS) {
      if (this.#marks.length === KEPT) this.#marks.shift();
      this.#marks.push(mark);
    }
    return span;
  }

  /** Squared coefficient of variation of run times, 0 to 3. 0 until known. */
  get variation(): number {
    if (!(this.meanMs > 0)) return 0;
    const squared = this.#squareMs / (this.meanMs * this.meanMs) - 1;
    return Math.max(0, Math.min(MOST_VARIATION, squared));
  }

  /** From a mark to the latest reading. */
  since(mark: Mark): Span {
    const { now } = this;
    const ms = now.atMs - mark.atMs;
    const ended = now.ended - mark.ended;
    const timed = now.timed - mark.timed;
    const serviceMs = (now.serviceMs - mark.serviceMs) / timed;
    const concurrency = (now.busyMs - mark.busyMs) / ms;
    return { ms, ended, timed, serviceMs, concurrency, perMs: concurrency / serviceMs };
  }

  /** The latest span in which so many attempts ended; the longest known if there is none. */
  recent(ended: number): Span {
    const { now } = this;
    const mark = this.#marks.findLast((mark) =>
      now.ended - mark.ended >= ended && mark.atMs < now.atMs
    );
    return this.since(mark ?? this.#marks[0] ?? now);
  }

  /** Smooths over about 20 attempts (mean) and 40 (square); running means at first. */
  #smooth(span: Span, squareMs: number): void {
    this.#timed += span.timed;
    const mean = weight(span.timed, Math.min(this.#timed, 20));
    const square = weight(span.timed, Math.min(this.#timed, 40));
    const isFirst = Number.isNaN(this.meanMs);
    this.meanMs = isFirst ? span.serviceMs : mix(this.meanMs, span.serviceMs, mean);
    this.#squareMs = isFirst ? squareMs : mix(this.#squareMs, squareMs, square);
  }
}

/** Weight of `count` new values in a mean that remembers `memory`. */
function weight(count: number, memory: number): number {
  return memory <= count ? 1 : 1 - (1 - 1 / memory) ** count;
}

function mix(old: number, fresh: number, part: number): number {
  return old + (fresh - old) * part;
}
