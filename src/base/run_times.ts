/**
 * Sums of run times by lane, and how slow some are against others.
 *
 * @module
 */

import { type Estimate, ratioOfSums } from "./estimates.ts";

/** Attempts of a lane. */
export interface RunTimes {
  /** How many have ended. */
  readonly count: number;
  /** Time that workers spent on them, those that still run too, ms. */
  readonly ms: number;
  /** Sum of the logarithms of the run times of those that have ended. */
  readonly log: number;
}

/** None. */
export const NO_RUNS: RunTimes = { count: 0, ms: 0, log: 0 };

/** Adds `times` as many of `more`. */
export function plus({ count, ms, log }: RunTimes, more: RunTimes, times = 1): RunTimes {
  return {
    count: count + times * more.count,
    ms: ms + times * more.ms,
    log: log + times * more.log,
  };
}

/**
 * How slow attempts were, as the logarithm of a ratio to what is usual in their lanes, so that another mix
 * of lanes is no slow-down. Two ways: by worker time for each that ended, which throughput follows and
 * which leaves out none that still runs; and by the mean logarithm, whose variance is a quarter of that
 * for lognormal times of cv 3.
 *
 * @param slices Attempts by lane, of some slices of time: what makes those of one slice alike counts once.
 * @param usual What is usual, by lane; lanes without are left out. NaN if none has any.
 */
export function slowness(
  slices: readonly (readonly RunTimes[])[],
  usual: readonly RunTimes[],
): readonly [work: Estimate, typical: Estimate] {
  const pairs = slices.map((lanes) => {
    let [own, expected] = [NO_RUNS, NO_RUNS];
    lanes.forEach((runs, lane) => {
      const known = usual[lane]!; // both have all lanes
      if (known.count === 0) return;
      own = plus(own, runs);
      expected = plus(expected, known, runs.count / known.count);
    });
    return [own, expected] as const;
  });
  const { value, error } = ratioOfSums(pairs.map(([own, { ms }]) => [own.ms, ms]));
  const typical = ratioOfSums(pairs.map(([own, { log }]) => [own.log - log, own.count]));
  return [{ value: Math.log(value), error: error / value }, typical];
}
