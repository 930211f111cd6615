/**
 * One member of a store under test, with a clock of its own and a record of what it was told.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { JobRecord, Outcome } from "../contract/job.ts";
import { randomStream } from "../base/random.ts";
import type {
  Added,
  Changed,
  JobEntry,
  LaneCounts,
  Leased,
  Queue,
  QueueOptions,
  Settlement,
  Store,
} from "../contract/store.ts";

/** One requirement of a store. It gets an empty store of its own. */
export interface StoreCheck {
  /** What must hold. */
  readonly name: string;
  /** Throws if it does not. */
  run(store: Store): Promise<void>;
}

/** A lease, as it was when it was given: the job itself may be the store's live object. */
export interface Held {
  /** The job. */
  readonly job: Leased;
  /** Its id. */
  readonly id: string;
  /** Fence of this lease. */
  readonly fence: number;
  /** Number of this attempt. */
  readonly attempt: number;
  /** When it became claimable. */
  readonly readyAtMs: number;
}

/** What a listener was told. */
export interface Told {
  /** How often it was woken. */
  woken: number;
  /** Ids of leased jobs that were cancelled. */
  readonly cancelled: string[];
  /** Jobs that ended without a settlement. */
  readonly ended: JobRecord[];
}

/** A queue with less to write. */
export interface StoreTrial {
  /** The queue itself. */
  readonly queue: Queue;
  /** Now, for all calls through this trial. */
  nowMs: number;
  /** What its listener was told. */
  readonly told: Readonly<Told>;
  /** Adds one job: at once claimable, in lane 0, unless said otherwise. */
  add(entry?: Partial<JobEntry>): Promise<Added>;
  /** Leases up to `wants[lane]`. */
  lease(...wants: number[]): Promise<Held[]>;
  /** Leases one job of lane 0. Fails if there is none. */
  leaseOne(): Promise<Held>;
  /** Ends one lease. */
  settle(held: Held, to: Settlement["to"], more?: Partial<Settlement>): Promise<boolean>;
  /** Counts of a lane, as they are now. */
  count(lane?: number): Promise<LaneCounts>;
  /** Looks up a job that must be known. */
  find(id: string): Promise<JobRecord>;
  /** Cancels one job. */
  cancel(id: string): Promise<Changed>;
}

/** When trials begin. */
export const START_MS: number = Date.UTC(2026, 0, 1);

/** How long a lease lasts in trials. */
export const LEASE_MS = 30_000;

/** Lanes of which the first runs one job of each key. */
export const SERIAL: Pick<QueueOptions, "lanes"> = {
  lanes: [
    { name: "high", maxRunningPerKey: 1 },
    { name: "low", maxRunningPerKey: Infinity },
  ],
};

/** How long a store may take to tell what happened, ms of real time. */
const PATIENCE_MS = 1000;

/** Opens a queue on pool "pool" with lanes "high" and "low". */
export async function openTrial(
  store: Store,
  options: Partial<QueueOptions> = {},
): Promise<StoreTrial> {
  const told: Told = { woken: 0, cancelled: [], ended: [] };
  const queue = await store.open({
    pool: "pool",
    lanes: [
      { name: "high", maxRunningPerKey: Infinity },
      { name: "low", maxRunningPerKey: Infinity },
    ],
    leaseMs: LEASE_MS,
    attempts: [3, 3],
    keep: { done: 1000, dead: 1000, forMs: Infinity },
    random: randomStream(1, options.pool),
    nowMs: START_MS,
    listener: {
      wake: () => told.woken++,
      cancelled: (id) => told.cancelled.push(id),
      ended: (record) => told.ended.push(record),
    },
    ...options,
  });
  return makeTrial(queue, options.nowMs ?? START_MS, told);
}

/** Waits until `holds`, renewing: a store with several processes may hear of things late. */
export async function until(trial: StoreTrial, holds: () => boolean): Promise<void> {
  for (let waitedMs = 0; waitedMs < PATIENCE_MS && !holds(); waitedMs += 5) {
    await trial.queue.renew(trial.nowMs);
    if (holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.ok(holds(), `The listener was not told within ${PATIENCE_MS} ms`);
}

/** How a job ended. Fails if that is not told soon. */
export async function endOf(outcome: Promise<Outcome>): Promise<Outcome> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), PATIENCE_MS);
  });
  const end = await Promise.race([outcome, late]);
  clearTimeout(timer);
  assert.ok(end !== undefined, `An outcome was not told within ${PATIENCE_MS} ms`);
  return end;
}

function makeTrial(queue: Queue, startMs: number, told: Told): StoreTrial {
  const trial: StoreTrial = {
    queue,
    nowMs: startMs,
    told,
    add: async (entry) => {
      const [added] = await queue.add([makeEntry(trial.nowMs, entry)], trial.nowMs);
      assert.ok(added !== undefined, "add() gave no answer for an entry");
      return added;
    },
    lease: async (...wants) => (await queue.lease(wants, trial.nowMs)).map(hold),
    leaseOne: async () => {
      const [held] = await trial.lease(1);
      assert.ok(held !== undefined, "lease() gave no job although one is claimable");
      return held;
    },
    settle: async (held, to, more) => {
      const settlement = { ...settlementOf(held, to, trial.nowMs), ...more };
      const [settled] = await queue.settle([settlement], trial.nowMs);
      assert.ok(settled !== undefined, "settle() gave no answer for a settlement");
      return settled;
    },
    count: async (lane = 0) => {
      const counts = (await queue.count(trial.nowMs))[lane];
      assert.ok(counts !== undefined, `count() gave nothing for lane ${lane}`);
      const { ready, blocked, delayed, running } = counts;
      const { oldestReadyAtMs, oldestBlockedAtMs, nextDueAtMs } = counts;
      return {
        ready,
        blocked,
        delayed,
        running,
        oldestReadyAtMs,
        oldestBlockedAtMs,
        nextDueAtMs,
      };
    },
    find: async (id) => {
      const record = await queue.find(id);
      assert.ok(record !== undefined, `find() does not know job ${id}`);
      return record;
    },
    cancel: async (id) => await queue.change(id, "cancel", trial.nowMs),
  };
  return trial;
}

/** An entry for lane 0 that is claimable at once. */
export function makeEntry(nowMs: number, entry: Partial<JobEntry> = {}): JobEntry {
  return {
    lane: 0,
    type: "",
    payload: null,
    key: undefined,
    dueAtMs: nowMs,
    expiresAtMs: Infinity,
    dedupeKey: undefined,
    traceparent: undefined,
    ...entry,
  };
}

function hold(job: Leased): Held {
  return { job, id: job.id, fence: job.fence, attempt: job.attempt, readyAtMs: job.readyAtMs };
}

function settlementOf({ job, fence }: Held, to: Settlement["to"], nowMs: number): Settlement {
  return {
    job,
    fence,
    to,
    charged: to !== "back",
    dueAtMs: nowMs,
    result: undefined,
    reason: to === "dead" ? "fatal" : undefined,
    error: undefined,
  };
}
