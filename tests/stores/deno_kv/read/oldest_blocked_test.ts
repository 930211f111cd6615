import assert from "node:assert/strict";
import type { Leased, Queue } from "../../../../src/contract/store.ts";
import { end, entry, NOW, openQueue, openStore, withFolder } from "../_store.ts";

const LIMITED = { lanes: [{ name: "a", maxRunningPerKey: 1 }] };

/** Since when the oldest blocked job is due, as ms after `NOW`. */
async function oldestOf(queue: Queue, nowMs: number): Promise<number> {
  const [lane] = await queue.count(nowMs, true);
  return lane!.oldestBlockedAtMs! - NOW;
}

Deno.test("count() knows the oldest blocked job of many keys after some looks, with any process", async () => {
  await withFolder(async (folder) => {
    const store = await openStore({ path: `${folder}/queue.db` });
    const queue = await openQueue(store, LIMITED);
    const keys = Array.from({ length: 250 }, (_, index) => `key${String(index).padStart(3, "0")}`);
    await queue.add(keys.map((key) => entry({ key })), NOW);
    const held: Leased[] = [];
    while (held.length < 250) held.push(...await queue.lease([250], NOW));
    for (const [index, key] of [...keys].reverse().entries()) {
      await queue.add([entry({ key, dueAtMs: NOW + 1 + index })], NOW + 1 + index);
    }
    let nowMs = NOW + 1000;
    const other = await openQueue(store, LIMITED);
    for (let look = 0; look < 3; look++) await oldestOf(other, nowMs += 1000);
    assert.equal(await oldestOf(other, nowMs), 1);

    const [last] = held.filter(({ key }) => key === "key249");
    await queue.settle([end(last!)], nowMs); // the oldest of all is ready now
    for (let look = 0; look < 6; look++) await oldestOf(other, nowMs += 1000);
    assert.equal(await oldestOf(other, nowMs), 2);
    await queue.leave(nowMs);
    await other.leave(nowMs);
    await store.close();
  });
});

Deno.test("count() looks at the jobs of a key whose record says nothing, as earlier releases wrote it", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/queue.db`;
    const store = await openStore({ path });
    const queue = await openQueue(store, LIMITED);
    for (let ms = 0; ms < 3; ms++) {
      await queue.add([entry({ key: "k", dueAtMs: NOW + ms })], NOW + ms);
    }
    const kv = await Deno.openKv(path);
    const at = ["sluice", "pool", "p", "k", 0, "k"];
    assert.deepEqual((await kv.get(at)).value, [1, 2, NOW + 1]);
    await kv.set(at, [1, 2]);
    kv.close();

    assert.equal(await oldestOf(queue, NOW + 2000), 1);
    const [job] = await queue.lease([1], NOW + 2000);
    await queue.settle([end(job!)], NOW + 3000);
    assert.equal(await oldestOf(queue, NOW + 4000), 2);
    const [next] = await queue.lease([1], NOW + 4000);
    assert.deepEqual([next!.dueAtMs, next!.readyAtMs], [NOW + 1, NOW + 3000]);
    await queue.leave(NOW + 4000);
    await store.close();
  });
});
