/**
 * What attempts take at one size of the pool, with its standard error, and what they usually take.
 *
 * @module
 */

import { combined, type Estimate } from "../../src/base/estimates.ts";
import { NO_RUNS, plus, type RunTimes, slowness } from "../../src/base/run_times.ts";
import type { PoolView } from "../../src/contract/view.ts";

/** A slice is one observation: so long, ms, that a hiccup of the machine is in one or two. */
const SLICE_MS = 50;
/** And of five attempts, at least: sums of fewer are too skewed for Student's t (2 / root 5 at cv 1). */
const SLICE_ENDED = 5;
/** Least slices: Student's t of k has a variance, (k - 1) / (k - 3), above 3 only. */
export const FEW = 5;
/** Most slices, older ones are dropped: of 30 t is within 4 % of normal. */
export const MANY = 30;
/** Attempts that tell what is usual: their error is a tenth at cv 1, a third of the rise that is looked for. */
export const KNOWN = 100;
/** Attempts that this is remembered of: an error of 3 %. */
const MEMORY = 1000;

/** Figures up to a moment, or between two. `behind`: jobs that wait, and those rejected. */
export interface Reading {
  readonly atMs: number;
  readonly ended: number;
  readonly busyMs: number;
  readonly behind: number;
  readonly lanes: readonly RunTimes[];
}

/** Reads a view. */
export function read({ nowMs: atMs, totals, lanes }: PoolView): Reading {
  return {
    atMs,
    ended: totals.completions + totals.failures + totals.deferrals,
    busyMs: totals.busyMs,
    behind: sumOf(lanes, ({ ready }) => ready) + totals.shed,
    lanes: lanes.map(({ timed: count, servedMs: ms, timedLog: log }) => ({ count, ms, log })),
  };
}

/** What happened between two readings. */
export function between(from: Reading, to: Reading): Reading {
  return {
    atMs: to.atMs - from.atMs,
    ended: to.ended - from.ended,
    busyMs: to.busyMs - from.busyMs,
    behind: to.behind - from.behind,
    lanes: to.lanes.map((lane, index) => plus(lane, from.lanes[index]!, -1)), // both have all lanes
  };
}

/** Run times at one size, in slices of time: attempts that a hiccup makes alike count once. */
export class RunSample {
  slices: readonly Reading[] = [];

  /** @param begun The reading it begins with. @param until The one that ended its last slice. */
  constructor(readonly begun: Reading, public until = begun) {}

  /** Takes a reading. True if that ends a slice. */
  add(now: Reading): boolean {
    const slice = between(this.until, now);
    const timed = sumOf(slice.lanes, ({ count }) => count);
    if (slice.atMs < SLICE_MS - 0.01 || timed < SLICE_ENDED) return false;
    this.until = now;
    this.slices = [...this.slices, slice].slice(-MANY);
    return true;
  }

  /** Mean number of busy workers. */
  get concurrency(): number {
    return sumOf(this.slices, ({ busyMs }) => busyMs) / sumOf(this.slices, ({ atMs }) => atMs);
  }

  /** What these attempts took, by lane. */
  get lanes(): readonly RunTimes[] {
    return this.begun.lanes.map((_, lane) =>
      this.slices.reduce((sum, { lanes }) => plus(sum, lanes[lane]!), NO_RUNS)
    );
  }

  /** How slow attempts were against what is usual. */
  slowness(usual: readonly RunTimes[]): readonly [work: Estimate, typical: Estimate] {
    return slowness(this.slices.map(({ lanes }) => lanes), usual);
  }
}

/** What attempts usually take, by lane. */
export class Usual {
  /** How many attempts it rests on that were known to be good. */
  good = 0;
  #lanes: readonly RunTimes[] = [];

  /** Learns from attempts, that take the place of older ones: the first in any case, then good ones. */
  learn({ lanes }: Reading, isGood: boolean): void {
    if (isGood) this.good += sumOf(lanes, ({ count }) => count);
    this.#lanes = lanes.map((more, lane) => {
      const usual = this.#lanes[lane] ?? NO_RUNS;
      if (more.count === 0 || (!isGood && usual.count >= KNOWN)) return usual;
      return plus(more, usual, Math.min(1, Math.max(0, MEMORY - more.count) / usual.count)); // 1 of none
    });
  }

  /** What these attempts took is usual. */
  adopt({ lanes }: RunSample): void {
    this.good = KNOWN;
    this.#lanes = lanes.map((own, lane) => own.count > 0 ? own : this.#lanes[lane]!);
  }

  /** How slow attempts are, by the lanes that are known. */
  slowness(sample: RunSample): Estimate {
    const known = this.#lanes.map((own) => own.count < KNOWN ? NO_RUNS : own);
    return combined(...sample.slowness(known));
  }
}

function sumOf<Item>(items: readonly Item[], read: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + read(item), 0);
}
