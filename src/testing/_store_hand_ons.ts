/**
 * What a store must hold of ends that are handed on: each is noted with the end, and taken away by one job.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { HandOn, Store } from "../contract/store.ts";
import { renewUntilAlone } from "./_store_dead_members.ts";
import { openTrial, type StoreCheck, type StoreTrial } from "./_trial.ts";

const LEADING = {
  lanes: [
    { name: "high", maxRunningPerKey: Infinity, handsOn: ["done", "dead"] },
    { name: "low", maxRunningPerKey: Infinity },
  ],
} as const;

/** A check on a pool whose first lane leads on. A store that hands nothing on passes. */
function check(
  name: string,
  run: (trial: StoreTrial, store: Store) => Promise<void>,
): StoreCheck {
  return {
    name,
    run: async (store) => {
      const trial = await openTrial(store, LEADING);
      if (trial.queue.toHandOn !== undefined) await run(trial, store);
    },
  };
}

async function noted(
  { queue }: StoreTrial,
  limit = 100,
  after?: string,
): Promise<readonly HandOn[]> {
  return await queue.toHandOn?.(limit, after) ?? [];
}

/** Ends that are noted, and ends that are not. */
export const handOnChecks: readonly StoreCheck[] = [
  check("ends of a lane that leads on are noted as they were, and no others", async (trial) => {
    const ends = [
      ["done", { result: { total: 3 } }],
      ["dead", { reason: "fatal", error: "no" }],
      ["cancelled", {}],
      ["retry", { error: "later" }],
    ] as const;
    const ids = [];
    for (const [to, more] of ends) {
      const { id } = await trial.add({ payload: { to }, key: "k", traceparent: "00-1" });
      ids.push(id);
      assert.equal(await trial.settle(await trial.leaseOne(), to, more), true);
    }
    await trial.add({ lane: 1 });
    const [other] = await trial.lease(0, 1);
    await trial.settle(other!, "dead");

    const records = (await noted(trial)).map(({ record }) => record);
    const done = records.find(({ state }) => state === "done");
    const dead = records.find(({ state }) => state === "dead");
    assert.equal(records.length, 2);
    assert.deepEqual([done?.id, done?.lane, done?.result], [ids[0], "high", { total: 3 }]);
    assert.deepEqual([done?.key, done?.traceparent], ["k", "00-1"]);
    assert.deepEqual(dead, await trial.find(ids[1]!));
  }),
  check(
    "a job that has a note's precondition takes it away, and is stored once",
    async (trial, store) => {
      await trial.add();
      await trial.settle(await trial.leaseOne(), "done");
      const [{ precondition } = assert.fail("nothing is noted")] = await noted(trial);
      const care = await openTrial(store, { pool: "care" });

      const first = await care.add({ precondition });
      const second = await care.add({ precondition });

      assert.deepEqual([first.duplicate, second.duplicate, second.id], [false, true, ""]);
      assert.deepEqual(await noted(trial), []);
      assert.equal(await store.get(precondition.key), undefined);
    },
  ),
  check(
    "ends are noted page by page, and stay noted without their record and their member",
    async (trial, store) => {
      const other = await openTrial(store, {
        ...LEADING,
        attempts: [1, 1],
        keep: { done: 0, dead: 0, forMs: Infinity },
      });
      const ids = new Set<string>();
      for (let job = 0; job < 3; job++) ids.add((await other.add()).id);
      for (const held of await other.lease(2)) await other.settle(held, "dead");
      await other.leaseOne();
      trial.nowMs = other.nowMs;
      const late = await openTrial(store, { ...LEADING, attempts: [1, 1] });
      await trial.queue.leave(trial.nowMs);
      await renewUntilAlone(late); // its last attempt dies with it

      const found: string[] = [];
      let after: string | undefined;
      for (;;) {
        const page = await noted(late, 1, after);
        if (page.length === 0) break;
        assert.equal(page.length, 1);
        found.push(page[0]!.record.id);
        after = page[0]!.precondition.key;
      }
      assert.deepEqual(new Set(found), ids);
      assert.equal(found.length, 3);
    },
  ),
  check(
    "a job that expires is noted, and rules that are reopened hold for ends from then on",
    async (trial) => {
      await trial.add({ expiresAtMs: trial.nowMs + 10, payload: 1 });
      trial.nowMs += 20;
      await trial.lease(1);
      assert.deepEqual((await noted(trial)).map(({ record }) => record.reason), ["expired"]);
      if (trial.queue.reopen === undefined) return;
      const rules = {
        lanes: [{ name: "high", maxRunningPerKey: Infinity }],
        leaseMs: 30_000,
        attempts: [3],
        keep: { done: 1000, dead: 1000, forMs: Infinity },
      };
      (await trial.queue.reopen(rules))(trial.nowMs);
      await trial.add();
      await trial.settle(await trial.leaseOne(), "dead");
      assert.equal((await noted(trial)).length, 1);
    },
  ),
];
