/**
 * Store calls with a timeout, for requests of users.
 *
 * @module
 */

import { type Clock, within } from "../time/clock.ts";
import { messageOf, StoreError } from "../contract/errors.ts";
import { isPromise } from "./store_guard.ts";
import type { MaybePromise } from "../contract/store.ts";

/** How long a store may take to answer one who looks at jobs, changes one, pauses or reloads, ms. */
export const STORE_ANSWERS_WITHIN_MS = 5_000;

/**
 * What the store answers to a question.
 *
 * @throws {StoreError} If it fails, or does not answer in time.
 */
export async function storeCall<T>(clock: Clock, call: () => MaybePromise<T>): Promise<T> {
  try {
    return await inTime(clock, call);
  } catch (thrown) {
    throw storeFault(thrown);
  }
}

/**
 * What the store answers to a change.
 *
 * @throws {StoreError} If it fails, or does not answer in time: it may be done all the same.
 */
export async function storeChange<T>(clock: Clock, call: () => MaybePromise<T>): Promise<T> {
  try {
    return await inTime(clock, call);
  } catch (thrown) {
    const { message } = storeFault(thrown);
    // It may have reached the store, or reach it yet.
    const unsure = `${message}; it may have taken effect, so check before you try again`;
    throw new StoreError(thrown, unsure, { mayBeDone: true });
  }
}

/**
 * What the store answers while a pool opens, closes or changes its lanes.
 *
 * @param ms How long it may take.
 * @throws {StoreError} If it fails, or does not answer in time.
 */
export async function answered<T>(
  clock: Clock,
  ms: number,
  call: () => MaybePromise<T>,
): Promise<T> {
  try {
    return await inTime(clock, call, ms);
  } catch (thrown) {
    throw storeFault(thrown, ms);
  }
}

async function inTime<T>(
  clock: Clock,
  call: () => MaybePromise<T>,
  ms = STORE_ANSWERS_WITHIN_MS,
): Promise<T> {
  const answer = call();
  if (!isPromise(answer)) return answer;
  return await within(clock, answer, { ms, late: lateAfter(ms) });
}

function lateAfter(ms: number): string {
  return `No answer within ${ms} ms`;
}

function storeFault(thrown: unknown, ms = STORE_ANSWERS_WITHIN_MS): StoreError {
  if (thrown instanceof StoreError) return thrown;
  const message = messageOf(thrown);
  return new StoreError(thrown, `The store failed: ${message}`, {
    isLate: message === lateAfter(ms),
  });
}
