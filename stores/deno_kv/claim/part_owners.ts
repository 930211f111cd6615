/**
 * Which ready parts are whose, where several processes claim over a network: each takes its own from the
 * head, and only for workers that wait what is another's, from the other end: they seldom try the same.
 *
 * @module
 */

import { hash } from "../../../src/base/random.ts";
import type { Bytes } from "../record/codec.ts";
import { numberAt, textAt } from "../record/keys.ts";

/** A part that has not moved for so long is anybody's, ms: its owner may hang. */
const OVERDUE_MS = 3000;

/** How many parts are remembered. */
const REMEMBERED = 1000;

/** Parts of one process, and of the others: in the order in which it tries them. */
export interface SharedParts {
  readonly own: readonly Deno.KvEntry<Bytes>[];
  readonly others: readonly Deno.KvEntry<Bytes>[];
}

/** The owners of parts, as one process sees them. */
export class PartOwners {
  readonly #seenAtMs = new Map<string, number>();

  /** Tells parts apart. `members`: who lives, `member` included. */
  share(
    parts: readonly Deno.KvEntry<Bytes>[],
    { member, members, nowMs }: {
      readonly member: number;
      readonly members: readonly number[];
      readonly nowMs: number;
    },
  ): SharedParts {
    const own: Deno.KvEntry<Bytes>[] = [];
    const others: Deno.KvEntry<Bytes>[] = [];
    for (const part of parts) {
      const name = `${numberAt(part.key, 4)}/${textAt(part.key, 6)}/${numberAt(part.key, 7)}`;
      const isOwn = this.#isOverdue(name, nowMs) || ownerOf(name, members) === member;
      (isOwn ? own : others).push(part);
    }
    return { own, others: others.reverse() };
  }

  #isOverdue(name: string, nowMs: number): boolean {
    const seenAtMs = this.#seenAtMs.get(name);
    if (seenAtMs !== undefined) return nowMs - seenAtMs >= OVERDUE_MS;
    this.#seenAtMs.set(name, nowMs);
    if (this.#seenAtMs.size > REMEMBERED) {
      const [oldest] = this.#seenAtMs.keys();
      this.#seenAtMs.delete(oldest!); // it holds more than one
    }
    return false;
  }
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
