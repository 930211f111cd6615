/**
 * The `Idempotency-Key` header of an enqueue.
 *
 * A request that is sent again with the same key, because nobody knows whether the first one arrived,
 * finds the job of the first and is answered `duplicateOf`: until that has ended, and for a while after.
 * The store holds the keys. The key of a single job is its `dedupeKey` too, unless it has one of its own;
 * of many jobs at once each gets the key with its place.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { isRecord } from "../../config/faults.ts";
import type { Idempotency, NewJob } from "../../contract/job.ts";
import type { ProblemError } from "../http/wire.ts";

/** Longest key, characters: room is left for the place of a job among many. */
const LONGEST = 1_000;

/** The key in a header: with or without the quotes that its standard asks for. */
export function keyIn(header: string): string {
  return header.replace(/^"(.*)"$/, "$1");
}

/**
 * What a request is known by.
 *
 * @param body What was sent: the order of its members does not count.
 * @returns The key with a hash of the body, or the fault.
 */
export function idempotencyOf(header: string, body: unknown): Idempotency | ProblemError {
  const key = keyIn(header);
  if (key === "" || key.length > LONGEST) {
    const given = key === "" ? "none" : `${key.length}`;
    return fault(`Expected a key of 1 to ${LONGEST} characters but received ${given}`);
  }
  let text: string;
  try {
    text = JSON.stringify(isRecord(body) ? { dedupeKey: key, ...body } : body, inOrder);
  } catch {
    return { pointer: "", detail: "The body is nested too deeply: flatten it" };
  }
  return { key, fingerprint: createHash("sha256").update(text).digest("base64url").slice(0, 22) };
}

/** Gives one of many jobs, and only it, the key with its place. */
export function keyAt(job: NewJob, place: number, { key, fingerprint }: Idempotency): NewJob {
  const own = `${key}#${place}`;
  return { dedupeKey: own, ...job, idempotency: { key: own, fingerprint } };
}

/** Puts members of objects in order: another order is the same body. */
function inOrder(_name: string, value: unknown): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1));
}

function fault(detail: string): ProblemError {
  return { pointer: "Idempotency-Key", detail };
}
