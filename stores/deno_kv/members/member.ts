/**
 * A member of leases: one open queue of one process, with its sign of life and what it sees of others.
 *
 * @module
 */

import { sight, type Sighting } from "../../../src/base/liveness.ts";
import type { Alive } from "./alive.ts";
import type { Db } from "../io/db.ts";
import type { QueueOptions } from "../../../src/contract/store.ts";
import type { PoolKeys } from "../record/keys.ts";
import { type Beat, beatIn, beginMembership, type Membership, noMembership } from "./membership.ts";

/** A member. Whether another one lives is judged by silence, unless its process is certain to have ended. */
export class Member {
  /** Its latest membership. Another one once it has joined again: hold on to it from await to await. */
  membership: Membership = noMembership();
  /** True while the pool does not know yet that a membership was lost: until then nothing is leased. */
  untold = false;
  /** It is dead once others have seen no change for so long. */
  leaseMs: number;
  /** When it last showed that it lives. */
  beatAtMs = -Infinity;
  /** Live members of the pool that lease, and this one, when it last looked. */
  peers = 1;
  /** Numbers of those whose pools run jobs, and of those who have come since. */
  members: readonly number[] = [];
  /** When its pool asked for jobs last. */
  askedAtMs = -Infinity;
  /** True once it says that its pool asks for jobs. */
  works = false;
  /** False: others have committed something since it last looked, or are known to live. */
  alone = true;
  /** False: it never leases. */
  readonly #leases: boolean;
  readonly #alive: Alive | undefined;
  readonly #seen = new Map<number, Sighting<string>>();

  /** Holds nothing yet. `alive` knows who has ended, where that can be known. */
  constructor({ leaseMs, leases = true }: Pick<QueueOptions, "leaseMs" | "leases">, alive?: Alive) {
    this.leaseMs = leaseMs;
    this.#leases = leases;
    this.#alive = alive;
  }

  /** What its heartbeats say. */
  get beat(): Beat {
    const { leaseMs, works } = this;
    const process = this.#alive?.process;
    return {
      leaseMs,
      ...(process === undefined ? {} : { process }),
      ...(works ? {} : { works }),
      ...(this.#leases ? {} : { leases: false }),
    };
  }

  /** Joins, or joins again. */
  async join(db: Db, keys: PoolKeys): Promise<void> {
    this.membership = await beginMembership(db, keys, this.beat);
  }

  /** Looks at another member's heartbeat, `sinceMs` after the last look: false if that one is dead. */
  sees(memberId: number, versionstamp: string, value: unknown, sinceMs: number): boolean {
    const beat = beatIn(value, this.leaseMs);
    if (beat.process !== undefined && this.#alive?.isGone(beat.process)) return false;
    const seen = sight(this.#seen.get(memberId), versionstamp, sinceMs, beat.leaseMs);
    this.#seen.set(memberId, seen);
    return seen.silentMs < beat.leaseMs;
  }

  /** Forgets members that are there no more. */
  forgetBut(memberIds: ReadonlySet<number>): void {
    for (const memberId of this.#seen.keys()) {
      if (!memberIds.has(memberId)) this.#seen.delete(memberId);
    }
  }
}
