/**
 * A trial: the pool at another size for a while, compared with what it was.
 *
 * @module
 */

import { combined, type Estimate } from "../../src/base/estimates.ts";
import { MANY, type RunSample } from "./_sample.ts";

/** Standard errors that a change asks for: wrong one time in 44 at most. To stay takes one, the cheaper mistake. */
export const SURE = 2;
/** And odds for e = 1 against 0, times processes: all that look, each as often as it likes, err so rarely (Wald). */
const ODDS = 44;
/** Between workers that bring all that they could (e = 0) and nothing (e = 1). */
export const CROWDED = 0.5;

/** e = ln(S'/S) / ln(n'/n): at 0 workers add throughput, at 1 they add none, above they cost some. */
export interface TrialVerdict extends Estimate {
  /** ln(n'/n), with n the busy workers of all processes. */
  readonly span: number;
  /** True if the pool is better off at the new size. `undefined`: not to be told yet. */
  readonly helps: boolean | undefined;
}

/** Two sizes that are compared. */
export interface Trial {
  /** Attempts at the size that it had. */
  readonly before: RunSample;
  readonly from: number;
  readonly to: number;
  readonly beganAtMs: number;
}

/** Judges, others taken to be alike. @param isHeld Whether a bound holds the pool: then a tendency will do. */
export function judge(
  { before, from, to }: Trial,
  here: RunSample,
  peers: number,
  isHeld: boolean,
): TrialVerdict {
  const others = (peers - 1) * before.concurrency;
  const span = Math.log((here.concurrency + others) / (before.concurrency + others));
  const then = before.slowness(before.lanes);
  const [work, typical] = here.slowness(before.lanes).map(({ value, error }, way) => ({
    value: value / span,
    error: Math.hypot(error, then[way]!.error) / Math.abs(span),
  })) as [Estimate, Estimate]; // both of both
  const { value, error } = combined(work, typical);
  const margin = (e: number): number => to < from ? e - CROWDED : CROWDED - e;
  const isDone = here.slices.length >= MANY;
  // A change has to be seen both ways, and to be sure. Of a held pool one error has to do, to grow none.
  const sure = Math.max(SURE * error, Math.log(ODDS * peers) * error ** 2);
  const least = !isHeld || !isDone ? sure : to < from ? error : 0;
  const isSeen = Math.min(margin(work.value), margin(typical.value)) > 0;
  const helps = isSeen && margin(value) > least;
  const isOpen = !helps && !isDone && margin(value) > -error;
  return { value, error, span, helps: isOpen ? undefined : helps };
}
