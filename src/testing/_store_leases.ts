/**
 * What a store must hold: leases, and members that come and go.
 *
 * @module
 */

import assert from "node:assert/strict";
import { endOf, openTrial, type StoreCheck, until } from "./_trial.ts";

/** Fences, several members, and how one leaves. */
export const leaseChecks: readonly StoreCheck[] = [
  {
    name: "a fence rises with each lease, and an old one settles nothing",
    run: async (store) => {
      const trial = await openTrial(store);
      const { id } = await trial.add();
      const first = await trial.leaseOne();
      await trial.settle(first, "retry");
      const second = await trial.leaseOne();

      assert.ok(second.fence > first.fence);
      assert.equal(await trial.settle(first, "done"), false);
      assert.equal((await trial.find(id)).state, "running");
      assert.equal(await trial.settle(second, "done"), true);
      assert.equal(await trial.settle(second, "retry"), false);
      assert.equal((await trial.find(id)).state, "done");
    },
  },
  {
    name: "no job is leased ahead of its start with its last attempt, nor those behind it",
    run: async (store) => {
      const trial = await openTrial(store, { attempts: [2, 1] });
      await trial.add();
      await trial.settle(await trial.leaseOne(), "retry", { dueAtMs: trial.nowMs });
      trial.nowMs++;
      for (const lane of [0, 0, 1, 1]) await trial.add({ lane });
      const lease = async (ahead: readonly number[]): Promise<readonly unknown[]> =>
        (await trial.queue.lease([3, 2], trial.nowMs, ahead)).map(({ lane, attempt }) =>
          `${lane} ${attempt}`
        );

      assert.deepEqual(await lease([3, 2]), []);
      assert.deepEqual(await lease([2, 1]), ["high 2", "high 1", "high 1", "low 1"]);
      assert.deepEqual(await lease([0, 0]), ["low 1"]);
    },
  },
  {
    name: "two members share the jobs: each is leased once, and settled only by who has the lease",
    run: async (store) => {
      const one = await openTrial(store);
      const other = await openTrial(store);
      for (let payload = 0; payload < 6; payload++) await one.add({ payload });

      const mine = await one.lease(3);
      const theirs = await other.lease(9);

      assert.equal(new Set([...mine, ...theirs].map(({ id }) => id)).size, 6);
      assert.equal(await other.settle(mine[0]!, "done"), false);
      assert.equal((await other.count()).running, 6);
      assert.equal(await one.settle(mine[0]!, "done"), true);
      assert.equal((await other.count()).running, 5);
      assert.equal((await one.queue.renew(one.nowMs)).peers, 2);
    },
  },
  {
    name: "a member that never leases is no peer of others; it adds, looks and cancels as any",
    run: async (store) => {
      const one = await openTrial(store);
      const taker = await openTrial(store, { leases: false });
      const { id } = await taker.add();

      assert.equal((await one.queue.renew(one.nowMs)).peers, 1);
      assert.equal((await taker.queue.renew(taker.nowMs)).peers, 2);
      assert.equal((await taker.queue.find(id))?.state, "ready");
      assert.equal((await one.lease(1))[0]?.id, id);
      const second = await taker.add();
      assert.equal((await taker.queue.change(second.id, "cancel", taker.nowMs)).ok, true);
    },
  },
  {
    name: "pools of different names share nothing",
    run: async (store) => {
      const one = await openTrial(store);
      const other = await openTrial(store, { pool: "other" });
      const { id } = await one.add();

      assert.deepEqual(await other.lease(1), []);
      assert.equal(await other.queue.find(id), undefined);
      assert.equal((await other.queue.renew(other.nowMs)).peers, 1);
      assert.notEqual((await other.add()).id, id);
    },
  },
  {
    name: "another member is woken when jobs come, and when one joins",
    run: async (store) => {
      const one = await openTrial(store);
      const other = await openTrial(store);
      await until(one, () => one.told.woken > 0);
      const before = other.told.woken;

      await one.add();

      await until(other, () => other.told.woken > before);
    },
  },
  {
    name: "leave() hands all leases back to their place, uncharged",
    run: async (store) => {
      const one = await openTrial(store);
      const other = await openTrial(store);
      for (let payload = 0; payload < 4; payload++) await one.add({ payload });
      const held = await one.lease(3);
      const outcome = one.queue.outcome({ id: held[0]!.id });

      await one.queue.leave(one.nowMs);

      assert.deepEqual(await endOf(outcome), { state: "unfinished" });
      const again = await other.lease(9);
      assert.deepEqual(again.map(({ job }) => job.payload), [0, 1, 2, 3]);
      assert.deepEqual(again.map(({ attempt }) => attempt), [1, 1, 1, 1]);
      assert.equal((await other.queue.renew(other.nowMs)).peers, 1);
    },
  },
  {
    name: "what ends while its member leaves has either ended or is handed back",
    run: async (store) => {
      const one = await openTrial(store);
      const other = await openTrial(store);
      for (let payload = 0; payload < 4; payload++) await one.add({ payload });
      const held = await one.lease(4);

      const leaving = one.queue.leave(one.nowMs);
      const settled = await Promise.all(held.map((job) => one.settle(job, "done")));
      await leaving;

      const again = await other.lease(9);
      const ended = held.filter((_, index) => settled[index]).map(({ id }) => id);
      assert.deepEqual(
        [...ended, ...again.map(({ id }) => id)].sort(),
        held.map(({ id }) => id).sort(),
      );
    },
  },
];
