import assert from "node:assert/strict";
import { audit } from "../../../stores/deno_kv/doctor/audit.ts";
import { Db } from "../../../stores/deno_kv/io/db.ts";
import { KvStore } from "../../../stores/deno_kv/store.ts";
import type { Leased, Queue, QueueRules } from "../../../src/contract/store.ts";
import { end, entry, NOW, openQueue, openStore, withFolder } from "./_store.ts";

const LEASE_MS = 1000;

async function withStore(
  maxChecks: number,
  test: (store: KvStore, kv: Deno.Kv) => Promise<void>,
): Promise<void> {
  const kv = await Deno.openKv(":memory:");
  const db = new Db(kv, { remote: false, maxChecks, random: () => 0.1 });
  const store = new KvStore(db, { file: undefined, remote: false, pollMs: Infinity, seen: 0 });
  try {
    await test(store, kv);
  } finally {
    await store.close();
  }
}

/** Lanes by name, with their limit on jobs of one key. */
function rules(lanes: Readonly<Record<string, number>>): QueueRules {
  const names = Object.keys(lanes);
  return {
    lanes: names.map((name) => ({ name, maxRunningPerKey: lanes[name]! })),
    attempts: names.map(() => 3),
    leaseMs: LEASE_MS,
    keep: { done: 10, dead: 10, forMs: Infinity },
  };
}

async function prepare(queue: Queue, given: QueueRules): Promise<(nowMs: number) => void> {
  assert.ok(queue.reopen !== undefined);
  return await queue.reopen(given);
}

async function reopen(queue: Queue, lanes: Readonly<Record<string, number>>): Promise<void> {
  (await prepare(queue, rules(lanes)))(NOW);
}

/** Leases all that is claimable: one call gives no more than one commit takes. */
async function leaseAll(queue: Queue): Promise<Leased[]> {
  const held: Leased[] = [];
  for (;;) {
    const jobs = await queue.lease([500], NOW);
    if (jobs.length === 0) return held;
    held.push(...jobs);
  }
}

/** Leases and ends until nothing is claimable. How many jobs that were. */
async function drain(queue: Queue): Promise<number> {
  for (let ran = 0;;) {
    const jobs = await queue.lease([9], NOW);
    if (jobs.length === 0) return ran;
    await queue.settle(jobs.map((job) => end(job)), NOW);
    ran += jobs.length;
  }
}

for (const maxChecks of [100, 10]) {
  Deno.test(`KvQueue.reopen() gives free places of a higher limit to those that wait, with ${maxChecks} checks`, async () => {
    await withStore(maxChecks, async (store, kv) => {
      const queue = await openQueue(store, rules({ a: 1 }));
      const keys = Array.from({ length: 300 }, (_, n) => (n < 40 ? "many" : `k${n % 130}`));
      await queue.add(keys.map((key) => entry({ key })), NOW);
      const held = await leaseAll(queue);
      assert.equal(held.length, 131);

      await reopen(queue, { a: 30 });

      const more = await leaseAll(queue);
      assert.equal(more.filter(({ key }) => key === "many").length, 29);
      assert.equal(held.length + more.length, 30 + 260, "all but ten of one key run");
      assert.deepEqual(await audit(kv, "p"), []);
      await queue.settle([...held, ...more].map((job) => end(job)), NOW);
      assert.equal(await drain(queue), 10);
      assert.deepEqual(await audit(kv, "p"), []);
    });
  });

  Deno.test(`KvQueue.reopen() counts in what runs, however it ends, with ${maxChecks} checks`, async () => {
    await withStore(maxChecks, async (store, kv) => {
      const queue = await openQueue(store, rules({ a: Infinity }));
      const keys = Array.from({ length: 60 }, (_, n) => `k${n % 20}`);
      await queue.add(keys.map((key) => entry({ key })), NOW);
      const held = await queue.lease([30], NOW);
      assert.equal(held.length, 30);
      assert.deepEqual(await queue.settle([end(held[0]!)], NOW), [true]);

      await reopen(queue, { a: 1 });
      assert.deepEqual(await queue.lease([99], NOW), []);
      assert.deepEqual(await audit(kv, "p"), []);

      const ends = held.slice(1).map((job, n) =>
        end(job, (["done", "dead", "retry", "back"] as const)[n % 4], { dueAtMs: NOW })
      );
      assert.ok((await queue.settle(ends, NOW)).every((accepted) => accepted));
      assert.equal(
        await drain(queue),
        60 - 1 - ends.filter(({ to }) => to === "done" || to === "dead").length,
      );
      assert.deepEqual(await audit(kv, "p"), []);
    });
  });
}

Deno.test("KvQueue.reopen() leaves places right when the holder dies of whom they were counted", async () => {
  await withStore(100, async (store, kv) => {
    const dying = await openQueue(store, rules({ a: Infinity }));
    const other = await openQueue(store, rules({ a: 1 }));
    await dying.add([entry({ key: "k" }), entry({ key: "k" })], NOW);
    await dying.lease([2], NOW);
    await reopen(dying, { a: 1 });
    await dying.lease([1], NOW);

    for (let nowMs = NOW; (await other.renew(nowMs)).peers > 1; nowMs += LEASE_MS / 3);

    assert.deepEqual(await audit(kv, "p"), []);
    assert.equal(await drain(other), 2);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue.reopen() has no part in a lease that is on its way, nor in its order of lanes", async () => {
  await withStore(100, async (store, kv) => {
    const queue = await openQueue(store, rules({ a: Infinity, b: Infinity }));
    await queue.add([entry({ lane: 0, key: "k" }), entry({ lane: 1, key: "k" })], NOW);
    const prepared = await prepare(queue, rules({ b: 1, a: 1 }));
    const wants = [1, 0];

    const leased = queue.lease(wants, NOW);
    prepared(NOW);
    wants[0] = 0;

    const [job] = await leased;
    assert.deepEqual([job?.lane, job?.laneIndex], ["a", 1]);
    await queue.add([entry({ lane: 1, key: "k" })], NOW);
    assert.deepEqual(await queue.lease([0, 1], NOW), [], "the place of the key is taken");
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue.reopen() has attempts, leaseMs and keep as they are told", async () => {
  await withStore(100, async (store) => {
    const queue = await openQueue(store, rules({ a: Infinity }));
    const other = await openQueue(store, rules({ a: Infinity }));
    const prepared = await prepare(queue, {
      ...rules({ a: Infinity }),
      attempts: [1],
      leaseMs: 9 * LEASE_MS,
      keep: { done: 2, dead: 10, forMs: Infinity },
    });
    prepared(NOW);
    await queue.add([1, 2, 3, 4, 5].map((payload) => entry({ payload })), NOW);

    assert.equal((await queue.renew(NOW)).nextAtMs, NOW + 3 * LEASE_MS);
    const held = await queue.lease([4], NOW);
    await queue.settle(held.map((job) => end(job)), NOW);
    await queue.count(NOW);
    assert.equal((await queue.list({ state: "done", limit: 9 })).jobs.length, 2);
    await other.lease([1], NOW);
    for (let beat = 1; beat < 20; beat++) await queue.renew(NOW + beat * LEASE_MS / 3);
    assert.deepEqual(
      (await queue.list({ state: "dead", limit: 9 })).jobs.map((
        { payload, reason },
      ) => [payload, reason]),
      [
        [5, "attempts"],
      ],
    );
  });
});

Deno.test("KvQueue.reopen() of two processes at once gives each lane one number", async () => {
  await withFolder(async (folder) => {
    const one = await openStore({ path: `${folder}/q.db` });
    const other = await openStore({ path: `${folder}/q.db` });
    try {
      const mine = await openQueue(one, rules({ a: Infinity }));
      const theirs = await openQueue(other, rules({ a: Infinity }));

      await Promise.all([
        reopen(mine, { a: Infinity, b: Infinity, c: Infinity }),
        reopen(theirs, { c: Infinity, a: Infinity, d: Infinity }),
      ]);

      await mine.add([entry({ lane: 2, payload: "in c" })], NOW);
      const jobs = await theirs.lease([1, 0, 0], NOW);
      assert.deepEqual(jobs.map(({ lane, payload }) => [lane, payload]), [["c", "in c"]]);
    } finally {
      await one.close();
      await other.close();
    }
  });
});
