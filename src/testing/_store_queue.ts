/**
 * What a store must hold: the way of a job through its lane.
 *
 * @module
 */

import assert from "node:assert/strict";
import { makeEntry, openTrial, type StoreCheck } from "./_trial.ts";

/** Order, delay, retry, expiry. */
export const queueChecks: readonly StoreCheck[] = [
  {
    name: "lease() gives the jobs of each lane in the order of adding, no more than wanted",
    run: async (store) => {
      const trial = await openTrial(store);
      const entries = [0, 1, 0, 0, 1].map((lane, payload) =>
        makeEntry(trial.nowMs, { lane, payload })
      );
      const added = await trial.queue.add(entries, trial.nowMs);
      trial.nowMs += 5;
      await trial.add({ payload: 5 });

      const first = await trial.lease(2, 1);
      const second = await trial.lease(9, 0);

      assert.equal(new Set(added.map((one) => one.id)).size, 5, "ids are unique");
      assert.deepEqual(first.map(({ job }) => job.payload), [0, 2, 1]);
      assert.deepEqual(second.map(({ job }) => job.payload), [3, 5]);
    },
  },
  {
    name: "lease() says all about the job",
    run: async (store) => {
      const trial = await openTrial(store);
      const createdAtMs = trial.nowMs;
      const payload = { to: ["a", 1, null] };
      const { id } = await trial.add({
        lane: 1,
        type: "t",
        payload,
        key: "k",
        traceparent: "00-1",
      });
      trial.nowMs += 7;

      const [held] = await trial.lease(0, 1);

      const { job } = held!;
      assert.deepEqual(
        [job.id, job.lane, job.laneIndex, job.type, job.key, job.traceparent],
        [id, "low", 1, "t", "k", "00-1"],
      );
      assert.deepEqual(job.payload, payload);
      assert.deepEqual([job.attempt, job.createdAtMs, job.readyAtMs], [
        1,
        createdAtMs,
        createdAtMs,
      ]);
      const record = await trial.find(id);
      assert.deepEqual([record.state, record.pool, record.startedAtMs], [
        "running",
        "pool",
        trial.nowMs,
      ]);
    },
  },
  {
    name: "settle() done and dead end a job, with result, reason and error",
    run: async (store) => {
      const trial = await openTrial(store);
      await trial.add();
      await trial.add();
      const [first, second] = await trial.lease(2);
      trial.nowMs += 3;

      assert.ok(await trial.settle(first!, "done", { result: { sum: 4 } }));
      assert.ok(await trial.settle(second!, "dead", { reason: "fatal", error: "no such host" }));

      const done = await trial.find(first!.id);
      assert.deepEqual([done.state, done.result, done.endedAtMs], [
        "done",
        { sum: 4 },
        trial.nowMs,
      ]);
      const dead = await trial.find(second!.id);
      assert.deepEqual([dead.state, dead.reason, dead.error], ["dead", "fatal", "no such host"]);
      const counts = await trial.count();
      assert.deepEqual([counts.ready, counts.running, counts.delayed], [0, 0, 0]);
      assert.deepEqual(await trial.lease(9, 9), []);
    },
  },
  {
    name: "a delayed job is not claimable and has no age until it is due, then from then on",
    run: async (store) => {
      const trial = await openTrial(store);
      const dueAtMs = trial.nowMs + 36_000_000;
      await trial.add({ dueAtMs });

      trial.nowMs = dueAtMs - 1;
      const before = await trial.count();
      assert.deepEqual([before.ready, before.delayed, before.nextDueAtMs], [0, 1, dueAtMs]);
      assert.equal(before.oldestReadyAtMs, Infinity);
      assert.deepEqual(await trial.lease(1), []);

      await trial.add({ lane: 1, dueAtMs });
      trial.nowMs = dueAtMs + 250;
      assert.equal((await trial.lease(0, 1)).length, 1, "lease() sees what is due by itself");
      await trial.add();
      const after = await trial.count();
      assert.deepEqual([after.ready, after.delayed, after.nextDueAtMs], [2, 0, Infinity]);
      assert.equal(after.oldestReadyAtMs, dueAtMs);
      assert.equal((await trial.leaseOne()).readyAtMs, dueAtMs);
    },
  },
  {
    name: "a retry comes back to its lane when it is due, charged only if said so",
    run: async (store) => {
      const trial = await openTrial(store);
      const { id } = await trial.add();
      const first = await trial.leaseOne();
      const firstMs = trial.nowMs;
      const dueAtMs = firstMs + 1000;
      assert.ok(await trial.settle(first, "retry", { dueAtMs, error: "once" }));

      assert.deepEqual(await trial.lease(1, 1), []);
      assert.equal((await trial.find(id)).error, "once");
      trial.nowMs = dueAtMs;
      await trial.add();
      const second = await trial.leaseOne();
      assert.deepEqual([second.id, second.attempt, second.readyAtMs], [id, 2, dueAtMs]);
      if (second.job.firstReadyAtMs !== undefined) {
        assert.equal(second.job.firstReadyAtMs, firstMs, "no retry moves its deadline");
      }
      await trial.settle(second, "retry", { charged: false, dueAtMs });
      const [, third] = await trial.lease(2);
      assert.deepEqual([third!.id, third!.attempt], [id, 2]);
    },
  },
  {
    name: "settle() back puts a job to its old place, uncharged",
    run: async (store) => {
      const trial = await openTrial(store);
      const readyAtMs = trial.nowMs;
      for (let payload = 0; payload < 3; payload++) {
        await trial.add({ payload });
        trial.nowMs++;
      }
      const [first, second] = await trial.lease(2);
      await trial.settle(first!, "back", { charged: false });
      await trial.settle(second!, "back", { charged: false });

      assert.equal((await trial.count()).oldestReadyAtMs, readyAtMs);
      const again = await trial.lease(3);
      assert.deepEqual(again.map(({ job }) => job.payload), [0, 1, 2]);
      assert.deepEqual(again.map(({ attempt }) => attempt), [1, 1, 1]);
    },
  },
  {
    name: "an expired job is never leased but dead, and gives the lane no age",
    run: async (store) => {
      const trial = await openTrial(store);
      const { id } = await trial.add({ expiresAtMs: trial.nowMs + 100 });
      const second = await trial.add({ expiresAtMs: trial.nowMs + 100, payload: 2 });
      trial.nowMs += 50;
      await trial.add({ payload: 3 });
      const fresh = trial.nowMs;
      trial.nowMs += 50;

      const counts = await trial.count();
      const leased = await trial.lease(9);

      assert.deepEqual([counts.ready, counts.oldestReadyAtMs], [1, fresh]);
      assert.deepEqual(leased.map(({ job }) => job.payload), [3]);
      const record = await trial.find(id);
      assert.deepEqual([record.state, record.reason, record.attempt], ["dead", "expired", 0]);
      assert.deepEqual(trial.told.ended.map((one) => one.id), [id, second.id]);
    },
  },
  {
    name: "readySince() counts no younger jobs, and at least one if the oldest is as old",
    run: async (store) => {
      const trial = await openTrial(store);
      const oldest = trial.nowMs;
      for (let index = 0; index < 4; index++, trial.nowMs += 10) await trial.add();
      await trial.count();

      assert.equal(trial.queue.readySince(0, oldest - 1), 0);
      const some = trial.queue.readySince(0, oldest + 15);
      assert.ok(some >= 1 && some <= 2, `2 jobs are as old, at least 1 is known, but got ${some}`);
      assert.equal(trial.queue.readySince(1, oldest), 0);
    },
  },
];
