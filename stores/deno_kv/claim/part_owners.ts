/**
 * Which ready parts are whose, where several processes claim over a network: each takes its own from the
 * head, and only for workers that wait what is another's, from the other end: they seldom try the same.
 *
 * @module
 */

import { hash } from "../../../src/base/random.ts";
import type { Bytes } from "../record/codec.ts";
import { numberAt, textAt } from "../record/keys.ts";

/** An owner whose first part of a lane has not moved for so long hangs, ms: its parts are others'. */
const OVERDUE_MS = 3000;

/** It is taken for one that hangs for so long then, ms: others move its parts meanwhile. */
const HANGS_MS = 10_000;

/** Parts of one process, and of the others: in the order in which it tries them. */
export interface SharedParts {
  readonly own: readonly Deno.KvEntry<Bytes>[];
  readonly others: readonly Deno.KvEntry<Bytes>[];
}

/** The first part of an owner, and since when it has been that. */
interface First {
  readonly name: string;
  readonly sinceMs: number;
}

/** Who looks. */
export interface Looker {
  /** Who lives, it included. */
  readonly members: readonly number[];
  readonly membership: { readonly memberId: number };
}

/** The owners of parts, as one process sees them. */
export class PartOwners {
  /** By lane, then by owner. */
  readonly #firsts = new Map<number, ReadonlyMap<number, First>>();
  /** Owners that hang, by lane, and until when. */
  readonly #hanging = new Map<number, ReadonlyMap<number, number>>();

  /** Updates what a lane begins with: an owner that lives takes its first part soon, however long the lane is. */
  looks(
    ordinal: number,
    parts: readonly Deno.KvEntry<Bytes>[],
    { nowMs, members }: { readonly nowMs: number; readonly members: readonly number[] },
  ): void {
    const before = this.#firsts.get(ordinal);
    const firsts = new Map<number, First>();
    for (const part of parts) {
      const name = nameOf(part);
      const owner = ownerOf(name, members);
      if (owner === undefined || firsts.has(owner)) continue;
      const seen = before?.get(owner);
      firsts.set(owner, seen?.name === name ? seen : { name, sinceMs: nowMs });
    }
    this.#firsts.set(ordinal, firsts);
    const hanging = new Map(this.#hanging.get(ordinal));
    for (const [owner, untilMs] of hanging) if (untilMs <= nowMs) hanging.delete(owner);
    for (const [owner, { sinceMs }] of firsts) {
      if (nowMs - sinceMs >= OVERDUE_MS) hanging.set(owner, nowMs + HANGS_MS);
    }
    this.#hanging.set(ordinal, hanging);
  }

  /** Tells parts of a lane apart. */
  share(
    ordinal: number,
    parts: readonly Deno.KvEntry<Bytes>[],
    { members, membership: { memberId } }: Looker,
  ): SharedParts {
    const hanging = this.#hanging.get(ordinal);
    const owners = members.filter((member) => member === memberId || !hanging?.has(member));
    const own: Deno.KvEntry<Bytes>[] = [];
    const others: Deno.KvEntry<Bytes>[] = [];
    for (const part of parts) {
      (ownerOf(nameOf(part), owners) === memberId ? own : others).push(part);
    }
    return { own, others: others.reverse() };
  }
}

/** Name of a part: another one once it has been cut. */
function nameOf({ key }: Deno.KvEntry<Bytes>): string {
  return `${numberAt(key, 4)}/${textAt(key, 6)}/${numberAt(key, 7)}`;
}

/** The member with the highest hash together with a part: one that comes or goes moves only what is its own. */
function ownerOf(name: string, members: readonly number[]): number | undefined {
  let owner: number | undefined;
  let highest = -1;
  for (const member of members) {
    const weight = hash(name, member);
    if (weight <= highest) continue;
    highest = weight;
    owner = member;
  }
  return owner;
}
