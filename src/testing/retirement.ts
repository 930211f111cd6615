/**
 * The conformance check for retirements.
 *
 * @module
 */

import { checkPurely, requireAtOnce, type StrategyCheckOptions } from "./purely.ts";
import { checkAgain } from "./steadily.ts";
import { bindSubject, show, type Subject } from "./subject.ts";

/**
 * Checks that a retirement names workers that exist, each once, over any view and excess, changes
 * nothing, gives the same answers to the same views, and again to the same call.
 *
 * @throws {AssertionError} If it does not, with the view it failed on.
 */
export function checkRetirement(
  subject: Subject<"retirement">,
  options?: StrategyCheckOptions,
): void {
  const bound = bindSubject(subject);
  const ask: Parameters<typeof checkPurely<"retirement">>[1] = (retirement, { view }, index) => {
    const excess = index % (view.workers.length + 1);
    const ids: unknown = retirement(view, excess);
    requireAtOnce(ids);
    if (!Array.isArray(ids)) {
      throw new TypeError(`Expected a list of ids but received ${show(ids)}`);
    }
    const known = new Set<unknown>(view.workers.map((worker) => worker.id));
    for (const id of ids) {
      if (!known.has(id)) {
        throw new TypeError(`Expected ids of workers but received ${show(id)}`);
      }
    }
    if (new Set(ids).size < ids.length) {
      throw new TypeError(`Expected each id once but received ${show(ids)}`);
    }
    return ids;
  };
  checkPurely(bound, ask, options);
  checkAgain(bound, ask, options);
}
