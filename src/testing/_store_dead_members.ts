/**
 * What a store must hold of members that die, freeze, or seem to. This is the one place for what their
 * jobs, keys and leases come to: tests beside it show how a store finds out, and what goes wrong on the way.
 *
 * @module
 */

import assert from "node:assert/strict";
import {
  endOf,
  LEASE_MS,
  openTrial,
  SERIAL,
  START_MS,
  type StoreCheck,
  type StoreTrial,
} from "./_trial.ts";

/** Members that are declared dead, and members that must not be. */
export const deadMemberChecks: readonly StoreCheck[] = [
  {
    name: "jobs of a dead member go back charged, and it can settle them no more",
    run: async (store) => {
      const zombie = await openTrial(store);
      const other = await openTrial(store);
      const { id } = await zombie.add();
      const lost = await zombie.leaseOne();
      const reaped = await renewUntilAlone(other);

      assert.equal(reaped, 1);
      const again = await other.leaseOne();
      assert.deepEqual([again.id, again.attempt], [id, 2]);
      assert.ok(again.fence > lost.fence);
      zombie.nowMs = other.nowMs;
      assert.equal(await zombie.settle(lost, "done"), false);
      const renewal = await zombie.queue.renew(zombie.nowMs);
      assert.deepEqual([renewal.alive, renewal.peers], [false, 2]);
      assert.equal((await zombie.queue.renew(zombie.nowMs)).alive, true);
      assert.equal(await other.settle(again, "done"), true);
      assert.equal((await other.find(id)).state, "done");
    },
  },
  {
    name: "a member that was declared dead leases nothing until renew() says so",
    run: async (store) => {
      const zombie = await openTrial(store);
      const other = await openTrial(store);
      await zombie.add();
      const { id } = await zombie.leaseOne();
      await renewUntilAlone(other);
      zombie.nowMs = other.nowMs;

      assert.deepEqual(await zombie.lease(1), []);
      assert.equal((await zombie.queue.renew(zombie.nowMs)).alive, false);

      const fresh = await zombie.leaseOne();
      assert.equal(fresh.id, id);
      assert.equal((await zombie.queue.renew(zombie.nowMs)).alive, true);
      assert.equal(await zombie.settle(fresh, "done"), true);
    },
  },
  {
    name: "a job whose member died with its last attempt is dead",
    run: async (store) => {
      const zombie = await openTrial(store, { attempts: [1, 1] });
      const other = await openTrial(store, { attempts: [1, 1] });
      const { id } = await zombie.add();
      const outcome = other.queue.outcome({ id });
      await zombie.leaseOne();

      await renewUntilAlone(other);

      const { state, reason, error } = await other.find(id);
      assert.deepEqual([state, reason], ["dead", "attempts"]);
      assert.deepEqual(await endOf(outcome), { state, reason, error });
      assert.deepEqual(await other.lease(1), []);
      assert.deepEqual(other.told.ended.map((one) => one.id), [id]);
    },
  },
  {
    name:
      "a job that was cancelled while its member was dead already is cancelled, not leased again",
    run: async (store) => {
      const zombie = await openTrial(store);
      const other = await openTrial(store);
      const { id } = await zombie.add();
      const lost = await zombie.leaseOne();
      assert.deepEqual(await other.cancel(id), { ok: true, state: "running" });

      await renewUntilAlone(other);

      assert.equal((await other.find(id)).state, "cancelled");
      assert.deepEqual(await other.lease(1), []);
      assert.equal(await zombie.settle(lost, "done"), false);
    },
  },
  {
    name: "a key's slot is free once its member is dead, which takes none when it comes back",
    run: async (store) => {
      const zombie = await openTrial(store, SERIAL);
      const other = await openTrial(store, SERIAL);
      for (let payload = 1; payload <= 3; payload++) await zombie.add({ key: "k", payload });
      const lost = await zombie.leaseOne();
      await renewUntilAlone(other);
      zombie.nowMs = other.nowMs;

      const again = await other.lease(9);

      assert.deepEqual(again.map(({ id }) => id), [lost.id]);
      assert.equal(await zombie.settle(lost, "done"), false);
      await zombie.queue.renew(zombie.nowMs);
      assert.deepEqual(await zombie.lease(9), []);
      assert.equal(await other.settle(again[0]!, "done"), true);
      assert.deepEqual((await zombie.lease(9)).map(({ job }) => job.payload), [2]);
      assert.deepEqual(await other.lease(9), []);
    },
  },
  {
    name: "members whose clocks are 40 s apart steal nothing from each other",
    run: async (store) => {
      const slow = await openTrial(store);
      const fast = await openTrial(store, { nowMs: START_MS + 40_000 });
      await slow.add();
      const held = await slow.leaseOne();

      for (let beat = 0; beat < 12; beat++) {
        for (const trial of [slow, fast]) {
          trial.nowMs += LEASE_MS / 3;
          const { alive, reaped, peers } = await trial.queue.renew(trial.nowMs);
          assert.deepEqual([alive, reaped, peers], [true, 0, 2]);
        }
      }

      assert.deepEqual(await fast.lease(1), []);
      assert.equal(await slow.settle(held, "done"), true);
    },
  },
];
/** Renews as a live member does until it is the only one. How many jobs were taken back meanwhile. */
export async function renewUntilAlone(trial: StoreTrial): Promise<number> {
  let reaped = 0;
  for (let beat = 0; beat < 10; beat++) {
    const renewal = await trial.queue.renew(trial.nowMs);
    reaped += renewal.reaped;
    if (renewal.peers === 1) return reaped;
    trial.nowMs += LEASE_MS / 3;
  }
  throw new assert.AssertionError({
    message: "A member that does not renew was not declared dead within three times leaseMs",
  });
}
