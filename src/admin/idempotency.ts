/**
 * The `Idempotency-Key` header of an enqueue: another way to send a `dedupeKey`.
 *
 * A request that is sent again with the same key, because nobody knows whether the first one arrived,
 * finds the job of the first as long as that has not ended, and is answered `duplicateOf`. Once it has
 * ended the key is free, as a `dedupeKey` is: who must not have a job run twice looks at
 * `idempotencyKey` in the handler too. Of many jobs at once each gets the key with its place.
 *
 * @module
 */

import { isRecord } from "../config/faults.ts";
import type { ProblemError } from "./api.ts";

/** Longest key, characters: room is left for the place of a job among many. */
const LONGEST = 1_000;

/**
 * Gives a job, or each of many, the key of the header as its `dedupeKey`.
 *
 * @param body What was sent; changed in place.
 * @param header Value of the header, with or without the quotes that its standard asks for.
 * @returns The fault, if the key is none or contradicts the body. Then nothing was changed.
 */
export function giveKey(body: unknown, header: string): ProblemError | undefined {
  const key = header.replace(/^"(.*)"$/, "$1");
  if (key === "" || key.length > LONGEST) {
    const given = key === "" ? "none" : `${key.length}`;
    return fault(`Expected a key of 1 to ${LONGEST} characters but received ${given}`);
  }
  if (Array.isArray(body)) {
    for (const [place, job] of body.entries()) {
      if (isRecord(job) && !Object.hasOwn(job, "dedupeKey")) setKey(job, `${key}#${place}`);
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
