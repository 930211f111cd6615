import assert from "node:assert/strict";
import { openTrial } from "../../src/testing/_trial.ts";
import type { Store } from "../../src/contract/store.ts";
import { MemoryStore } from "../../stores/memory/mod.ts";
import { openStore } from "./deno_kv/_store.ts";

const STORES: readonly (readonly [string, () => Store | Promise<Store>])[] = [
  ["memory", () => new MemoryStore()],
  ["deno-kv", () => openStore({ path: ":memory:" })],
];

function lanes(maxRunningPerKey: number) {
  return [{ name: "high", maxRunningPerKey }, { name: "low", maxRunningPerKey: Infinity }];
}

async function withStore(
  open: () => Store | Promise<Store>,
  test: (store: Store) => Promise<void>,
): Promise<void> {
  const store = await open();
  try {
    await test(store);
  } finally {
    await store.close();
  }
}

for (const [name, open] of STORES) {
  Deno.test(`${name}: a delayed job that keeps its key's slot lets no other in until it has run`, async () => {
    await withStore(open, async (store) => {
      const trial = await openTrial(store, { lanes: lanes(1) });
      for (let payload = 0; payload < 4; payload++) await trial.add({ key: "k", payload });
      const dueAtMs = trial.nowMs + 1000;

      await trial.settle(await trial.leaseOne(), "retry", { dueAtMs, keepsSlot: true });
      const waits = await trial.count();
      assert.deepEqual([waits.ready, waits.blocked, waits.delayed], [0, 3, 1]);
      assert.deepEqual(await trial.lease(4), []);

      trial.nowMs = dueAtMs;
      const due = await trial.count();
      assert.deepEqual([due.ready, due.blocked, due.delayed], [1, 3, 0]);
      const again = await trial.leaseOne();
      assert.equal(again.job.payload, 0);
      await trial.settle(again, "retry", { dueAtMs: trial.nowMs, keepsSlot: true });
      const order: unknown[] = [];
      for (;;) {
        const held = await trial.lease(4);
        if (held.length === 0) break;
        assert.equal(held.length, 1);
        order.push(held[0]!.job.payload);
        await trial.settle(held[0]!, "done");
      }
      assert.deepEqual(order, [0, 1, 2, 3], "a job that is due again at once keeps its slot too");
    });
  });

  Deno.test(`${name}: other keys go on beside a key whose slots are kept`, async () => {
    await withStore(open, async (store) => {
      const trial = await openTrial(store, { lanes: lanes(2) });
      for (let payload = 0; payload < 50; payload++) await trial.add({ key: "bad", payload });
      await trial.add({ key: "good" });
      const dueAtMs = trial.nowMs + 1000;
      for (const held of await trial.lease(2)) {
        await trial.settle(held, "retry", { dueAtMs, keepsSlot: true });
      }

      const [only, ...others] = await trial.lease(9);
      assert.equal(only?.job.key, "good");
      assert.deepEqual(others, []);
    });
  });

  for (const end of ["cancelled", "expired", "another limit"] as const) {
    Deno.test(`${name}: a slot that a delayed job keeps is free once that is ${end}`, async () => {
      await withStore(open, async (store) => {
        const trial = await openTrial(store, { lanes: lanes(1) });
        const expiresAtMs = end === "expired" ? trial.nowMs + 500 : Infinity;
        const first = await trial.add({ key: "k", expiresAtMs });
        const second = await trial.add({ key: "k" });
        const dueAtMs = trial.nowMs + 1000;
        await trial.settle(await trial.leaseOne(), "retry", { dueAtMs, keepsSlot: true });

        if (end === "cancelled") await trial.cancel(first.id);
        else if (end === "expired") {
          trial.nowMs = dueAtMs;
          await trial.count();
        } else {
          for (const maxRunningPerKey of [2, Infinity, 1, 2]) {
            const adopt = await trial.queue.reopen!({
              lanes: lanes(maxRunningPerKey),
              leaseMs: 30_000,
              attempts: [3, 3],
              keep: { done: 1000, dead: 1000, forMs: Infinity },
            });
            adopt(trial.nowMs);
            await trial.queue.renew(trial.nowMs);
            await trial.count();
          }
        }
        const held = await trial.leaseOne();
        assert.equal(held.id, second.id);
        await trial.settle(held, "done");
        trial.nowMs = dueAtMs + 1000;
        for (const one of await trial.lease(5)) await trial.settle(one, "done");
        for (let payload = 0; payload < 3; payload++) await trial.add({ key: "k", payload });
        assert.equal((await trial.lease(5)).length, end === "another limit" ? 2 : 1);
      });
    });
  }

  Deno.test(`${name}: a kept slot outlives the process that kept it`, async () => {
    await withStore(open, async (store) => {
      const one = await openTrial(store, { lanes: lanes(1) });
      const other = await openTrial(store, { lanes: lanes(1) });
      await one.add({ key: "k", payload: 0 });
      await one.add({ key: "k", payload: 1 });
      const dueAtMs = one.nowMs + 1000;
      await one.settle(await one.leaseOne(), "retry", { dueAtMs, keepsSlot: true });
      await one.queue.leave(one.nowMs);

      assert.deepEqual(await other.lease(2), []);
      other.nowMs = dueAtMs;
      assert.equal((await other.leaseOne()).job.payload, 0);
    });
  });
}
