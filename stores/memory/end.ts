/**
 * What is to become of a job: those who wait for its end, then the end.
 *
 * @module
 */

import type { DeadReason, Outcome } from "../../src/contract/job.ts";
import type { MemoryMember } from "./member.ts";

/** Tells someone how the job ended. */
export type Resolve = (outcome: Outcome) => void;

/**
 * Who waits for the end of a job. A bare function, which takes the least room, is someone who
 * asked through the pool's main member.
 */
export type EndWaiter = MemberWaiter | Resolve;

/** Someone who asked through any member. */
export class MemberWaiter {
  /** Through which one. */
  readonly by: MemoryMember;
  /** Tells how the job ended. */
  readonly resolve: Resolve;
  /** Who else waits. */
  readonly next: EndWaiter | undefined;

  /** Puts itself before `next`. */
  constructor(by: MemoryMember, resolve: Resolve, next: EndWaiter | undefined) {
    this.by = by;
    this.resolve = resolve;
    this.next = next;
  }
}

/** The end of a job. */
export class MemoryEnd {
  /** When it ended. */
  readonly atMs: number;
  /** What the handler returned. */
  readonly result: unknown;
  /** Why it is dead. */
  readonly reason: DeadReason | undefined;

  /** Notes the end. */
  constructor(atMs: number, result: unknown, reason: DeadReason | undefined) {
    this.atMs = atMs;
    this.result = result;
    this.reason = reason;
  }
}

/** Tells all who wait. */
export function tellWaiting(waiting: EndWaiter, outcome: Outcome): void {
  let one: EndWaiter | undefined = waiting;
  for (; one instanceof MemberWaiter; one = one.next) one.resolve(outcome);
  one?.(outcome);
}

/** Tells those who asked through `by` that they wait in vain. Who still waits. */
export function forsakeWaiting(
  waiting: EndWaiter,
  by: MemoryMember,
  main: MemoryMember | undefined,
): EndWaiter | undefined {
  let one: EndWaiter | undefined = waiting;
  const others: MemberWaiter[] = [];
  for (; one instanceof MemberWaiter; one = one.next) {
    if (one.by === by) one.resolve(UNFINISHED);
    else others.push(one);
  }
  if (by === main) {
    one?.(UNFINISHED);
    one = undefined;
  }
  return others.reduce<EndWaiter | undefined>(
    (rest, { by, resolve }) => new MemberWaiter(by, resolve, rest),
    one,
  );
}

/** The pool stopped before the job ended. */
export const UNFINISHED: Outcome = Object.freeze({ state: "unfinished" });
