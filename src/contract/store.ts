/**
 * Where jobs live: what a store does for a pool. A store reads no clock; every call brings the time,
 * `nowMs`, by the wall clock: what is stored is stamped with it. It may go back when that is set.
 *
 * @module
 */

import type { DeadReason, Job, JobAttempt, JobRecord, JobState, Outcome } from "./job.ts";
import type { Added, JobEntry, Precondition } from "./entry.ts";

export type { Added, DedupeRule, JobEntry, Precondition } from "./entry.ts";

/** A value, or a promise of it: a store in memory answers at once. */
export type MaybePromise<T> = T | Promise<T>;

/** How many ended jobs stay to be looked up, oldest dropped first. */
export interface Keep {
  /** Done and cancelled jobs. */
  readonly done: number;
  /** Dead jobs. */
  readonly dead: number;
  /** Dropped after this many ms. `Infinity`: only by count. */
  readonly forMs: number;
}

/** What a store must know of a lane. */
export interface LaneRules {
  /** Name, unique within the pool. */
  readonly name: string;
  /** How many jobs of one key may run at once, over all processes. `Infinity`: no bound. */
  readonly maxRunningPerKey: number;
  /**
   * In any window of `perMs` no more than `starts` jobs of a key begin, 1 to 100, over all processes: all of
   * them hold. Omitted: no bound.
   */
  readonly keyRates?: readonly { readonly starts: number; readonly perMs: number }[] | undefined;
  /** Ends of its jobs that are noted for `toHandOn`, each in one commit with the end. Omitted: none. */
  readonly handsOn?: readonly ("done" | "dead")[] | undefined;
}

/** What a store tells the pool that opened a queue. */
export interface QueueListener {
  /** Jobs may have become claimable, or counts have changed, by another's doing. Cheap; may come often. */
  wake(): void;
  /** A job that this queue holds a lease on was cancelled: its handler is to be aborted. */
  cancelled(id: string): void;
  /** Jobs that were given to `add` are about to be stored: what is leased now may be of them (`leasesAdded`). */
  adding?(): void;
  /** A job ended without a settlement from this pool's workers: expired while it waited. */
  ended(record: JobRecord): void;
  /**
   * True once this listener's process is certain to have ended: others take its jobs when they next renew.
   * Omitted, or false: its silence tells.
   */
  gone?(): boolean;
}

/** What a pool asks of its queue: may change while it is open. */
export interface QueueRules {
  /** Lanes, highest priority first. */
  readonly lanes: readonly LaneRules[];
  /** A member that has not renewed for this long is dead: its jobs go back. */
  readonly leaseMs: number;
  /** Attempts of a job by lane index: a job whose member died with its last attempt is dead. */
  readonly attempts: readonly number[];
  /** How many ended jobs are kept. */
  readonly keep: Keep;
}

/** How a pool opens its queue. */
export interface QueueOptions extends QueueRules {
  /** Name of the pool: queues of one name share their jobs. */
  readonly pool: string;
  /** Chance for ids and jitter, 0 to below 1. */
  readonly random: () => number;
  /** Now. */
  readonly nowMs: number;
  /** Told of what others do. */
  readonly listener: QueueListener;
  /** False: this member never leases, so it is no peer of others that share the work. Omitted: true. */
  readonly leases?: boolean | undefined;
}

/** A job that has ended, and that is noted until a job of another lane has what is handed on of it. */
export interface HandOn {
  /** The job as it ended. Of a done one the payload may be left out. */
  readonly record: JobRecord;
  /** Why its payload is left out although it is dead. Omitted: it is not. */
  readonly payloadError?: string | undefined;
  /** The note. A job that is added with this precondition takes it away, and no other can. */
  readonly precondition: Precondition;
}

/** A job held by this queue. */
export interface Leased extends Job {
  /** Index of its lane. */
  readonly laneIndex: number;
  /** When it became claimable. */
  readonly readyAtMs: number;
  /** When it was due: it was blocked from then until `readyAtMs`. Omitted, or the same: it was not. */
  readonly dueAtMs?: number | undefined;
  /**
   * When it was due for the first time, or for the first time after a revive: no retry and no key limit
   * moves it. Omitted: as `dueAtMs`, or else as `readyAtMs`.
   */
  readonly firstReadyAtMs?: number | undefined;
  /** Rises with each lease of the job. */
  readonly fence: number;
  /** Not started from then on: the answer of a lease may come later. Omitted: it never expires. */
  readonly expiresAtMs?: number | undefined;
  /** What is kept of its attempts. Omitted: nothing. */
  readonly history?: readonly JobAttempt[] | undefined;
}

/** How a leased job leaves its worker. */
export interface Settlement {
  /** The job, as leased. */
  readonly job: Leased;
  /** Its fence when it was leased. */
  readonly fence: number;
  /** `retry`: again at `dueAtMs`; `back`: to its old place at once. */
  readonly to: "done" | "retry" | "dead" | "back" | "cancelled";
  /** False gives the attempt back: hand-backs and deferrals. */
  readonly charged: boolean;
  /** When a retry becomes claimable. */
  readonly dueAtMs: number;
  /**
   * True: a retry keeps the slot of its key until it has run again, so that no other job of the key takes
   * its place meanwhile. A store may leave that out: others are leased then, and deferred one by one. Omitted:
   * it gives it up.
   */
  readonly keepsSlot?: boolean | undefined;
  /** When its attempt began, by the wall clock. Omitted: it did not, or its lane has no `keyRates`. */
  readonly beganAtMs?: number | undefined;
  /** What the handler returned: JSON. Only when done. */
  readonly result: unknown;
  /** Why there is no `result` although the handler returned one. Omitted: it did not. */
  readonly resultError?: string | undefined;
  /** Why it is dead. Only when dead. */
  readonly reason: DeadReason | undefined;
  /** Message of the failure. */
  readonly error: string | undefined;
  /**
   * What is kept of its attempts from now on: JSON, given with the next lease and in records, also of a job
   * that was revived. A store may keep less of it, or nothing. Omitted: what was kept stays.
   */
  readonly history?: readonly JobAttempt[] | undefined;
}

/** Counts of one lane, whole store. May be live: read it, do not keep it. */
export interface LaneCounts {
  /** Due and not held by a key limit. */
  readonly ready: number;
  /** Due and held by a key limit. */
  readonly blocked: number;
  /** Due later. */
  readonly delayed: number;
  /** Leased by anyone. */
  readonly running: number;
  /** When the oldest ready job became claimable. `Infinity` if none is ready. */
  readonly oldestReadyAtMs: number;
  /** When the oldest blocked job was due; known later where keys are many. `Infinity`: none. Omitted: not known. */
  readonly oldestBlockedAtMs?: number | undefined;
  /** When the next delayed job is due. `Infinity` if none is delayed. */
  readonly nextDueAtMs: number;
}

/** What a heartbeat found out. */
export interface Renewal {
  /** False: this member was declared dead, and its jobs went back. It has joined again. */
  readonly alive: boolean;
  /** Live members of this pool's queue that lease, and this one. */
  readonly peers: number;
  /** Jobs taken back from dead members by this call. */
  readonly reaped: number;
  /** When to renew again. `Infinity`: not until this queue holds a lease or `wake` was called. */
  readonly nextAtMs: number;
}

/** Which jobs to list. */
export interface JobQuery {
  /** Only these states. Omitted: all. */
  readonly state?: JobState | undefined;
  /** Only this lane. Omitted: all. */
  readonly lane?: string | undefined;
  /**
   * `latest-end`: jobs that have ended come before the others, and of each state the one that ended last
   * first. Omitted: oldest first.
   */
  readonly order?: "latest-end" | undefined;
  /** Most records, > 0. */
  readonly limit: number;
  /** Where the last page ended. */
  readonly cursor?: string | undefined;
}

/** A page of jobs, in the order that was asked for. */
export interface JobPage {
  /** The records. */
  readonly jobs: readonly JobRecord[];
  /** Where to go on. `undefined`: this was the last page. */
  readonly cursor: string | undefined;
}

/**
 * A change to one job. `revive`: a dead one is ready again, or blocked, and its attempts count from 0 (`revived` says so);
 * `remove`: one that has ended is forgotten.
 */
export type Change = "cancel" | "revive" | "remove";

/** What came of a change. */
export type Changed =
  | { readonly ok: true; readonly state: JobState | "removed" }
  | {
    readonly ok: false;
    /** State of the job instead. `undefined`: no such job. */
    readonly state: JobState | undefined;
  };

/** The jobs of one pool, as one process holds them. */
export interface Queue {
  /**
   * True while `lease` may give out jobs whose `add` has not been answered: it is called as soon as they
   * are given then, and when `listener.adding` is. Omitted: it is called once they have been answered.
   */
  readonly leasesAdded?: boolean;
  /**
   * How many calls of `lease` are worth having under way at once: more than one where commits in flight
   * cost nothing, as over a network. With one, a job that the lane policy chooses before others starts
   * before them: they wait until it has been leased. With more, others start meanwhile, on other workers.
   * Omitted: 1.
   */
  readonly leaseCalls?: number;
  /** True if it holds the `keyRates` of lanes. Omitted: no pool with such a lane starts on it. */
  readonly holdsKeyRates?: boolean;
  /** True if it holds the `dedupe` of entries. Omitted: no pool with such a lane starts on it. */
  readonly holdsDedupe?: boolean;
  /** Ended jobs that are kept, as counted last: done or cancelled, and dead. Omitted: it is not known. */
  readonly kept?: Readonly<Record<"done" | "dead", number>>;
  /** Counts by lane as the queue was opened. Omitted: they are known once `count` has answered. */
  readonly counts?: readonly LaneCounts[];
  /**
   * Stores jobs. One answer an entry, in order; one bad entry fails no other. An error with
   * `mayBeDone: true` says that they may be stored all the same.
   */
  add(entries: readonly JobEntry[], nowMs: number): MaybePromise<readonly Added[]>;
  /**
   * Does and answers what `add` would with an entry that is a duplicate, or whose idempotency key means
   * another one. `undefined`: it is neither, and nothing is done. Asked before such an entry is rejected.
   * Omitted: it is rejected.
   */
  duplicateOf?(entry: JobEntry, nowMs: number): MaybePromise<Added | undefined>;
  /**
   * Leases up to `wants[lane]` claimable jobs of each lane, oldest first. Expired ones are dead
   * instead. `wants` and the answer may be reused after the call. None to a member that was declared
   * dead, until `renew` has said so: what is lost then is all that it has.
   *
   * @param ahead How many of the `wants` of each lane do not start at once. None of them may have its
   * last attempt, with which it would die unstarted if this process were killed: a lane gives no more
   * than start at once from the first such job on, or gives such jobs first. May be reused after the
   * call. @default none
   */
  lease(
    wants: readonly number[],
    nowMs: number,
    ahead?: readonly number[],
  ): MaybePromise<readonly Leased[]>;
  /** Ends leases. One answer a settlement: false if the lease was lost, and nothing was changed. */
  settle(settlements: readonly Settlement[], nowMs: number): MaybePromise<readonly boolean[]>;
  /**
   * Says that this member lives, and takes back the jobs of those that do not.
   *
   * @param steadyMs Time by a clock that nobody sets: what a lease is measured by, and what the answer's
   * `nextAtMs` is in. @default {nowMs}
   */
  renew(nowMs: number, steadyMs?: number): MaybePromise<Renewal>;
  /**
   * Counts by lane, in lane order, with due jobs moved up. An answer after `reopen` is not used.
   *
   * @param anew True: what others have done by now is in it, however recently it was counted before.
   */
  count(nowMs: number, anew?: boolean): MaybePromise<readonly LaneCounts[]>;
  /** Ready jobs of a lane that became claimable at `atMs` or before. A store that knows only the head answers 0 or 1. */
  readySince(lane: number, atMs: number): number;
  /**
   * When the ready job with `earlier` others before it became claimable: what a policy sees as a
   * lane's age while several jobs are given out at once. `undefined`: it is not known before these have
   * been leased. A store that knows only the head leaves it out.
   */
  readyAtMs?(lane: number, earlier: number): number | undefined;
  /**
   * Makes ready for other rules: other lanes, or another order of them. Lanes are known by name:
   * leases stay, and so do the jobs of a lane that is named no more, until it is again. A store that
   * leaves it out has lanes, `leaseMs` and `keep` of its pools only changed by a restart.
   *
   * @returns What puts the rules in effect: at once, and it cannot fail. Until it is called, and if it
   * never is, the old ones hold.
   */
  reopen?(rules: QueueRules): MaybePromise<(nowMs: number) => void>;
  /** Looks a job up. */
  find(id: string): MaybePromise<JobRecord | undefined>;
  /** Name of the lane of a job, where its id alone tells. `undefined`, or omitted: it has to be looked up. */
  laneOf?(id: string): string | undefined;
  /**
   * Lists jobs in the order that is asked for. A store that keeps states apart may list those that have
   * ended before others in any case.
   */
  list(query: JobQuery): MaybePromise<JobPage>;
  /** Cancels, revives or removes one job. */
  change(id: string, change: Change, nowMs: number): MaybePromise<Changed>;
  /**
   * Ends that are noted by the `handsOn` of lanes, in order of their keys. Omitted: no pool with such a lane
   * starts on it.
   *
   * @param limit Most ends, > 0.
   * @param after Key of the precondition of the last one before. @default {from the first}
   */
  toHandOn?(limit: number, after?: string): MaybePromise<readonly HandOn[]>;
  /** Resolves when the job has ended. `job` is what `add` answered, or has just its id. */
  outcome(job: { readonly id: string }): Promise<Outcome>;
  /** Hands all leases back uncharged and leaves. Waiting `outcome`s become `unfinished`. */
  leave(nowMs: number): MaybePromise<void>;
}

/** One entry of a store's shared state. */
export interface StateEntry {
  /** The value, JSON. */
  readonly value: unknown;
  /** Differs after each change. */
  readonly version: string;
}

/** Where jobs live. Several pools, of one process or many, may share one. */
export interface Store {
  /**
   * Where its jobs are, such as the file: stores of this process that say the same share their jobs.
   * Omitted: it shares them with no other store.
   */
  readonly place?: string | undefined;
  /** Name of this process, for others to look whether it still is. Omitted: the store cannot tell. */
  readonly process?: string | undefined;
  /**
   * True if the process of that name is certain to have ended, so that nobody has to wait until its lease
   * is over. Answers at once. Omitted, or false: it lives, or that cannot be told.
   */
  isGone?(process: string): boolean;
  /** Opens the queue of one pool and joins as a member. */
  open(options: QueueOptions): MaybePromise<Queue>;
  /** Reads shared state: pauses, permits, schedules. */
  get(key: string): MaybePromise<StateEntry | undefined>;
  /**
   * Changes shared state if nothing changed under it.
   *
   * @param checks Expected versions; `undefined`: no such key.
   * @param sets New values; `undefined` deletes.
   * @returns False if a check failed, and nothing was changed.
   */
  commit(
    checks: Readonly<Record<string, string | undefined>>,
    sets: Readonly<Record<string, unknown>>,
  ): MaybePromise<boolean>;
  /** Frees what the store holds. */
  close(): MaybePromise<void>;
}
