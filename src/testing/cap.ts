/**
 * The conformance check for caps.
 *
 * @module
 */

import { judgeRates } from "../base/answers.ts";
import type { Cap, Limit } from "../contract/strategy.ts";
import type { NamedView } from "./_views.ts";
import { checkPurely, requireAtOnce, type StrategyCheckOptions } from "./purely.ts";
import { checkSteadily } from "./steadily.ts";
import {
  bindSubject,
  requireAmount,
  requireReason,
  requireReview,
  type Subject,
} from "./subject.ts";

/**
 * Checks that a cap answers any view with bounds and a reason, changes nothing, gives the same answers
 * to the same views, and allows no more when it is asked again with the same view.
 *
 * @throws {AssertionError} If it does not, with the view it failed on.
 */
export function checkCap(subject: Subject<"cap">, options?: StrategyCheckOptions): void {
  const bound = bindSubject(subject);
  checkPurely(bound, askCap, options);
  checkSteadily(bound, (cap, named, index) => {
    const { workers, startsPerSec = Infinity, rates = [] } = askCap(cap, named, index);
    const perWindow = rates.map(({ starts, perMs }) => [`starts in ${perMs} ms`, starts] as const);
    return { workers, startsPerSec, ...Object.fromEntries(perWindow) };
  }, options);
}

function askCap(cap: Cap, { view }: NamedView, index: number): Limit {
  const limit = cap(view, index % (view.size.max + 1));
  requireAtOnce(limit);
  requireAmount("workers", limit.workers, "any");
  if (limit.startsPerSec !== undefined) {
    requireAmount("startsPerSec", limit.startsPerSec, "any");
  }
  if (limit.rates !== undefined) judgeRates(limit.rates);
  requireReason(limit.reason);
  requireReview(limit.reviewAtMs, view.nowMs);
  return limit;
}
