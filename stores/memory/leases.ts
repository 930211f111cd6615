/**
 * How leases end: settled by their member, handed back, or taken from a dead one.
 *
 * @module
 */

import type { Settlement } from "../../src/contract/store.ts";
import type { MemoryMember } from "./member.ts";
import { CANCELLED, DEAD, DONE, type MemoryJob } from "./job.ts";
import type { MemoryPool } from "./pool.ts";

/** Ends a lease as its member says. True if a job has become claimable by it, or will. */
export function settleLease(
  pool: MemoryPool,
  job: MemoryJob,
  settlement: Settlement,
  nowMs: number,
): boolean {
  if (!settlement.charged) job.attempt--;
  if (settlement.error !== undefined) job.ownExtra().error = settlement.error;
  else if (settlement.to === "done" && job.extra !== undefined) job.extra.error = undefined;
  const { history } = settlement;
  if (history !== undefined) job.ownExtra().past = { ...job.extra?.past, history };
  if (settlement.resultError !== undefined) job.ownExtra().resultError = settlement.resultError;
  const goesOn = settlement.to === "retry" || settlement.to === "back";
  const to = goesOn && job.extra?.cancelling === true ? "cancelled" : settlement.to;
  const { dueAtMs } = settlement;
  const beganAtMs = job.home.counts(job) ? settlement.beganAtMs : undefined;
  if (to === "back") {
    if (beganAtMs === undefined) job.home.putBack(job);
    else job.home.keep(job, beganAtMs, nowMs, nowMs);
    return true;
  }
  const keepsSlot = to === "retry" && settlement.keepsSlot === true;
  if (keepsSlot) {
    job.defer(nowMs);
    if (beganAtMs !== undefined) job.home.keep(job, beganAtMs, dueAtMs, nowMs);
    else {
      job.ownExtra().keepsSlot = true;
      job.home.again(job, dueAtMs, nowMs);
    }
    return true;
  }
  const freed = job.home.release(job, nowMs, beganAtMs);
  switch (to) {
    case "retry":
      job.defer(nowMs);
      job.home.again(job, dueAtMs, nowMs);
      return true;
    case "done":
      pool.end(job, DONE, nowMs, settlement.result);
      return freed;
    case "dead":
      pool.end(job, DEAD, nowMs, undefined, settlement.reason);
      return freed;
    case "cancelled":
      pool.end(job, CANCELLED, nowMs);
      return freed;
  }
}

/** Puts all jobs of a member that leaves back to where they were, uncharged. */
export function handBackAll(pool: MemoryPool, member: MemoryMember, nowMs: number): void {
  for (const job of newestFirst(member.held)) {
    member.letGo(job);
    job.attempt--;
    requeue(pool, job, nowMs);
  }
}

/**
 * Takes all jobs from a dead member. The attempt stays charged: if it was the last, the job is dead.
 *
 * @param attempts Attempts of a job by lane ordinal.
 * @returns How many jobs were taken.
 */
export function takeAll(
  pool: MemoryPool,
  member: MemoryMember,
  attempts: readonly (number | undefined)[],
  nowMs: number,
): number {
  pool.members.delete(member);
  member.joined = false;
  member.lost = true;
  const lost = newestFirst(member.held);
  for (const zombie of lost) {
    member.letGo(zombie);
    const job = pool.replace(zombie);
    job.fate = zombie.fate;
    zombie.fate = undefined;
    const mayRun = job.attempt < (attempts[job.home.ordinal] ?? Infinity);
    if (mayRun || job.extra?.cancelling === true) requeue(pool, job, nowMs);
    else {
      job.home.release(job, nowMs, nowMs);
      pool.endUnsettled(job, DEAD, nowMs, "attempts");
    }
  }
  return lost.length;
}

/** Nobody says whether its attempt began: where starts count it did, now at the latest. */
function requeue(pool: MemoryPool, job: MemoryJob, nowMs: number): void {
  if (job.extra?.cancelling !== true) {
    if (job.home.counts(job)) job.home.keep(job, nowMs, nowMs, nowMs);
    else job.home.putBack(job);
    return;
  }
  job.home.release(job, nowMs, nowMs);
  pool.endUnsettled(job, CANCELLED, nowMs);
}

/** In the order in which putting each at the front takes one step. */
function newestFirst(jobs: readonly MemoryJob[]): MemoryJob[] {
  return [...jobs].sort((a, b) => b.readyAtMs - a.readyAtMs || b.sequence - a.sequence);
}
