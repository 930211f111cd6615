/**
 * The conformance check for lane policies.
 *
 * @module
 */

import { checkPurely, requireAtOnce, type StrategyCheckOptions } from "./purely.ts";
import { checkAgain } from "./steadily.ts";
import { bindSubject, fault, show, type Subject } from "./subject.ts";

/**
 * Checks that a lane policy picks one of the eligible lanes or none, over any view, changes nothing,
 * and gives the same answers to the same views.
 *
 * @throws {AssertionError} If it does not, with the view it failed on.
 */
export function checkLanePolicy(
  subject: Subject<"lane-policy">,
  options?: StrategyCheckOptions,
): void {
  const bound = bindSubject(subject);
  let hasServed = false;
  const ask: Parameters<typeof checkPurely<"lane-policy">>[1] = (policy, { view }, index) => {
    // Each choice of lanes comes up: bit by bit of the view's number.
    const some = view.lanes.filter((_, lane) => (index >> lane) % 2 === 1);
    const eligible = Object.freeze(some.length === 0 ? [...view.lanes] : some);
    const lane = policy(view, eligible);
    requireAtOnce(lane);
    if (lane !== undefined && !eligible.includes(lane)) {
      const names = eligible.map(({ name }) => `"${name}"`).join(", ");
      throw new TypeError(
        `Expected one of the eligible lanes (${names}) or undefined but received ${
          show(lane?.name ?? lane)
        }`,
      );
    }
    hasServed ||= lane !== undefined;
    return lane?.name;
  };
  checkPurely(bound, ask, options);
  checkAgain(bound, ask, options);
  if (!hasServed) {
    throw fault(bound, "Expected a lane of some view to be served but it never names one");
  }
}
