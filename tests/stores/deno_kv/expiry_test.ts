import assert from "node:assert/strict";
import { audit } from "../../../stores/deno_kv/doctor/audit.ts";
import { Db } from "../../../stores/deno_kv/io/db.ts";
import { KvStore } from "../../../stores/deno_kv/store.ts";
import type { JobRecord } from "../../../src/contract/job.ts";
import type { Queue } from "../../../src/contract/store.ts";
import { entry, NOW, openQueue } from "./_store.ts";

interface World {
  readonly queue: Queue;
  readonly db: Db;
  readonly kv: Deno.Kv;
  /** Jobs that ended while they waited. */
  readonly ended: JobRecord[];
  /** How often the pool was woken. */
  wakes: number;
}

/** A lane with 5,000 jobs that expire at once, a second one behind it. */
async function withExpiring(test: (world: World) => Promise<void>): Promise<void> {
  const kv = await Deno.openKv(":memory:");
  const db = new Db(kv, { remote: false, maxChecks: 100, random: () => 0.1 });
  const store = new KvStore(db, { file: undefined, remote: false, pollMs: Infinity, seen: 0 });
  const ended: JobRecord[] = [];
  try {
    const world = { db, kv, ended, wakes: 0 };
    const queue = await openQueue(store, {
      lanes: ["batch", "urgent"].map((name) => ({ name, maxRunningPerKey: Infinity })),
      keep: { done: Infinity, dead: Infinity, forMs: Infinity },
      listener: {
        wake: () => world.wakes++,
        cancelled() {},
        ended: (record) => ended.push(record),
      },
    });
    for (let call = 0; call < 10; call++) {
      const entries = Array.from(
        { length: 500 },
        (_, payload) => entry({ payload, expiresAtMs: NOW + 10 }),
      );
      await queue.add(entries, NOW);
    }
    await test(Object.assign(world, { queue }));
  } finally {
    await store.close();
  }
}

Deno.test("KvQueue.lease() does not wait for 5,000 jobs before a live one that have expired", async () => {
  await withExpiring(async ({ queue, db }) => {
    await queue.add([entry({ payload: "live" })], NOW + 20);
    const before = db.commits;

    const held = await queue.lease([4, 0], NOW + 20);

    assert.deepEqual(held.map(({ payload }) => payload), ["live"]);
    assert.ok(db.commits - before <= 2, `${db.commits - before} commits`);
  });
});

Deno.test("KvQueue.lease() answers soon where all have expired, and is woken to ask again", async () => {
  await withExpiring(async (world) => {
    const { queue, db, ended, kv } = world;
    const before = db.commits;

    assert.deepEqual(await queue.lease([4, 0], NOW + 20), []);

    assert.ok(db.commits - before <= 2, `${db.commits - before} commits`);
    assert.ok(ended.length >= 100, `${ended.length} have ended`);
    assert.ok(world.wakes > 0);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue.count() ends 5,000 jobs that have expired in few calls, each told of once", async () => {
  await withExpiring(async ({ queue, ended, kv }) => {
    let calls = 0;
    while (((await queue.count(NOW + 20 + calls))[0]?.ready ?? 0) > 0) calls++;

    assert.ok(calls <= 2, `${calls} calls`);
    assert.equal(new Set(ended.map(({ id }) => id)).size, 5000);
    assert.ok(ended.every(({ reason }) => reason === "expired"));
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue ends the expired jobs of a part and leases the others", async () => {
  await withExpiring(async ({ queue, ended, kv }) => {
    const entries = Array.from(
      { length: 80 },
      (_, payload) =>
        entry({ lane: 1, payload, expiresAtMs: payload % 2 === 0 ? NOW + 10 : NOW + 1000 }),
    );
    await queue.add(entries, NOW);

    const held = await queue.lease([0, 100], NOW + 20);

    assert.deepEqual(
      held.map(({ payload }) => payload),
      entries.map((_, n) => n).filter((n) => n % 2 === 1),
    );
    assert.equal(ended.filter(({ lane }) => lane === "urgent").length, 40);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});
