/**
 * The conformance check for controllers.
 *
 * @module
 */

import type { Controller, Proposal } from "../contract/strategy.ts";
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
 * Checks that a controller answers any view with a finite worker count and a reason, changes nothing,
 * gives the same answers to the same views, and asks for no more workers when it is asked again with
 * the same view.
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
  const bound = bindSubject(subject);
  checkPurely(bound, askController, options);
  checkSteadily(bound, (controller, named) => {
    const { workers } = askController(controller, named);
    return { workers };
  }, options);
}

function askController(controller: Controller, { view }: NamedView): Proposal {
  const proposal = controller(view);
  requireAtOnce(proposal);
  requireAmount("workers", proposal.workers, "finite");
  requireReason(proposal.reason);
  requireReview(proposal.reviewAtMs, view.nowMs);
  return proposal;
}
