/**
 * The conformance check for admissions.
 *
 * @module
 */

import { checkPurely, requireAtOnce, type StrategyCheckOptions } from "./purely.ts";
import { checkAgain } from "./steadily.ts";
import { bindSubject, requireAmount, requireReason, show, type Subject } from "./subject.ts";

/**
 * Checks that an admission answers for any lane and view, with a reason and a time to come back where
 * it refuses, changes nothing, gives the same answers to the same views, and again to the same call.
 *
 * @throws {AssertionError} If it does not, with the view it failed on.
 */
export function checkAdmission(
  subject: Subject<"admission">,
  options?: StrategyCheckOptions,
): void {
  const bound = bindSubject(subject);
  const ask: Parameters<typeof checkPurely<"admission">>[1] = (admission, { view }) =>
    view.lanes.map((lane) => {
      const job = Object.freeze({ lane: lane.name, payload: null });
      const verdict = admission.submit(job, view);
      requireAtOnce(verdict);
      if (typeof verdict?.admit !== "boolean") {
        throw new TypeError(`Expected a verdict with admit but received ${show(verdict)}`);
      }
      if (!verdict.admit) {
        requireAmount("retryAfterMs", verdict.retryAfterMs, "finite");
        requireReason(verdict.reason);
      }
      const takes = [0, lane.oldestWaitMs, 1e9].map((ageMs) => admission.take?.(lane, ageMs, view));
      for (const take of takes) {
        if (admission.take !== undefined && typeof take !== "boolean") {
          throw new TypeError(`Expected take() to answer true or false but received ${show(take)}`);
        }
      }
      return [verdict, takes];
    });
  checkPurely(bound, ask, options);
  checkAgain(bound, ask, options);
}
