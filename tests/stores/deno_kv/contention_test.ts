import assert from "node:assert/strict";
import { entry, NOW, openQueue, openStore, withFolder, withStore } from "./_store.ts";

const LANES = [{ name: "a", maxRunningPerKey: 1 }];
const KEYS = 60;
const RIVALS = 4;

Deno.test("KvQueue.add() stores many jobs of limited keys, while others add to the same keys all the time", async () => {
  await withFolder(async (folder) => {
    const stores = await Promise.all(
      Array.from({ length: RIVALS + 1 }, () => openStore({ path: `${folder}/queue.db` })),
    );
    try {
      const [queue, ...others] = await Promise.all(
        stores.map((store) => openQueue(store, { lanes: LANES })),
      );
      let isDone = false;
      let next = 0;
      const rivals = others.map(async (other) => {
        while (!isDone) {
          await other.add(
            Array.from({ length: 10 }, () => entry({ key: `k${next++ % KEYS}` })),
            NOW,
          );
        }
      });
      const jobs = Array.from({ length: 90 }, (_, index) => {
        return entry({
          key: `k${index % KEYS}`,
          payload: index % 30 === 0 ? "x".repeat(20_000) : 1,
        });
      });

      const added = await queue!.add(jobs, NOW);

      isDone = true;
      await Promise.all(rivals);
      assert.deepEqual(added.filter(({ error }) => error !== undefined), []);
      const { ready, blocked } = (await queue!.count(NOW))[0]!;
      assert.equal(ready + blocked, jobs.length + next);
    } finally {
      await Promise.all(stores.map((store) => store.close()));
    }
  });
});

Deno.test("KvQueue.add() stores any number of jobs whose dedupe keys belong to jobs that have expired", async () => {
  await withStore(async (store) => {
    const queue = await openQueue(store);
    const jobs = (expiresAtMs: number) =>
      Array.from({ length: 80 }, (_, index) => entry({ dedupeKey: `d${index}`, expiresAtMs }));
    const before = await queue.add(jobs(NOW + 1000), NOW);

    const added = await queue.add(jobs(Infinity), NOW + 2000);

    assert.deepEqual(added.filter(({ error, duplicate }) => error ?? duplicate), []);
    assert.equal(new Set([...before, ...added].map(({ id }) => id)).size, 160);
  });
});
