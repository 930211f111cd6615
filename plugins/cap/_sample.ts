/**
 * What attempts take at one size of the pool, with its standard error, and what they usually take.
 *
 * @module
 */

import { combined, type Estimate, ratioOfSums } from "../../src/base/estimates.ts";
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

/** Attempts whose run time counts, their worker time in ms, and the sum of the logarithms of their run times. */
interface Runs {
  readonly count: number;
  readonly ms: number;
  readonly log: number;
}

const NONE: Runs = { count: 0, ms: 0, log: 0 };

/** Figures up to a moment, or between two. `behind`: jobs that wait, and those rejected. */
export interface Reading {
  readonly atMs: number;
  readonly ended: number;
  readonly busyMs: number;
  readonly behind: number;
  readonly lanes: readonly Runs[];
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

function plus({ count, ms, log }: Runs, more: Runs, times: number): Runs {
  return {
    count: count + times * more.count,
    ms: ms + times * more.ms,
    log: log + times * more.log,
  };
}

/** Run times at one size, in slices of time: attempts that a hiccup makes alike count once. */
export class RunSample {
  slices: readonly Reading[] = [];
  /** The reading that ended its last slice. */
  until: Reading;

  /** @param begun The reading it begins with. */
  constructor(readonly begun: Reading) {
    this.until = begun;
  }

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
  get lanes(): readonly Runs[] {
    return this.begun.lanes.map((_, lane) =>
      this.slices.reduce((sum, { lanes }) => plus(sum, lanes[lane]!, 1), NONE)
    );
  }

  /**
   * How slow attempts were, as a logarithm, lane by lane against what is usual (else NaN), two ways: by
   * worker time for each that ended, which throughput follows and which leaves out none that still runs;
   * and by the mean logarithm, whose variance is a quarter of that at cv 3.
   */
  slowness(usual: readonly Runs[]): readonly [work: Estimate, typical: Estimate] {
    const slices = this.slices.map(({ lanes }) => {
      const known = lanes.filter((_, lane) => usual[lane]!.count > 0);
      const expected = lanes.reduce((sum, { count }, lane) => { // as usual
        const own = usual[lane]!; // both have all lanes
        return own.count > 0 ? plus(sum, own, count / own.count) : sum;
      }, NONE);
      return [known.reduce((sum, runs) => plus(sum, runs, 1), NONE), expected] as const;
    });
    const { value, error } = ratioOfSums(slices.map(([own, as]) => [own.ms, as.ms]));
    const typical = ratioOfSums(slices.map(([own, as]) => [own.log - as.log, own.count]));
    return [{ value: Math.log(value), error: error / value }, typical];
  }
}

/** What attempts usually take, by lane. */
export class Usual {
  /** How many attempts it rests on that were known to be good. */
  good = 0;
  #lanes: readonly Runs[];

  constructor(lanes: number) {
    this.#lanes = Array.from({ length: lanes }, () => NONE);
  }

  /** Learns from attempts, that take the place of older ones: the first in any case, then good ones. */
  learn({ lanes }: Reading, isGood: boolean): void {
    if (isGood) this.good += sumOf(lanes, ({ count }) => count);
    this.#lanes = this.#lanes.map((usual, lane) => {
      const more = lanes[lane]!; // both have all lanes
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
    return combined(...sample.slowness(this.#lanes.map((own) => own.count < KNOWN ? NONE : own)));
  }
}

function sumOf<Item>(items: readonly Item[], read: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + read(item), 0);
}
