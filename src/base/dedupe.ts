/**
 * Dedupe modes: how long a dedupe key is its job's, and what another job with the same key does to that
 * job.
 *
 * @module
 */

import type { JobEntry } from "../contract/store.ts";

/** In place of a time: the key is its job's until that is leased for the first time. */
export const UNTIL_LEASED = -1;

/** The key is its job's no more: that has been leased. */
export const GIVEN_UP = 0;

/**
 * Until when the dedupe key of a new job is its own, whether it ends before or not: a time, or
 * `UNTIL_LEASED`. `undefined`: until it has ended. So is a key that is the idempotency key too.
 */
export function keyUntil(
  { dedupe, dedupeKey, idempotency }: JobEntry,
  nowMs: number,
): number | undefined {
  if (dedupe === undefined || dedupeKey === undefined || dedupeKey === idempotency?.key) {
    return undefined;
  }
  if (dedupe.mode === "until-end") return undefined;
  return dedupe.mode === "window" ? Math.ceil(nowMs + (dedupe.windowMs ?? 0)) : UNTIL_LEASED;
}

/** True if a job puts its payload in the place of that of an earlier one with the same key. */
export function replaces({ dedupe, dedupeKey, idempotency }: JobEntry): boolean {
  const isMode = dedupe?.mode === "replace" || dedupe?.mode === "debounce";
  return isMode && dedupeKey !== undefined && dedupeKey !== idempotency?.key;
}

/** When a delayed job is due once another one has replaced its payload: never before it was. */
export function dueAgain(
  { dedupe, dueAtMs }: JobEntry,
  job: { readonly createdAtMs: number; readonly dueAtMs: number },
): number {
  if (dedupe?.mode !== "debounce") return job.dueAtMs;
  return Math.max(job.dueAtMs, Math.min(dueAtMs, job.createdAtMs + (dedupe.maxMs ?? 0)));
}
