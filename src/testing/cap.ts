/**
 * The conformance check for caps.
 *
 * @module
 */

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
    const { workers, startsPerSec = Infinity } = askCap(cap, named, index);
    return { workers, startsPerSec };
  }, options);
}

function askCap(cap: Cap, { view }: NamedView, index: number): Limit {
  const limit = cap(view, index % (view.size.max + 1));
  requireAtOnce(limit);
  requireAmount("workers", limit.workers, "any");
  if (limit.startsPerSec !== undefined) {
    requireAmount("startsPerSec", limit.startsPerSec, "any");
  }
  requireReason(limit.reason);
  requireReview(limit.reviewAtMs, view.nowMs);
  return limit;
}
