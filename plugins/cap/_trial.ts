/**
 * A trial: the pool at another size for a while, compared with what it was.
 *
 * @module
 */

import { combined, type Estimate } from "../../src/base/estimates.ts";
import { MANY, type RunSample } from "./_sample.ts";

/** Standard errors that a change asks for: wrong one time in 44 at most. To stay takes one, the cheaper mistake. */
export const SURE = 2;
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
export class Trial {
  /** True once the pool was asked to have the new size. */
  isReached = false;

  constructor(
    readonly before: RunSample,
    readonly from: number,
    readonly to: number,
    readonly beganAtMs: number,
  ) {}

  /** Judges, others taken to be alike. @param isHeld Whether a bound holds the pool: then a tendency will do. */
  judge(here: RunSample, peers: number, isHeld: boolean): TrialVerdict {
    const { before, from, to } = this;
    const others = (peers - 1) * before.concurrency;
    const span = Math.log((here.concurrency + others) / (before.concurrency + others));
    const then = before.slowness(before.lanes);
    const [work, typical] = here.slowness(before.lanes).map(({ value, error }, way) => ({
      value: (value - then[way]!.value) / span,
      error: Math.hypot(error, then[way]!.error) / Math.abs(span),
    })) as [Estimate, Estimate]; // both of both
    const { value, error } = combined(work, typical);
    const margin = (e: number): number => to < from ? e - CROWDED : CROWDED - e;
    const isDone = here.slices.length >= MANY;
    // A change has to be seen both ways, and to be sure. Of a held pool one error has to do, to grow none.
    const errors = !isHeld || !isDone ? SURE : to < from ? 1 : 0;
    const isSeen = Math.min(margin(work.value), margin(typical.value)) > 0;
    const helps = isSeen && margin(value) > errors * error;
    const isOpen = !helps && !isDone && margin(value) > -error;
    return { value, error, span, helps: isOpen ? undefined : helps };
  }
}
