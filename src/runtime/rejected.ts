/**
 * Jobs that are rejected, unless the store has them already.
 *
 * @module
 */

import { type Clock, wallMs } from "../time/clock.ts";
import type { RejectedError } from "../contract/errors.ts";
import type { Added, JobEntry, MaybePromise, Queue } from "../contract/store.ts";
import { storeCall } from "./store_call.ts";
import type { Lane } from "./lane.ts";
import { isPromise } from "./store_guard.ts";

/** A job that is rejected if it is no duplicate. */
export interface Rejected {
  /** The job. */
  readonly entry: JobEntry;
  /** Its lane. */
  readonly lane: Lane;
  /** Why it is rejected. */
  readonly error: RejectedError;
}

/** True for a job that may be a duplicate. */
export function mayBeDuplicate({ dedupeKey, idempotency }: JobEntry): boolean {
  return dedupeKey !== undefined || idempotency !== undefined;
}

/**
 * What the store answers a job that it has already. `undefined`: it has not, or cannot tell.
 */
export function knownJob(
  queue: Queue,
  { entry }: Rejected,
  clock: Clock,
): MaybePromise<Added | undefined> {
  if (!mayBeDuplicate(entry)) return undefined;
  try {
    const answer = queue.duplicateOf?.(entry, wallMs(clock));
    return isPromise(answer) ? storeCall(clock, () => answer).catch(() => undefined) : answer;
  } catch {
    return undefined; // rejected, to come again: the pool's own calls tell of the fault
  }
}
