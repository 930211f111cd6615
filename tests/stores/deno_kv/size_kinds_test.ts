import assert from "node:assert/strict";
import { audit } from "../../../stores/deno_kv/doctor/audit.ts";
import { Doctor } from "../../../stores/deno_kv/doctor/doctor.ts";
import { Db } from "../../../stores/deno_kv/io/db.ts";
import { KvStore } from "../../../stores/deno_kv/store.ts";
import type { JobEntry, Leased, Queue, QueueOptions } from "../../../src/contract/store.ts";
import { openRemote, withServer } from "./_remote.ts";
import { end, entry, NOW, openQueue } from "./_store.ts";

const ALL = { done: Infinity, dead: Infinity, forMs: Infinity };
const LONG = "x".repeat(49_000);

interface World {
  readonly kv: Deno.Kv;
  readonly store: KvStore;
}

/** A store in memory whose commits are never refused for their size. */
async function withStore(test: (world: World) => Promise<void>): Promise<void> {
  const kv = await Deno.openKv(":memory:");
  const db = new Db(kv, { remote: false, maxChecks: 100, random: () => 0.1 });
  db.allowance.refused = () => assert.fail("A commit was larger than its transaction knew");
  const store = new KvStore(db, { file: undefined, remote: false, pollMs: Infinity, seen: 0 });
  try {
    await test({ kv, store });
  } finally {
    await store.close();
  }
}

function limited(maxRunningPerKey: number): QueueOptions["lanes"] {
  return [{ name: "a", maxRunningPerKey }];
}

function many(count: number, given: (index: number) => Partial<JobEntry>): JobEntry[] {
  return Array.from({ length: count }, (_, index) => entry(given(index)));
}

async function leaseAll(queue: Queue, nowMs = NOW): Promise<Leased[]> {
  const held: Leased[] = [];
  for (;;) {
    const leased = await queue.lease([10_000], nowMs);
    if (leased.length === 0) return held;
    held.push(...leased);
  }
}

Deno.test("KvQueue.settle() ends many jobs with large payloads of which nothing is kept", async () => {
  await withStore(async ({ kv, store }) => {
    const queue = await openQueue(store, { keep: { done: 0, dead: 0, forMs: Infinity } });
    const payload = "x".repeat(1_000_000);
    for (let n = 0; n < 80; n++) await queue.add([entry({ payload })], NOW);
    const held = await leaseAll(queue);

    const ends = held.map((job, index) =>
      index % 2 === 0 ? end(job) : end(job, "dead", { reason: "fatal" })
    );
    assert.deepEqual(await queue.settle(ends, NOW), ends.map(() => true));

    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue opens a lane whose limit is gone for many large jobs that wait", async () => {
  await withStore(async ({ kv, store }) => {
    const queue = await openQueue(store, { lanes: limited(1) });
    await queue.add(many(60, () => ({ payload: LONG, key: "k" })), NOW);
    await queue.leave(NOW);

    const other = await openQueue(store, { lanes: limited(Infinity) });

    assert.equal((await leaseAll(other)).length, 60);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue moves delayed jobs up that have keys of a limit that came later", async () => {
  await withStore(async ({ kv, store }) => {
    const queue = await openQueue(store, { lanes: limited(Infinity) });
    const entries = many(
      300,
      (index) => ({ key: `${index % 150}${"k".repeat(1000)}`, dueAtMs: NOW + 10 }),
    );
    await queue.add(entries, NOW);
    await queue.leave(NOW);
    const other = await openQueue(store, { lanes: limited(1) });

    await other.count(NOW + 20);

    let ran = 0;
    for (let held = await leaseAll(other, NOW + 20); held.length > 0;) {
      ran += held.length;
      await other.settle(held.map((job) => end(job)), NOW + 20);
      held = await leaseAll(other, NOW + 20);
    }
    assert.equal(ran, 300);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue takes back large jobs of a dead holder that die with it, and gives their places on", async () => {
  await withStore(async ({ kv, store }) => {
    const options = { lanes: limited(1), attempts: [1], keep: ALL, leaseMs: 1000 };
    const queue = await openQueue(store, options);
    const lanes = { ...options, lanes: limited(Infinity) };
    const zombie = await openQueue(store, lanes);
    await zombie.add(many(100, (index) => ({ key: `${index}` })), NOW);
    await queue.renew(NOW);
    assert.equal((await leaseAll(queue)).length, 100);
    for (let index = 0; index < 100; index++) {
      await zombie.add([entry({ key: `${index}`, payload: LONG })], NOW);
      await (queue as Queue).add([entry({ key: `${index}`, payload: LONG })], NOW);
    }
    for (let ms = 0; ms < 5000; ms += 300) await zombie.renew(NOW + ms);

    assert.equal((await zombie.count(NOW + 5000))[0]?.running, 0);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue ends many that have expired, and gives their places to large jobs that wait", async () => {
  await withStore(async ({ kv, store }) => {
    const queue = await openQueue(store, { lanes: limited(2), keep: ALL });
    await queue.add(many(90, (index) => ({ key: `${index}`, expiresAtMs: NOW + 10 })), NOW);
    await queue.add(many(180, (index) => ({ key: `${index % 90}`, payload: LONG })), NOW);

    await queue.count(NOW + 20);
    const held = await leaseAll(queue, NOW + 20);

    assert.equal(held.length, 180);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue gives a place on though all that would not fit into one commit has expired before", async () => {
  await withStore(async ({ kv, store }) => {
    const queue = await openQueue(store, { lanes: limited(1), keep: ALL });
    await queue.add([entry({ key: "k" })], NOW);
    await queue.add(many(300, () => ({ key: "k", expiresAtMs: NOW + 10 })), NOW);
    await queue.add([entry({ key: "k", payload: "last" })], NOW);
    const [first] = await queue.lease([1], NOW);

    await queue.settle([end(first!)], NOW + 20);

    let held: readonly Leased[] = [];
    for (let call = 0; call < 4 && held.length === 0; call++) {
      held = await queue.lease([1], NOW + 20);
    }
    assert.deepEqual(held.map(({ payload }) => payload), ["last"]);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue adds many jobs to many lanes at many times, under a long name", async () => {
  await withStore(async ({ kv, store }) => {
    const pool = "p".repeat(300);
    const lanes = Array.from(
      { length: 1000 },
      (_, n) => ({ name: `${n}`, maxRunningPerKey: Infinity }),
    );
    const queue = await openQueue(store, { pool, lanes, attempts: lanes.map(() => 3) });
    const entries = many(
      5000,
      (index) => ({ lane: index % 1000, dueAtMs: index % 3 === 0 ? NOW + index : 0 }),
    );

    const added = await queue.add(entries, NOW);
    const held = await queue.lease(lanes.map(() => 9), NOW + 5000);
    await queue.settle(held.map((job) => end(job, "done", { result: 1 })), NOW + 5000);

    assert.ok(added.every(({ error }) => error === undefined));
    assert.deepEqual(await audit(kv, pool), []);
  });
});

Deno.test("Doctor repairs more than one commit takes", async () => {
  const kv = await Deno.openKv(":memory:");
  try {
    const db = new Db(kv, { remote: false, maxChecks: 100, random: () => 0.1 });
    const store = new KvStore(db, { file: undefined, remote: false, pollMs: Infinity, seen: 0 });
    const queue = await openQueue(store, { keep: ALL });
    await queue.add(
      many(1500, (index) => ({ dueAtMs: NOW + 1 + index, payload: "x".repeat(2000) })),
      NOW,
    );
    await queue.leave(NOW);
    // Each job is there twice: with another beside it, so that a part is left of each.
    const prefix = ["sluice", "pool", "p", "z"];
    for (const { key, value } of await Array.fromAsync(kv.list<Uint8Array>({ prefix }))) {
      const twin = [...key.slice(0, 3), "r", ...key.slice(4)];
      const lines = `${new TextDecoder().decode(value)}\n[0,0,"${LONG.slice(20_000)}"]`;
      await kv.set(twin, new TextEncoder().encode(lines));
    }
    assert.ok((await audit(kv, "p")).length >= 1500);

    await new Doctor(kv).repair(NOW);

    assert.deepEqual(await audit(kv, "p"), []);
  } finally {
    kv.close();
  }
});

Deno.test("KvQueue ends what a server refuses in any size, and says what is not kept", async () => {
  await withServer({ maxChecks: 10, writeBytes: 41_000 }, async (server) => {
    const store = await openRemote(server);
    try {
      const queue = await openQueue(store, { keep: ALL });
      const payload = "x".repeat(39_000);
      const added = await queue.add([
        entry({ payload: 1 }),
        entry({ payload: LONG }),
        entry({ payload }),
      ], NOW);
      assert.match(added[1]?.error?.message ?? "", /^The job cannot be stored: .*400/);
      const held = await leaseAll(queue);
      assert.equal(held.length, 2);
      const ends = held.map((job) => end(job, "done", { result: "y".repeat(20_000) }));
      assert.deepEqual(await queue.settle(ends, NOW), [true, true]);
      const [small, , large] = await Promise.all(added.map(({ id }) => queue.find(id)));
      assert.equal(small?.result, "y".repeat(20_000));
      assert.equal(large?.state, "done");
      assert.match(large?.resultError ?? "", /^The result cannot be stored: /);
      assert.equal((await queue.count(NOW))[0]?.running, 0);
    } finally {
      await store.close();
    }
  });
});

Deno.test("KvQueue.change() cancels many whose places large jobs wait for", async () => {
  const kv = await Deno.openKv(":memory:");
  const db = new Db(kv, { remote: false, maxChecks: 100, random: () => 0.1 });
  const store = new KvStore(db, { file: undefined, remote: false, pollMs: Infinity, seen: 0 });
  try {
    const queue = await openQueue(store, { lanes: limited(1), keep: ALL });
    const added = await queue.add(many(60, (index) => ({ key: `${index}` })), NOW);
    await queue.add(many(60, (index) => ({ key: `${index}`, payload: LONG })), NOW);

    const changed = await Promise.all(added.map(({ id }) => queue.change(id, "cancel", NOW)));

    assert.ok(changed.every(({ ok }) => ok));
    assert.equal((await leaseAll(queue)).length, 60);
    assert.deepEqual(await audit(kv, "p"), []);
  } finally {
    await store.close();
  }
});
