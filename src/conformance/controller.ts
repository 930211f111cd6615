/**
 * The conformance check for controllers.
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
 * Checks that a controller answers any view with a finite worker count and a reason, changes nothing,
 * and gives the same answers to the same views.
 *
 * @throws {AssertionError} If it does not, with the view it failed on.
 *
 * @example
 * ```ts
 * import { checkController } from "@sluice/sluice/testing";
 * import { defineController } from "@sluice/sluice";
 *
 * const steady = defineController({
 *   name: "steady",
 *   create: () => (view) => ({ workers: view.busy + 1, reason: `${view.busy} busy` }),
 * });
 *
 * checkController(steady);
 * ```
 */
export function checkController(
  subject: Subject<"controller">,
  options?: StrategyCheckOptions,
): void {
  checkPurely(bindSubject(subject), (controller, { view }) => {
    const proposal = controller(view);
    requireAtOnce(proposal);
    requireAmount("workers", proposal.workers, "finite");
    requireReason(proposal.reason);
    requireReview(proposal.reviewAtMs, view.nowMs);
    return proposal;
  }, options);
}
