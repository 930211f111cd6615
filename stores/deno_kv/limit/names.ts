/**
 * The names of a job: its dedupe key, free once it has ended or as its mode has it, and its idempotency
 * key, which names it a while longer.
 *
 * @module
 */

import { GIVEN_UP, UNTIL_LEASED } from "../../../src/base/dedupe.ts";
import { IdempotencyError } from "../../../src/contract/errors.ts";
import { IDEMPOTENT_FOR_MS } from "../../../src/contract/job.ts";
import type { Added, JobEntry } from "../../../src/contract/store.ts";
import type { LineExtra } from "../record/codec.ts";
import { idOf, type StoredJob } from "../record/job.ts";
import type { PoolKeys } from "../record/keys.ts";
import type { Transaction } from "../transaction.ts";

/** How long a key that was a job's for a time is kept after that, ms: clocks differ. */
const WINDOW_KEPT_MS = 3_600_000;

/**
 * Who owns a key: id, and when that expires, 0 if never. With a fingerprint it is an idempotency key,
 * and once its job has ended it says until when it is remembered. An empty one is none: the key is the
 * job's until then, whether that has ended or not.
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

/** The names that are a stored job's until it ends, or until it is leased. */
export function namesIn({ d, f, n = d, i = UNTIL_LEASED }: Readonly<LineExtra>): readonly Name[] {
  const names: Name[] = n === undefined || f === undefined ? [] : [{ key: n, fingerprint: f }];
  const hasKey = d !== undefined && i === UNTIL_LEASED;
  if (hasKey && names[0]?.key !== d) names.push({ key: d, fingerprint: undefined });
  return names;
}

/** What a dead job is to have again once it lives again. */
export function keyAnew({ i }: Readonly<LineExtra>): Pick<LineExtra, "i"> {
  return i === GIVEN_UP ? { i: UNTIL_LEASED } : {};
}

/** True for a key that is a job's, because that has not ended or because its window has not. */
export function isTaken([, , fingerprint, untilMs]: Owner, nowMs: number): boolean {
  return untilMs === undefined || (fingerprint === "" && untilMs > nowMs);
}

/** What an entry is answered that has a name which is taken. */
export function answerOf({ key, fingerprint }: Name, owner: Owner): Added {
  const [id, , owned] = owner;
  if (fingerprint === undefined || !owned || owned === fingerprint) {
    return { id, duplicate: true };
  }
  return { id: "", duplicate: false, error: new IdempotencyError(key) };
}

/**
 * Gives a name to a job, with the commit. `expiresAtMs`: `Infinity` if the job never does. `keyUntilMs`: until
 * when its dedupe key is its own, as `keyUntil` says.
 */
export function own(
  transaction: Transaction,
  entry: Deno.KvEntryMaybe<Owner>,
  { fingerprint }: Name,
  job: {
    readonly id: string;
    readonly expiresAtMs: number;
    readonly keyUntilMs?: number | undefined;
  },
): Owner {
  transaction.check(entry);
  const { keyUntilMs = UNTIL_LEASED } = job;
  if (fingerprint === undefined && keyUntilMs > GIVEN_UP) {
    const owner: Owner = [job.id, 0, "", keyUntilMs];
    const expireIn = Math.ceil(Math.max(0, keyUntilMs - transaction.nowMs)) + WINDOW_KEPT_MS;
    transaction.set(entry.key, owner, ownerSize(owner), { expireIn });
    return owner;
  }
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
