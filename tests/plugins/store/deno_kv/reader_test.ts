import assert from "node:assert/strict";
import { Db } from "../../../../plugins/store/deno_kv/db.ts";
import { KvStore } from "../../../../plugins/store/deno_kv/store.ts";
import { entry, NOW, openQueue } from "./_store.ts";

Deno.test("count() that could not read says so again, and does not pass off what it knew", async () => {
  const kv = await Deno.openKv(":memory:");
  const list = kv.list.bind(kv);
  let fails = false;
  kv.list = (...given) => {
    if (fails) throw new TypeError("disk I/O error");
    return list(...given);
  };
  const db = new Db(kv, { remote: false, maxChecks: 100, random: () => 0.1 });
  const store = new KvStore(db, { file: undefined, remote: false, pollMs: Infinity, seen: 0 });
  const queue = await openQueue(store);
  await queue.renew(NOW);
  await queue.add([entry()], NOW);
  assert.equal((await queue.count(NOW))[0]!.ready, 1);

  fails = true;
  for (const nowMs of [NOW + 1000, NOW + 1100, NOW + 1200]) {
    await assert.rejects(async () => await queue.count(nowMs), /disk I\/O error/);
  }
  fails = false;

  assert.equal((await queue.count(NOW + 1300))[0]!.ready, 1);
  await store.close();
});
