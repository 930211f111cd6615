/**
 * A participant in a shared commit, such as a claim: it saves a commit of its own, and so a flush of the
 * disk.
 *
 * @module
 */

import type { Bytes } from "./record/codec.ts";
import type { Transaction } from "./transaction.ts";
import type { Membership } from "./members/membership.ts";

/** Ready jobs that a commit puts down, as far as they are not leased by it. */
export interface FreshPart {
  /** Where they are put. */
  readonly key: Deno.KvKey;
  /** Their lines. */
  readonly value: Bytes;
  /** There is no such key yet. */
  readonly versionstamp: null;
}

/** What goes with the next commit. */
export interface CommitParticipant {
  /** Now. */
  readonly nowMs: number;
  /**
   * Adds to the commit, last of all. If it throws, the others go without it.
   *
   * @param fresh What the commit is to put down. What is taken from it is not put down.
   */
  board(transaction: Transaction, membership: Membership, fresh: Set<FreshPart>): Promise<void>;
  /** Called once the commit is made that it added to. */
  arrive(): void;
  /** Called last in any case: unless it has arrived, nothing has come of it. `fault`: the commit failed. */
  leave(fault?: unknown): void;
}
