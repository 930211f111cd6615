/**
 * The names of a job: its dedupe key, free once it has ended, and its idempotency key, which names it
 * a while longer.
 *
 * @module
 */

import { IdempotencyError } from "../../../src/contract/errors.ts";
import { IDEMPOTENT_FOR_MS } from "../../../src/contract/job.ts";
import type { Added, JobEntry } from "../../../src/contract/store.ts";
import type { LineExtra } from "../record/codec.ts";
import { idOf, type StoredJob } from "../record/job.ts";
import type { PoolKeys } from "../record/keys.ts";
import type { Transaction } from "../transaction.ts";

/**
 * Who owns a key: id, and when that expires, 0 if never. With a fingerprint it is an idempotency key,
 * and once its job has ended it says until when it is remembered.
 */
export type Owner = readonly [
  id: string,
  expiresAtMs: number,
  fingerprint?: string,
  untilMs?: number,
];

/** The owner in the database. `undefined`: there is none, or it cannot be read. */
export function ownerAt(value: unknown): Owner | undefined {
  if (!Array.isArray(value)) return undefined;
  const [id, expiresAtMs, fingerprint = "", untilMs = 0] = value;
  const isOwner = typeof id === "string" && typeof expiresAtMs === "number" &&
    typeof fingerprint === "string" && typeof untilMs === "number";
  return isOwner ? value as unknown as Owner : undefined; // it was just looked at
}

/** A key of a job. `fingerprint`: of the request, if it is an idempotency key. */
export interface Name {
  /** The key. */
  readonly key: string;
  /** Of the request, if it is an idempotency key. `undefined`: it is a dedupe key only. */
  readonly fingerprint: string | undefined;
}

/** The names by which an entry may be a duplicate, the one that is remembered first. */
export function namesOf({ dedupeKey, idempotency }: JobEntry): readonly Name[] {
  const names: Name[] = idempotency === undefined ? [] : [idempotency];
  if (dedupeKey !== undefined && dedupeKey !== idempotency?.key) {
    names.push({ key: dedupeKey, fingerprint: undefined });
  }
  return names;
}

/** The names of a stored job. */
export function namesIn({ d, f, n = d }: Readonly<LineExtra>): readonly Name[] {
  const names: Name[] = n === undefined || f === undefined ? [] : [{ key: n, fingerprint: f }];
  if (d !== undefined && names[0]?.key !== d) names.push({ key: d, fingerprint: undefined });
  return names;
}

/** What an entry is answered that has a name which is taken. */
export function answerOf({ key, fingerprint }: Name, owner: Owner): Added {
  const [id, , owned] = owner;
  if (fingerprint === undefined || owned === undefined || owned === fingerprint) {
    return { id, duplicate: true };
  }
  return { id: "", duplicate: false, error: new IdempotencyError(key) };
}

/** Gives a name to a job, with the commit. `expiresAtMs`: `Infinity` if the job never does. */
export function own(
  transaction: Transaction,
  entry: Deno.KvEntryMaybe<Owner>,
  { fingerprint }: Name,
  job: { readonly id: string; readonly expiresAtMs: number },
): Owner {
  transaction.check(entry);
  const expiresAtMs = Number.isFinite(job.expiresAtMs) ? job.expiresAtMs : 0;
  const owner: Owner = fingerprint === undefined
    ? [job.id, expiresAtMs]
    : [job.id, expiresAtMs, fingerprint];
  transaction.set(entry.key, owner, ownerSize(owner));
  return owner;
}

/** Frees the names of a job that ends, with the commit; its idempotency key names it a while longer. */
export function freeNames(
  transaction: Transaction,
  keys: PoolKeys,
  job: StoredJob,
  extra: Readonly<LineExtra>,
): void {
  for (const { key: name, fingerprint } of namesIn(extra)) {
    const key = keys.of("i", name);
    if (fingerprint === undefined) {
      transaction.delete(key);
      continue;
    }
    const owner: Owner = [idOf(job), 0, fingerprint, transaction.nowMs + IDEMPOTENT_FOR_MS];
    transaction.set(key, owner, ownerSize(owner), { expireIn: 2 * IDEMPOTENT_FOR_MS });
  }
}

/** About how many bytes an owner takes. */
export function ownerSize([, , fingerprint = ""]: Owner): number {
  return 64 + 3 * fingerprint.length;
}
