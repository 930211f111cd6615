import assert from "node:assert/strict";
import { Db } from "../../../../stores/deno_kv/io/db.ts";
import { KvStore } from "../../../../stores/deno_kv/store.ts";
import type { Queue } from "../../../../src/contract/store.ts";
import { entry, NOW, openQueue } from "../_store.ts";

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

/** A queue; `during` is called once each first delayed job of it was read, before that is known. */
async function withReads(
  test: (queue: Queue, during: (act: (() => Promise<void>) | undefined) => void) => Promise<void>,
): Promise<void> {
  const kv = await Deno.openKv(":memory:");
  const list = kv.list.bind(kv);
  let act: (() => Promise<void>) | undefined;
  kv.list = <T>(...[selector, options]: Parameters<typeof list>) => {
    const entries = list<T>(selector, options);
    const isFirst = "prefix" in selector && selector.prefix.includes("z") && !("end" in selector);
    if (!isFirst || act === undefined) return entries;
    const next = entries.next.bind(entries);
    entries.next = async () => {
      const result = await next();
      entries.next = next;
      await act?.();
      return result;
    };
    return entries;
  };
  const db = new Db(kv, { remote: false, maxChecks: 100, random: () => 0.1 });
  const store = new KvStore(db, { file: undefined, remote: false, pollMs: Infinity, seen: 0 });
  const queue = await openQueue(store);
  await queue.renew(NOW);
  try {
    await test(queue, (given) => act = given);
  } finally {
    await store.close();
  }
}

Deno.test("count() knows of a delayed job that was added while it read", async () => {
  await withReads(async (queue, during) => {
    await queue.add([entry({ dueAtMs: NOW + 9000 })], NOW);
    let dueAtMs = NOW + 9000;
    during(async () => void await queue.add([entry({ dueAtMs: dueAtMs -= 1000 })], NOW));

    const [counts] = await queue.count(NOW);

    assert.ok(dueAtMs < NOW + 9000);
    assert.equal(counts!.nextDueAtMs, dueAtMs);
  });
});

Deno.test("lease() that moves due jobs up knows of a delayed one that was added meanwhile", async () => {
  await withReads(async (queue, during) => {
    await queue.add([entry({ dueAtMs: NOW + 100 })], NOW);
    const [counts] = await queue.count(NOW);
    during(async () => {
      during(undefined);
      await queue.add([entry({ dueAtMs: NOW + 5000 })], NOW + 100);
    });

    assert.equal((await queue.lease([1], NOW + 100)).length, 1);

    assert.equal(counts!.nextDueAtMs, NOW + 5000);
  });
});
