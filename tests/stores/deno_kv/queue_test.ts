import assert from "node:assert/strict";
import { audit } from "../../../stores/deno_kv/doctor/audit.ts";
import { Db } from "../../../stores/deno_kv/io/db.ts";
import { KvStore } from "../../../stores/deno_kv/store.ts";
import { end, entry, NOW, openQueue } from "./_store.ts";

const LIMITED = { lanes: [{ name: "a", maxRunningPerKey: 1 }] };
const FREE = { lanes: [{ name: "a", maxRunningPerKey: Infinity }] };

/** A store whose database the test sees too. */
async function withDatabase(
  test: (store: KvStore, kv: Deno.Kv) => Promise<void>,
  remote = false,
): Promise<void> {
  const kv = await Deno.openKv(":memory:");
  const db = new Db(kv, { remote, maxChecks: remote ? 10 : 100, random: () => 0.5 });
  const store = new KvStore(db, { file: undefined, remote: false, pollMs: Infinity, seen: 0 });
  try {
    await test(store, kv);
  } finally {
    await store.close();
  }
}

async function keysOf(kv: Deno.Kv, kind: string): Promise<number> {
  const prefix = ["sluice", "pool", "p", kind];
  return (await Array.fromAsync(kv.list({ prefix }))).length;
}

Deno.test("KvQueue puts jobs of a lane that are added together into one key, and cuts it to lease", async () => {
  await withDatabase(async (store, kv) => {
    const queue = await openQueue(store);
    const adds = Array.from({ length: 90 }, (_, payload) => queue.add([entry({ payload })], NOW));
    const added = (await Promise.all(adds)).flat();
    assert.equal(await keysOf(kv, "r"), 1);

    const first = await queue.lease([30], NOW);
    const second = await queue.lease([100], NOW);

    assert.deepEqual(
      [...first, ...second].map(({ id, payload }) => [id, payload]),
      added.map(({ id }, payload) => [id, payload]),
    );
    assert.deepEqual([await keysOf(kv, "r"), await keysOf(kv, "l")], [0, 2]);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue leases the jobs of a large backlog with as many reads as those of a small one", async () => {
  await withDatabase(async (store, kv) => {
    const queue = await openQueue(store, LIMITED);
    for (let batch = 0; batch < 20; batch++) {
      const blocked = Array.from({ length: 40 }, () => entry({ key: "busy" }));
      await queue.add(blocked, NOW);
    }
    await queue.add([entry({ key: "other", payload: "other" })], NOW);
    const list = kv.list.bind(kv);
    let read = 0;
    kv.list = (...given) => {
      read++;
      return list(...given);
    };

    const held = await queue.lease([8], NOW);

    assert.deepEqual(held.map(({ payload }) => payload), [null, "other"]);
    assert.equal(read, 1, "800 jobs of a key that is taken are not looked at");
  });
});

Deno.test("KvQueue holds a limit on keys that its lane did not have when jobs were added", async () => {
  await withDatabase(async (store, kv) => {
    const before = await openQueue(store, FREE);
    await before.add([1, 2, 3].map((payload) => entry({ key: "k", payload })), NOW);
    await before.leave(NOW);

    const queue = await openQueue(store, LIMITED);
    const held = await queue.lease([3], NOW);
    const [counts] = await queue.count(NOW);

    assert.deepEqual(held.map(({ payload }) => payload), [1]);
    assert.deepEqual([counts!.blocked, counts!.running], [2, 1]);
    await queue.settle([end(held[0]!)], NOW);
    assert.deepEqual((await queue.lease([3], NOW)).map(({ payload }) => payload), [2]);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue lets jobs go that waited for places once there is no limit", async () => {
  await withDatabase(async (store, kv) => {
    const before = await openQueue(store, LIMITED);
    await before.add([1, 2, 3].map((payload) => entry({ key: "k", payload })), NOW);
    await before.leave(NOW);

    const queue = await openQueue(store, FREE);
    const held = await queue.lease([3], NOW);

    assert.deepEqual(held.map(({ payload }) => payload).toSorted(), [1, 2, 3]);
    await queue.settle(held.map((job) => end(job)), NOW);
    assert.deepEqual(await audit(kv, "p"), []);
    assert.equal(await keysOf(kv, "k"), 0);
  });
});

Deno.test("KvQueue keeps payloads of many sizes, and nothing of them in the end", async () => {
  await withDatabase(async (store, kv) => {
    const queue = await openQueue(store, { keep: { done: 1, dead: 1, forMs: Infinity } });
    const payloads = [49_000, 51_000, 65_536, 130_000, 1_048_574].map((size) =>
      "ü".repeat(size / 2)
    );
    const added = await queue.add(payloads.map((payload) => entry({ payload })), NOW);
    assert.deepEqual(added.map(({ error }) => error), payloads.map(() => undefined));

    const held = await queue.lease([9], NOW);
    const sizes = held.map(({ payload }) => String(payload).length).toSorted((a, b) => a - b);
    assert.deepEqual(sizes, payloads.map(({ length }) => length));
    await queue.settle(held.map((job) => end(job)), NOW);
    await queue.count(NOW);

    assert.equal(await keysOf(kv, "d"), 1);
    const { jobs: [kept] } = await queue.list({ limit: 9 });
    assert.ok(payloads.includes(String(kept!.payload)), "the kept one has its payload");
    await queue.change(kept!.id, "remove", NOW);
    assert.deepEqual([await keysOf(kv, "b"), await keysOf(kv, "m"), await keysOf(kv, "d")], [
      0,
      0,
      0,
    ]);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue answers entries that it cannot take with the limit, others as usual", async () => {
  await withDatabase(async (store) => {
    const queue = await openQueue(store);

    const added = await queue.add([
      entry({ payload: "x".repeat(1_048_575) }),
      entry({ key: "k".repeat(1501) }),
      entry({ dedupeKey: "€".repeat(501) }),
      entry({ payload: 1n }),
      entry({ payload: "fits", key: "k".repeat(1024) }),
    ], NOW);

    assert.deepEqual(added.map(({ error }) => error?.message), [
      "Expected a payload of at most 1048576 bytes as JSON but received 1048577: " +
      "store it elsewhere and enqueue its address",
      "Expected key of at most 1500 bytes but received 1501",
      "Expected dedupeKey of at most 1500 bytes but received 1503",
      "Do not know how to serialize a BigInt",
      undefined,
    ]);
    assert.deepEqual((await queue.lease([9], NOW)).map(({ payload }) => payload), ["fits"]);
  });
});

Deno.test("KvQueue keeps results that are JSON and not too large, and says why it does not keep others", async () => {
  await withDatabase(async (store) => {
    const queue = await openQueue(store);
    const added = await queue.add([1, 2, 3].map((payload) => entry({ payload })), NOW);
    const outcomes = added.map((one) => queue.outcome(one));
    const held = await queue.lease([3], NOW);
    const results = [{ ok: true }, 5n, "x".repeat(70_000)];

    await queue.settle(held.map((job, index) => end(job, "done", { result: results[index] })), NOW);

    const kept = await Promise.all(added.map(({ id }) => queue.find(id)));
    for (const answers of [await Promise.all(outcomes), kept]) {
      assert.deepEqual(answers.map((one) => [one?.state, one?.result, one?.resultError]), [
        ["done", { ok: true }, undefined],
        ["done", undefined, "The result cannot be stored: Do not know how to serialize a BigInt"],
        [
          "done",
          undefined,
          "The result cannot be stored: it has 70002 bytes as JSON, and at most 60000 are kept; " +
          "store it elsewhere and return its address",
        ],
      ]);
    }
  });
});

Deno.test("KvQueue ends jobs of a part one by one, in any order, each with what it returned", async () => {
  await withDatabase(async (store, kv) => {
    const queue = await openQueue(store);
    const added = await queue.add([0, 1, 2, 3].map((payload) => entry({ payload })), NOW);
    const held = await queue.lease([4], NOW);

    for (const index of [2, 0, 3, 1]) {
      await queue.settle([end(held[index]!, "done", { result: index * 10 })], NOW);
      assert.deepEqual(await audit(kv, "p"), []);
    }

    const records = await Promise.all(added.map(({ id }) => queue.find(id)));
    assert.deepEqual(records.map((record) => [record?.payload, record?.result]), [
      [0, 0],
      [1, 10],
      [2, 20],
      [3, 30],
    ]);
    assert.deepEqual([await keysOf(kv, "l"), await keysOf(kv, "p")], [0, 0]);
  });
});

Deno.test("KvQueue puts a retry behind those that were claimable before it, in its lane", async () => {
  await withDatabase(async (store) => { // D4
    const queue = await openQueue(store, {
      lanes: [
        { name: "urgent", maxRunningPerKey: Infinity },
        { name: "batch", maxRunningPerKey: Infinity },
      ],
    });
    await queue.add([entry({ payload: "u" }), ...Array(50).fill(entry({ lane: 1 }))], NOW);
    const [urgent] = await queue.lease([1], NOW);
    await queue.settle([end(urgent!, "retry", { dueAtMs: NOW })], NOW);

    const again = await queue.lease([1, 1], NOW + 1);

    assert.deepEqual(again.map(({ payload, attempt }) => [payload, attempt]), [["u", 2], [
      null,
      1,
    ]]);
  });
});

Deno.test("KvQueue leaves lanes that it does not have to others", async () => {
  await withDatabase(async (store) => {
    const old = await openQueue(store, { lanes: [{ name: "gone", maxRunningPerKey: Infinity }] });
    const { id } = (await old.add([entry()], NOW))[0]!;
    await old.leave(NOW);

    const queue = await openQueue(store);
    assert.deepEqual(await queue.lease([9], NOW), []);
    assert.deepEqual(
      [(await queue.find(id))?.lane, (await queue.find(id))?.state],
      ["gone", "ready"],
    );
    const again = await openQueue(store, { lanes: [{ name: "gone", maxRunningPerKey: Infinity }] });
    assert.equal((await again.lease([9], NOW))[0]?.id, id);
  });
});

Deno.test("KvQueue works with tokens and 10 checks, as over the network", async () => {
  await withDatabase(async (store, kv) => {
    const queue = await openQueue(store, LIMITED);
    const entries = Array.from(
      { length: 60 },
      (_, payload) => entry({ payload, key: `${payload % 30}` }),
    );
    await queue.add(entries, NOW);
    const seen: unknown[] = [];
    for (;;) {
      const held = await queue.lease([25], NOW);
      if (held.length === 0) break;
      seen.push(...held.map(({ payload }) => payload));
      await queue.settle(held.map((job) => end(job)), NOW);
    }

    assert.equal(new Set(seen).size, 60);
    assert.deepEqual(await audit(kv, "p"), []);
  }, true);
});
