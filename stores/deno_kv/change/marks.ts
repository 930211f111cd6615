/**
 * Requests to cancel jobs that a member runs.
 *
 * @module
 */

import type { Transaction } from "../transaction.ts";
import { MARK_BYTES, type Marks, type Membership } from "../members/membership.ts";

/** A cancel changes this key: a job goes on only if the key is unchanged. */
export function checkMarks(
  transaction: Transaction,
  { marks, marked }: Membership,
  unmarked: ReadonlySet<string>,
): void {
  transaction.check(marks);
  if (unmarked.size === 0) return;
  const left: Marks = [...marked].filter((mark) => !unmarked.has(mark)).map((mark) => {
    const [segment = "", index] = mark.split(".");
    return [segment, Number(index)];
  });
  if (left.length === 0) transaction.delete(marks.key);
  else transaction.set(marks.key, left, MARK_BYTES * left.length);
}
