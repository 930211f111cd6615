/**
 * What goes into a shared commit: jobs that are added, ends of leases, a claim. Each saves a commit of its
 * own, and so a flush of the disk.
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
  /** The membership that the commit depends on. `undefined`: it depends on none. */
  readonly membership: Membership | undefined;
  /** True if it reads records of keys to change them. */
  readonly usesKeys: boolean;
  /** False: nothing else may go with it. */
  readonly isShared: boolean;
  /**
   * Adds to the commit. False: there is no room. If it throws, the others go without it.
   *
   * @param fresh What the commit is to put down. What is taken from it is not put down.
   */
  board(transaction: Transaction, fresh: Set<FreshPart>): boolean | Promise<boolean>;
  /** Called once the commit is made. */
  made(): void | Promise<void>;
  /** Called if nothing has come of it: it waits for another commit. */
  back(): void;
  /** Called if the commit has failed. */
  fail(thrown: unknown): void;
}

/** Where jobs gather for their commit. */
export interface CommitSource {
  /** How many wait. */
  readonly waiting: number;
  /** Takes the first that wait, no more than one commit should have. `undefined`: none is left. */
  take(): CommitParticipant | undefined;
  /** Called before a commit is tried again that was not made: others were quicker, or it was too much. */
  refresh?(): Promise<void>;
}
