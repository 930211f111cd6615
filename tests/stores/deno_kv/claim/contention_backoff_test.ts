import assert from "node:assert/strict";
import { ContentionBackoff } from "../../../../stores/deno_kv/claim/contention_backoff.ts";
import { openRemote, withServer } from "../_remote.ts";
import { entry, NOW, openQueue } from "../_store.ts";

Deno.test("ContentionBackoff begins at the head, and beside it for a while once others were quicker", () => {
  const aside = new ContentionBackoff(() => 0.5);
  assert.deepEqual([aside.skips, aside.of(1, 0)], [0, undefined]);

  aside.steps(4);
  assert.equal(aside.skips, 5);
  aside.keeps(1, ["here"], 100);
  aside.settles();
  assert.deepEqual([aside.skips, aside.of(1, 1099), aside.of(2, 1099)], [0, ["here"], undefined]);
  assert.equal(aside.of(1, 1100), undefined);
});

Deno.test("ContentionBackoff leaves its place once others were quicker there too", () => {
  const aside = new ContentionBackoff(() => 0);
  aside.keeps(1, ["here"], 100);
  aside.steps(2);

  assert.equal(aside.skips, 1);
  aside.settles();
  assert.equal(aside.of(1, 100), undefined);
});

Deno.test("processes that claim at once all over do not keep failing at the same part, and miss no job", async () => {
  await withServer({}, async (server) => {
    await using stack = new AsyncDisposableStack();
    const queues = [];
    for (let count = 0; count < 3; count++) {
      const store = await openRemote(server);
      stack.defer(() => store.close());
      queues.push(await openQueue(store, { random: () => count / 3 }));
    }
    for (const queue of queues) await queue.lease([1], NOW); // their pools work
    const [first] = queues;
    for (const queue of queues) await queue.lease([1], NOW); // so that they own jobs
    for (let part = 0; part < 8; part++) {
      await first!.add(Array.from({ length: 30 }, () => entry()), NOW);
    }
    for (const queue of queues) await queue.renew(NOW);
    for (const queue of queues) await queue.count(NOW);

    const before = server.requests.atomic_write;
    const ids = new Set<string>();
    const rounds = 20;
    for (let round = 0; round < rounds; round++) {
      const leased = await Promise.all(queues.map((queue) => queue.lease([2], NOW)));
      for (const { id } of leased.flat()) ids.add(id);
    }
    const commits = server.requests.atomic_write - before;
    assert.equal(ids.size, rounds * 3 * 2);
    // At the head alone, one of three would be made in the first try, one in the second, one in the third.
    assert.ok(commits < rounds * 4.5, `${commits} commits`);

    for (let more = 1; more > 0;) {
      const leased = await Promise.all(queues.map((queue) => queue.lease([50], NOW)));
      more = leased.flat().length;
      for (const { id } of leased.flat()) ids.add(id);
    }
    assert.equal(ids.size, 240);
  });
});
