/**
 * Requests to cancel jobs that a worker runs.
 *
 * @module
 */

import type { Step } from "../step.ts";
import { MARK_BYTES, type Marks, type Term } from "../members/term.ts";

/** Whoever cancels changes this key: a job that goes on does so only if nobody has. */
export function checkMarks(
  step: Step,
  { marks, marked }: Term,
  unmarked: ReadonlySet<string>,
): void {
  step.check(marks);
  if (unmarked.size === 0) return;
  const left: Marks = [...marked].filter((mark) => !unmarked.has(mark)).map((mark) => {
    const [segment = "", index] = mark.split(".");
    return [segment, Number(index)];
  });
  if (left.length === 0) step.delete(marks.key);
  else step.set(marks.key, left, MARK_BYTES * left.length);
}
