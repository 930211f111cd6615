/**
 * What the parts of one open queue share.
 *
 * @module
 */

import type { Logger } from "../../src/contract/job.ts";
import type { Keep, QueueListener } from "../../src/contract/store.ts";
import type { Alive } from "./members/alive.ts";
import type { Counts } from "./read/counts.ts";
import type { Db } from "./io/db.ts";
import type { Completions } from "./end/completions.ts";
import type { Mutex } from "./io/mutex.ts";
import type { Member } from "./members/member.ts";
import type { PoolKeys } from "./record/keys.ts";
import type { LaneTable } from "./record/lanes.ts";

/** The other queues of this pool in this process. */
export interface Others {
  /** Jobs may have become claimable for them. */
  wake(): void;
  /** Their counts are no longer true. */
  outdate(): void;
}

/** What the parts of one open queue share. */
export interface QueueContext {
  /** Name of the pool. */
  readonly pool: string;
  /** The database. */
  readonly db: Db;
  /** Keys of the pool. */
  readonly keys: PoolKeys;
  /** Lanes, known here or not. */
  readonly lanes: LaneTable;
  /** Live counts. */
  readonly counts: Counts;
  /** One at a time: what reads records of keys and dedupe keys to change them. */
  readonly mutex: Mutex;
  /** Who waits for ends. Shared by all queues of this pool in this process. */
  readonly completions: Completions;
  /** How many ended jobs are kept. */
  keep: Keep;
  /** This queue as a member of leases. */
  readonly member: Member;
  /** The pool. */
  readonly listener: QueueListener;
  /** The other queues of this pool in this process. */
  readonly others: Others;
  /** Hears of what the pool is not told. */
  readonly log?: Logger | undefined;
}

/** What a queue shares with others of this process. */
export interface QueueShares {
  /** The database. */
  readonly db: Db;
  /** Who waits for ends of this pool's jobs. */
  readonly completions: Completions;
  /** The other queues of this pool in this process. */
  readonly others: Others;
  /** Which processes have ended. `undefined`: that cannot be known. */
  readonly alive: Alive | undefined;
  /** Hears of what pools are not told. */
  readonly log?: Logger | undefined;
  /** Called once it has left. */
  readonly left: () => void;
}
