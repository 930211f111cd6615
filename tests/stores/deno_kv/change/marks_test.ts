import assert from "node:assert/strict";
import { audit } from "../../../../stores/deno_kv/doctor/audit.ts";
import { deafStore } from "../_commits.ts";
import { end, entry, NOW, openQueue } from "../_store.ts";

const POOL = ["sluice", "pool", "p"];

/** Requests to cancel jobs that are stored, by worker. */
async function marksIn(kv: Deno.Kv): Promise<unknown[]> {
  const entries = await Array.fromAsync(kv.list({ prefix: [...POOL, "y"] }));
  return entries.map(({ key, value }) => [key[4], value]);
}

Deno.test("KvQueue.renew() drops requests to cancel jobs of workers that are dead and hold none", async () => {
  const kv = await Deno.openKv(":memory:");
  const store = deafStore(kv, () => 0.1);
  try {
    await kv.set([...POOL, "y", 999], [["nowhere", 0]]);
    const queue = await openQueue(store);

    await queue.renew(NOW);

    assert.deepEqual(await marksIn(kv), []);
    assert.deepEqual(await audit(kv, "p"), []);
  } finally {
    await store.close();
  }
});

Deno.test("KvQueue.renew() drops those of its own that have ended as they were cancelled, and keeps the others", async () => {
  const kv = await Deno.openKv(":memory:");
  const store = deafStore(kv, () => 0.1);
  try {
    const queue = await openQueue(store);
    await queue.renew(NOW);
    await queue.add([entry({ payload: "stays" })], NOW);
    const [held] = await queue.lease([1], NOW);
    await queue.change(held!.id, "cancel", NOW);
    const [[worker, [mark]]] = await marksIn(kv) as [[number, unknown[]]];
    await kv.set([...POOL, "y", worker], [["nowhere", 0], mark]);

    await queue.renew(NOW + 1000);
    await queue.renew(NOW + 2000);

    assert.deepEqual(await marksIn(kv), [[worker, [mark]]]);
    assert.deepEqual(await queue.settle([end(held!, "back")], NOW), [true]);
    assert.equal((await queue.find(held!.id))?.state, "cancelled");
    assert.deepEqual(await marksIn(kv), []);
  } finally {
    await store.close();
  }
});
