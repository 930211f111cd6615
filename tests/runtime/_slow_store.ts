/**
 * The store in memory, answering later: what a pool on a durable store sees.
 *
 * @module
 */

import { MemoryStore } from "../../stores/memory/mod.ts";
import { defineStore, type Plugin } from "../../src/contract/plugin.ts";
import type { Leased, Queue, QueueOptions } from "../../src/contract/store.ts";
import type { Clock } from "../../src/time/clock.ts";

/** What varies of a slow store. */
export interface SlowOptions {
  /** Counts are those of the lanes that there are when the answer comes. */
  readonly countsLate?: boolean;
  /** See `Queue`. */
  readonly leaseCalls?: number;
  /** Told what was leased, as soon as that is done. */
  readonly leased?: (jobs: readonly Leased[]) => void;
}

/** Makes the plugin. Each answer comes this many ms later; what was asked for was done at once. */
export function slowStore(
  clock: Clock,
  latencyMs: number,
  { countsLate = false, leaseCalls = 1, leased = () => {} }: SlowOptions = {},
): Plugin<"store"> {
  const later = <T>(value: T): Promise<T> =>
    new Promise((resolve) => clock.at(clock.nowMs() + latencyMs, () => resolve(value)));

  class SlowStore extends MemoryStore {
    override open(options: QueueOptions): ReturnType<MemoryStore["open"]> {
      const queue = super.open(options);
      const slow: Queue = {
        leaseCalls,
        add: (entries, nowMs) => later(queue.add(entries, nowMs)),
        lease: (wants, nowMs, ahead) => {
          const jobs = queue.lease(wants, nowMs, ahead).map(kept);
          leased(jobs);
          return later(jobs);
        },
        settle: (ends, nowMs) =>
          later(queue.settle(ends.map((end) => ({ ...end, job: jobOf(end.job) })), nowMs)),
        renew: (nowMs, steadyMs) => later(queue.renew(nowMs, steadyMs)),
        count: async (nowMs) => {
          if (!countsLate) return await later(queue.count(nowMs)); // live objects, as the contract allows
          await later(undefined);
          return queue.count(clock.nowMs());
        },
        readySince: (lane, atMs) => queue.readySince(lane, atMs),
        reopen: (rules) => later(queue.reopen(rules)),
        find: (id) => later(queue.find(id)),
        list: (query) => later(queue.list(query)),
        change: (id, change, nowMs) => later(queue.change(id, change, nowMs)),
        outcome: (job) => queue.outcome(job),
        leave: (nowMs) => queue.leave(nowMs),
      };
      return slow as ReturnType<MemoryStore["open"]>; // pools use it as a `Queue`
    }
  }

  const originals = new WeakMap<Leased, Leased>();
  /** A job as it was when it was leased: it does not follow when lanes move. */
  function kept(job: Leased): Leased {
    const { id, lane, type, payload, key, createdAtMs, attempt, cursor, traceparent } = job;
    const { laneIndex, readyAtMs, fence, expiresAtMs } = job;
    const copy = {
      ...{ id, lane, type, payload, key, createdAtMs, attempt, cursor, traceparent },
      ...{ laneIndex, readyAtMs, fence, expiresAtMs },
    };
    originals.set(copy, job);
    return copy;
  }
  function jobOf(copy: Leased): Leased {
    return originals.get(copy) ?? copy;
  }

  return defineStore({ name: "slow", create: () => new SlowStore() });
}
