/**
 * What a store must hold that can change the rules of a queue which is open.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { QueueRules } from "../contract/store.ts";
import { endOf, LEASE_MS, openTrial, type StoreCheck, type StoreTrial } from "./_trial.ts";

function rules(names: readonly string[], maxRunningPerKey = Infinity): QueueRules {
  return {
    lanes: names.map((name) => ({ name, maxRunningPerKey })),
    attempts: names.map(() => 3),
    leaseMs: LEASE_MS,
    keep: { done: 1000, dead: 1000, forMs: Infinity },
  };
}

/** Puts rules in effect. */
async function reopen(trial: StoreTrial, to: QueueRules): Promise<void> {
  const adopt = await trial.queue.reopen?.(to);
  adopt?.(trial.nowMs);
}

/** `reopen`. A store without it is not asked. */
export const reopenChecks: readonly StoreCheck[] = [
  {
    name: "an open queue takes other lanes in another order, and each keeps its jobs",
    run: async (store) => {
      const trial = await openTrial(store);
      if (trial.queue.reopen === undefined) return;
      const high = await trial.add({ lane: 0 });
      const low = await trial.add({ lane: 1 });
      const prepared = await trial.queue.reopen(rules(["low", "new", "high"]));
      assert.equal((await trial.count(0)).ready, 1); // the old rules hold until the new ones are in effect
      assert.equal((await trial.lease(0, 0, 1)).length, 0);

      prepared(trial.nowMs);

      const added = await trial.add({ lane: 1 });
      const counts = [await trial.count(0), await trial.count(1), await trial.count(2)];
      assert.deepEqual(counts.map(({ ready }) => ready), [1, 1, 1]);
      const held = [
        ...await trial.lease(1),
        ...await trial.lease(0, 1),
        ...await trial.lease(0, 0, 1),
      ];
      assert.deepEqual(held.map(({ id }) => id), [low.id, added.id, high.id]);
      assert.deepEqual(held.map(({ job }) => [job.lane, job.laneIndex]), [
        ["low", 0],
        ["new", 1],
        ["high", 2],
      ]);
      for (const lease of held) assert.equal(await trial.settle(lease, "done"), true);
    },
  },
  {
    name:
      "leases and outcomes outlast other rules, and a lane that goes keeps its jobs until it is back",
    run: async (store) => {
      const trial = await openTrial(store);
      if (trial.queue.reopen === undefined) return;
      const running = await trial.add({ lane: 1 });
      const waiting = await trial.add({ lane: 1 });
      const outcome = trial.queue.outcome(running);
      const [held] = await trial.lease(0, 1);

      await reopen(trial, rules(["high"]));
      assert.equal(await trial.settle(held!, "done", { result: "kept" }), true); // it was just leased
      assert.deepEqual(await endOf(outcome), { state: "done", result: "kept" });
      assert.equal((await trial.find(waiting.id)).state, "ready");
      assert.deepEqual(await trial.lease(9), []);

      await reopen(trial, rules(["high", "low"]));
      assert.deepEqual((await trial.lease(0, 9)).map(({ id }) => id), [waiting.id]);
    },
  },
  {
    name: "another limit by key holds at once, those that run counted in",
    run: async (store) => {
      const trial = await openTrial(store);
      if (trial.queue.reopen === undefined) return;
      for (let index = 0; index < 4; index++) await trial.add({ key: "k" });
      const held = await trial.leaseOne();

      await reopen(trial, rules(["high", "low"], 2));
      const [second] = await trial.lease(9);
      assert.deepEqual(await trial.lease(9), []);
      await trial.settle(held, "done");
      await trial.settle(second!, "done"); // it was just leased
      assert.equal((await trial.lease(9)).length, 2);

      await reopen(trial, rules(["high", "low"]));
      for (let index = 0; index < 3; index++) await trial.add({ key: "k" });
      assert.equal((await trial.lease(9)).length, 3);
    },
  },
];
