import assert from "node:assert/strict";
import { audit } from "../../../../stores/deno_kv/doctor/audit.ts";
import type { Leased, Queue, QueueOptions, Store } from "../../../../src/contract/store.ts";
import { end, entry, NOW, openQueue, openStore, withFolder } from "../_store.ts";

/** Two starts of a key in any hour. */
const RATED: Partial<QueueOptions> = {
  lanes: [{
    name: "a",
    maxRunningPerKey: Infinity,
    keyRates: [{ starts: 2, perMs: 3_600_000 }],
  }],
};

async function open(folder: string): Promise<{ store: Store; queue: Queue }> {
  const store = await openStore({ path: `${folder}/queue.db` });
  return { store, queue: await openQueue(store, RATED) };
}

/** Leases what is claimable, and ends it as begun then. How many jobs that were. */
async function run(queue: Queue, nowMs: number): Promise<number> {
  let ran = 0;
  for (let jobs: readonly Leased[] = [];; ran += jobs.length) {
    jobs = await queue.lease([9], nowMs);
    if (jobs.length === 0) return ran;
    await queue.settle(jobs.map((job) => end(job, "done", { beganAtMs: nowMs })), nowMs);
  }
}

Deno.test("starts of a key count still after a restart, also while it has no jobs", async () => {
  await withFolder(async (folder) => {
    const first = await open(folder);
    await first.queue.add([entry({ key: "k" }), entry({ key: "k" })], NOW);
    assert.equal(await run(first.queue, NOW), 2);
    await first.queue.leave(NOW);
    await first.store.close();

    const { store, queue } = await open(folder);
    const laterMs = NOW + 3_599_999;
    await queue.add([entry({ key: "k" }), entry({ key: "other" })], laterMs);
    assert.equal(await run(queue, laterMs), 1, "that of the other key");
    assert.equal(await run(queue, laterMs + 1), 1);
    await queue.leave(laterMs);
    await store.close();
  });
});

Deno.test("what is stored of keys with rates agrees with itself, and a recount keeps their starts", async () => {
  await withFolder(async (folder) => {
    const { store, queue } = await open(folder);
    const keyed = Array.from({ length: 5 }, () => entry({ key: "k" }));
    await queue.add([...keyed, entry({ key: "rests" })], NOW);
    assert.equal(await run(queue, NOW), 3);
    await queue.leave(NOW);
    await store.close();

    const kv = await Deno.openKv(`${folder}/queue.db`);
    assert.deepEqual(await audit(kv, "p"), []);
    const records = await Array.fromAsync(kv.list<number[]>({ prefix: [] }));
    const record = records.find(({ key }) => key[3] === "k" && key[5] === "k")!;
    assert.deepEqual(record.value, [2, 1, NOW, NOW, NOW]);
    await kv.set(record.key, [1, 0, null, NOW, NOW]);
    assert.equal((await audit(kv, "p")).length, 1);
    kv.close();

    const again = await open(folder);
    assert.equal(await run(again.queue, NOW + 3_599_000), 0);
    assert.equal(await run(again.queue, NOW + 3_600_000), 2);
    await again.queue.leave(NOW + 3_600_000);
    await again.store.close();
  });
});
