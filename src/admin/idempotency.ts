/**
 * The `Idempotency-Key` header of an enqueue: a `dedupeKey` that is remembered.
 *
 * A request that is sent again with the same key, because nobody knows whether the first one arrived,
 * finds the job of the first and is answered `duplicateOf`. As long as that has not ended the store sees
 * to it, as with any `dedupeKey`; for a while after, this process remembers it (`remembered.ts`). Past
 * that, or after a restart, the key is free: who must not have a thing done twice makes the handler
 * look. Of many jobs at once each gets the key with its place.
 *
 * @module
 */

import { isRecord } from "../config/faults.ts";
import type { ProblemError } from "./api.ts";

/** Longest key, characters: room is left for the place of a job among many. */
const LONGEST = 1_000;

/** The key in a header: with or without the quotes that its standard asks for. */
export function keyIn(header: string): string {
  return header.replace(/^"(.*)"$/, "$1");
}

/** The key of one job of many. */
export function keyAt(key: string, place: number): string {
  return `${key}#${place}`;
}

/**
 * Gives a job, or each of many, the key of the request as its `dedupeKey`.
 *
 * @param body What was sent; changed in place.
 * @returns The fault, if the key is none or contradicts the body. Then nothing was changed.
 */
export function giveKey(body: unknown, key: string): ProblemError | undefined {
  if (key === "" || key.length > LONGEST) {
    const given = key === "" ? "none" : `${key.length}`;
    return fault(`Expected a key of 1 to ${LONGEST} characters but received ${given}`);
  }
  if (Array.isArray(body)) {
    for (const [place, job] of body.entries()) {
      if (isRecord(job) && !Object.hasOwn(job, "dedupeKey")) setKey(job, keyAt(key, place));
    }
    return undefined;
  }
  if (!isRecord(body)) return undefined;
  if (Object.hasOwn(body, "dedupeKey") && body["dedupeKey"] !== key) {
    return fault(
      "The header and the dedupeKey of the job differ: send one of them, or both the same",
    );
  }
  setKey(body, key);
}

function setKey(job: Readonly<Record<string, unknown>>, key: string): void {
  Object.assign(job, { dedupeKey: key }); // it was read from this very request: no one else has it
}

function fault(detail: string): ProblemError {
  return { pointer: "Idempotency-Key", detail };
}
