/**
 * Measures what a pool's workers do over spans of time.
 *
 * @module
 */

import type { PoolView } from "../../src/contract/view.ts";

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
  /** Integral of the running jobs over time, ms. */
  readonly busyMs: number;
  /** By lane. */
  readonly lanes: readonly GateRuns[];
}

/** Attempts whose run time counts: a deferral's does not. */
export interface GateRuns {
  readonly timed: number;
  /** Sum of their run times, ms. */
  readonly timedMs: number;
}

/** What happened between a mark and the latest reading. */
export interface Span extends GateRuns {
  readonly ms: number;
  /** Attempts ended, deferrals included. */
  readonly ended: number;
  /** Mean number of running jobs. NaN over no time. */
  readonly concurrency: number;
  /** By lane. */
  readonly lanes: readonly GateRuns[];
}

const NOTHING: Mark = { atMs: 0, ended: 0, busyMs: 0, lanes: [] };

/** Takes a reading at each ask. */
export class GateMeter {
  /** The latest reading. */
  now: Mark = NOTHING;
  /** Smoothed run time over all lanes, ms. NaN until an attempt has ended. */
  meanMs = NaN;
  #squares = 0; // sum of squares at the latest reading
  #squareMs = NaN; // smoothed mean square of run times
  #evenMs = NaN; // what it would be if all attempts of a lane ran equally long
  #timed = 0;
  readonly #marks: Mark[] = [];

  /** Takes a reading. Answers what happened since the one before, nothing at the first. */
  take({ nowMs, totals, lanes }: PoolView): Span {
    const mark: Mark = {
      atMs: nowMs,
      ended: totals.completions + totals.failures + totals.deferrals,
      busyMs: totals.busyMs,
      lanes: lanes.map(({ timed, timedMs }) => ({ timed, timedMs })),
    };
    const before = this.now === NOTHING ? mark : this.now;
    this.now = mark;
    const span = this.since(before);
    if (span.timed > 0) {
      const square = (totals.serviceMsSq - this.#squares) / span.timed;
      const even = span.lanes.reduce(
        (sum, { timed }, index) => sum + timed * lanes[index]!.meanServiceMs ** 2,
        0,
      );
      this.#smooth(span, square, even / span.timed);
    }
    this.#squares = totals.serviceMsSq;
    const last = this.#marks.at(-1);
    if (last === undefined || nowMs - last.atMs >= LEAST_GAP_MS) {
      if (this.#marks.length === KEPT) this.#marks.shift();
      this.#marks.push(mark);
    }
    return span;
  }

  /** Squared coefficient of variation of run times within a lane, 0 to 3. 0 until known. */
  get variation(): number {
    if (!(this.#evenMs > 0)) return 0;
    return Math.max(0, Math.min(MOST_VARIATION, this.#squareMs / this.#evenMs - 1));
  }

  /** From a mark to the latest reading. */
  since(mark: Mark): Span {
    const { now } = this;
    const ms = now.atMs - mark.atMs;
    let timed = 0;
    let timedMs = 0;
    const lanes = now.lanes.map((lane, index): GateRuns => {
      const before = mark.lanes[index]!; // a gate is made for certain lanes
      const runs = { timed: lane.timed - before.timed, timedMs: lane.timedMs - before.timedMs };
      timed += runs.timed;
      timedMs += runs.timedMs;
      return runs;
    });
    const concurrency = (now.busyMs - mark.busyMs) / ms;
    return { ms, ended: now.ended - mark.ended, timed, timedMs, concurrency, lanes };
  }

  /** The latest span in which this many attempts ended; the longest known if there is none. */
  recent(ended: number): Span {
    const { now } = this;
    const mark = this.#marks.findLast((mark) =>
      now.ended - mark.ended >= ended && mark.atMs < now.atMs
    );
    return this.since(mark ?? this.#marks[0] ?? now);
  }

  /** Smooths over about 20 attempts (mean) and 40 (squares); running means at first. */
  #smooth({ timed, timedMs }: Span, square: number, even: number): void {
    this.#timed += timed;
    this.meanMs = mix(this.meanMs, timedMs / timed, weight(timed, Math.min(this.#timed, 20)));
    const part = weight(timed, Math.min(this.#timed, 40));
    this.#squareMs = mix(this.#squareMs, square, part);
    this.#evenMs = mix(this.#evenMs, even, part);
  }
}

/** Weight of `count` new values in a mean that remembers `memory`. */
function weight(count: number, memory: number): number {
  return memory <= count ? 1 : 1 - (1 - 1 / memory) ** count;
}

/** `old` may be NaN: then nothing is known yet. */
function mix(old: number, fresh: number, part: number): number {
  return Number.isNaN(old) ? fresh : old + (fresh - old) * part;
}
