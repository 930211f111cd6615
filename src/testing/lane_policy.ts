/**
 * The conformance check for lane policies.
 *
 * @module
 */

import { checkPurely, requireAtOnce, type StrategyCheckOptions } from "./purely.ts";
import { bindSubject, show, type Subject } from "./subject.ts";

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
  checkPurely(bindSubject(subject), (policy, { view }, index) => {
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
    return lane?.name;
  }, options);
}
