/**
 * Waits for a store on behalf of someone who asks, but not for ever.
 *
 * @module
 */

import { type Clock, within } from "../clock.ts";
import { messageOf, StoreError } from "../errors.ts";
import { isPromise } from "./store_guard.ts";
import type { MaybePromise } from "../store.ts";

/** How long a store may take to answer one who looks at jobs, changes one or pauses, ms. */
export const STORE_ANSWERS_WITHIN_MS = 5_000;

/**
 * What the store answers.
 *
 * @throws {StoreError} If it fails, or does not answer in time: what was asked for may still be done then.
 */
export async function asked<T>(clock: Clock, call: () => MaybePromise<T>): Promise<T> {
  try {
    const answer = call();
    if (!isPromise(answer)) return answer;
    const ms = STORE_ANSWERS_WITHIN_MS;
    return await within(clock, answer, { ms, late: `No answer within ${ms} ms` });
  } catch (thrown) {
    throw new StoreError(thrown, `The store failed: ${messageOf(thrown)}`);
  }
}
