/**
 * The conformance check for caps.
 *
 * @module
 */

import { checkPurely, requireAtOnce, type StrategyCheckOptions } from "./purely.ts";
import {
  bindSubject,
  requireAmount,
  requireReason,
  requireReview,
  type Subject,
} from "./subject.ts";

/**
 * Checks that a cap answers any view with bounds and a reason, changes nothing, and gives the same
 * answers to the same views.
 *
 * @throws {AssertionError} If it does not, with the view it failed on.
 */
export function checkCap(subject: Subject<"cap">, options?: StrategyCheckOptions): void {
  checkPurely(bindSubject(subject), (cap, { view }, index) => {
    const limit = cap(view, index % (view.size.max + 1));
    requireAtOnce(limit);
    requireAmount("workers", limit.workers, "any");
    if (limit.startsPerSec !== undefined) {
      requireAmount("startsPerSec", limit.startsPerSec, "any");
    }
    requireReason(limit.reason);
    requireReview(limit.reviewAtMs, view.nowMs);
    return limit;
  }, options);
}
