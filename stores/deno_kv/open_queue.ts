/**
 * Opens queues: numbers their lanes, and joins as a member.
 *
 * @module
 */

import type { QueueOptions } from "../../src/contract/store.ts";
import type { QueueContext, QueueShares } from "./context.ts";
import { Mutex } from "./io/mutex.ts";
import { unblock } from "./limit/limits.ts";
import { Member } from "./members/member.ts";
import { KvQueue } from "./queue.ts";
import { Counts } from "./read/counts.ts";
import { Reader } from "./read/reader.ts";
import { PoolKeys } from "./record/keys.ts";
import { openLanes } from "./record/lanes.ts";

/** Opens a queue and joins as a member. */
export async function openQueue(options: QueueOptions, shares: QueueShares): Promise<KvQueue> {
  const { pool, lanes: rules, attempts, keep, listener, nowMs } = options;
  const { db, completions, others, alive, log } = shares;
  const keys = new PoolKeys(pool);
  const lanes = await openLanes(db, keys, rules, attempts);
  const counts = new Counts(lanes.own.map(({ ordinal }) => ordinal));
  const member = new Member(options, alive);
  await member.join(db, keys);
  const gate = new Mutex();
  const context: QueueContext = {
    pool,
    db,
    keys,
    lanes,
    counts,
    mutex: gate,
    completions: completions,
    keep,
    member: member,
    listener,
    others,
    log,
  };
  for (const lane of lanes.own) {
    if (lane.maxRunningPerKey === Infinity) await unblock(context, lane, nowMs);
  }
  others.wake();
  await new Reader(context).read(nowMs); // what it finds is no more than counts: others may be at it
  counts.forgetShelves();
  return new KvQueue(context, options, shares);
}
