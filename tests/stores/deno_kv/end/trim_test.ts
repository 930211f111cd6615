import assert from "node:assert/strict";
import { Db } from "../../../../stores/deno_kv/io/db.ts";
import { KvStore } from "../../../../stores/deno_kv/store.ts";
import type { Store } from "../../../../src/contract/store.ts";
import { end, entry, NOW, openQueue, withFolder } from "../_store.ts";

/** A store on a file; `before` is called before it lists done jobs. */
async function openHooked(path: string, before: () => Promise<void>): Promise<Store> {
  const kv = await Deno.openKv(path);
  const list = kv.list.bind(kv);
  kv.list = <T>(...[selector, options]: Parameters<typeof list>) => {
    const entries = list<T>(selector, options);
    if (!("prefix" in selector) || !selector.prefix.includes("d")) return entries;
    const next = entries.next.bind(entries);
    entries.next = async () => {
      entries.next = next;
      await before();
      return await next();
    };
    return entries;
  };
  const db = new Db(kv, { remote: false, maxChecks: 100, random: () => 0.1 });
  return new KvStore(db, { file: undefined, remote: false, pollMs: Infinity, seen: 0 });
}

Deno.test("count() keeps as many done jobs as is said, though another process drops some meanwhile", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/queue.db`;
    const lavish = { keep: { done: 100, dead: 10, forMs: Infinity } };
    let meanwhile = (): Promise<unknown> => Promise.resolve();
    const [one, other] = [
      await openHooked(path, async () => void await meanwhile()),
      await openHooked(path, () => Promise.resolve()),
    ];
    const queue = await openQueue(one);
    const beside = await openQueue(other, lavish);
    for (let turn = 0; turn < 2; turn++) {
      await queue.renew(NOW);
      await beside.renew(NOW);
    }
    for (let job = 0; job < 30; job++) {
      await beside.add([entry()], NOW);
      const [leased] = await beside.lease([1], NOW);
      assert.deepEqual(await beside.settle([end(leased!)], NOW), [true]);
    }
    const third = await openHooked(path, () => Promise.resolve());
    const thrifty = await openQueue(third);
    await thrifty.renew(NOW);
    meanwhile = () => {
      meanwhile = () => Promise.resolve();
      return Promise.resolve(thrifty.count(NOW));
    };

    await queue.count(NOW);

    const { jobs } = await queue.list({ state: "done", limit: 99 });
    assert.equal(jobs.length, 10);
    for (const store of [one, other, third]) await store.close();
  });
});
