/**
 * One membership of a member: from its joining until it is declared dead. What was leased in it is
 * lost with it, so whatever ends a lease depends on the fence of the membership that the lease is from.
 *
 * @module
 */

import type { Db } from "../io/db.ts";
import { SegmentNames } from "../record/id.ts";
import type { HeldPart } from "../record/job.ts";
import { MEMBERS_KEY, type PoolKeys, SIGNAL_KEY } from "../record/keys.ts";
import { type Expected, isAsItWas } from "../io/atomic_operation.ts";

/** What a heartbeat says. */
export interface Beat {
  /** Its member is dead once others have seen no change for so long. */
  readonly leaseMs: number;
  /** Name of its process, where others can look whether that has ended. */
  readonly process?: string;
  /** False: its pool has asked for no jobs, so that it owns nothing of what is ready. */
  readonly works?: boolean;
  /** False: it never leases. */
  readonly leases?: boolean;
  /** When it came, by the wall clock of its process: only whether that is ahead is judged by it. */
  readonly atMs?: number;
}

/** The sign of life in the database. One that cannot be read counts for `leaseMs`. */
export function beatIn(value: unknown, leaseMs: number): Beat {
  const beat: Partial<Record<keyof Beat, unknown>> = typeof value === "object" ? value ?? {} : {};
  const { leaseMs: own, process } = beat;
  return {
    leaseMs: typeof own === "number" && own > 0 ? own : leaseMs,
    ...(typeof process === "string" ? { process } : {}),
  };
}

/** True if a sign of life says that its member runs jobs, or says nothing of that. */
export function worksIn(value: unknown): boolean {
  return (value as Partial<Beat> | null)?.works !== false;
}

/** True if a sign of life says that its member may lease, or says nothing of that. */
export function leasesIn(value: unknown): boolean {
  return (value as Partial<Beat> | null)?.leases !== false;
}

/** Jobs of a member that are to be cancelled: segment and index. */
export type Marks = readonly (readonly [segment: string, index: number])[];

/** What a mark takes, bytes. */
export const MARK_BYTES = 60;

/** The marks that stand in the database. None where they cannot be read. */
export function marksIn(value: unknown): Marks {
  const isMark = (mark: unknown): boolean =>
    Array.isArray(mark) && typeof mark[0] === "string" && typeof mark[1] === "number";
  return Array.isArray(value) ? value.filter(isMark) : [];
}

/** One membership. */
export class Membership {
  /** Its number: no other member of the database ever has it. */
  readonly memberId: number;
  /** Checked by each claim and each end: fails once it was declared dead. */
  readonly fence: Expected;
  /** Names for its segments. */
  readonly names: SegmentNames;
  /** What it has leased. */
  readonly parts = new Set<HeldPart>();
  /** How many leases it has had. */
  leases = 0;
  /** Names of its jobs that are to be cancelled. */
  readonly marked = new Set<string>();
  /** Those of them that the pool was told of. */
  readonly told = new Set<string>();
  /** Version of the key that says so. */
  marks: Expected;
  /** True once it was declared dead. */
  lost: boolean;
  /** True: chunks may exist of jobs that were refused. */
  strays = false;

  /** Begins with nothing leased. */
  constructor(memberId: number, fence: Expected, marks: Expected) {
    this.memberId = memberId;
    this.fence = fence;
    this.names = new SegmentNames(memberId);
    this.marks = marks;
    this.lost = fence.versionstamp === null;
  }

  /** Looks whether its fence still exists. */
  async isAlive(db: Db): Promise<boolean> {
    if (!await isAsItWas(db, this.fence)) this.lost = true;
    return !this.lost;
  }
}

/** Before a member joins. */
export function noMembership(): Membership {
  return new Membership(0, { key: [], versionstamp: null }, { key: [], versionstamp: null });
}

/** Joins under a number of its own. */
export async function beginMembership(db: Db, keys: PoolKeys, beat: Beat): Promise<Membership> {
  const join = async (): Promise<Membership | undefined> => {
    const latest = await db.get<unknown>(MEMBERS_KEY);
    const memberId = Math.max(numberIn(latest.value), await highestMember(db, keys)) + 1;
    const atomic = db.kv.atomic().check(latest).sum(SIGNAL_KEY, 1n).set(MEMBERS_KEY, memberId)
      .set(keys.of("w", memberId), 1).set(keys.of("h", memberId), beat);
    if (!await db.commit({ atomic, signals: true })) return undefined;
    const { key, versionstamp } = await db.get(keys.of("w", memberId));
    return new Membership(memberId, { key, versionstamp }, {
      key: keys.of("y", memberId),
      versionstamp: null,
    });
  };
  return (await db.retry(join, Infinity))!; // who is quicker has joined: one after the other does
}

function numberIn(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : 0;
}

/**
 * The highest number of a member of a pool that has left any entry. If the number of the latest is
 * lost, no member gets the number of another, whose leases would never come back.
 */
export async function highestMember(db: Db, keys: PoolKeys): Promise<number> {
  const last = { limit: 1, reverse: true };
  const kinds = ["w", "h", "l", "p", "y"];
  const found = await Promise.all(kinds.map((kind) => db.list({ prefix: keys.of(kind) }, last)));
  return Math.max(0, ...found.flat().map(({ key }) => numberIn(key[4])));
}

/** Name of a job among the marked. */
export function markOf(segment: string, index: number): string {
  return `${segment}.${index}`;
}
