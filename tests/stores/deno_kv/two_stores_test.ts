import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import type { Queue, QueueOptions, Store } from "../../../src/contract/store.ts";
import { end, entry, NOW, openQueue, openStore, withFolder } from "./_store.ts";

/** Two stores on one file, each with a handle of its own, as two processes have them. */
async function withTwo(test: (one: Store, other: Store) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    const path = `${folder}/queue.db`;
    const one = await openStore({ path, pollMs: 50 });
    const other = await openStore({ path, pollMs: 50 });
    try {
      await test(one, other);
    } finally {
      await one.close();
      await other.close();
    }
  });
}

/** A queue, and what its pool hears. */
async function listening(
  store: Store,
  options: Partial<QueueOptions> = {},
): Promise<{ queue: Queue; woken: () => Promise<void>; cancelled: Promise<string> }> {
  let wake = Promise.withResolvers<void>();
  const cancelled = Promise.withResolvers<string>();
  const queue = await openQueue(store, {
    listener: { wake: () => wake.resolve(), cancelled: cancelled.resolve, ended() {} },
    ...options,
  });
  const woken = async (): Promise<void> => {
    await wake.promise;
    wake = Promise.withResolvers();
  };
  return { queue, woken, cancelled: cancelled.promise };
}

Deno.test("KvStore wakes a pool when another process joins, and when that adds jobs", async () => {
  await withTwo(async (one, other) => {
    const { queue, woken } = await listening(one);
    const theirs = await openQueue(other);
    await woken();

    await theirs.add([entry({ payload: "theirs" })], NOW);

    for (;;) {
      await woken();
      const held = await queue.lease([1], NOW);
      if (held.length === 0) continue; // woken by the end of the joining
      assert.equal(held[0]!.payload, "theirs");
      break;
    }
  });
});

Deno.test("KvStore tells how a job ended that another process ran", async () => {
  await withTwo(async (one, other) => {
    const mine = await openQueue(one);
    const theirs = await openQueue(other);
    await mine.renew(NOW);
    const added = await mine.add([1, 2, 3].map((payload) => entry({ payload })), NOW);
    const outcomes = added.map((job) => mine.outcome(job));

    const held = await theirs.lease([3], NOW);
    await theirs.settle([
      end(held[0]!, "done", { result: "ran elsewhere" }),
      end(held[1]!, "dead", { reason: "fatal", error: "no use" }),
    ], NOW);
    await mine.change(held[2]!.id, "cancel", NOW);
    await theirs.settle([end(held[2]!, "cancelled")], NOW);

    assert.deepEqual(await Promise.all(outcomes), [
      { state: "done", result: "ran elsewhere" },
      { state: "dead", reason: "fatal", error: "no use" },
      { state: "cancelled" },
    ]);
  });
});

Deno.test(
  "KvStore tells a pool that a job it runs was cancelled from another process",
  async () => {
    await withTwo(async (one, other) => {
      const { queue, cancelled } = await listening(one);
      const theirs = await openQueue(other);
      await queue.add([entry()], NOW);
      const [held] = await queue.lease([1], NOW);

      assert.deepEqual(await theirs.change(held!.id, "cancel", NOW), {
        ok: true,
        state: "running",
      });

      assert.equal(await cancelled, held!.id);
      await queue.settle([end(held!, "retry", { dueAtMs: NOW })], NOW);
      assert.equal((await theirs.find(held!.id))?.state, "cancelled");
    });
  },
);

Deno.test("KvStore lets two processes run no more jobs of a key than one lane allows", async () => {
  await withTwo(async (one, other) => { // C6
    const lanes = [{ name: "a", maxRunningPerKey: 1 }];
    const queues = [await openQueue(one, { lanes }), await openQueue(other, { lanes })];
    await queues[0]!.add(Array.from({ length: 24 }, (_, n) => entry({ key: `k${n % 2}` })), NOW);
    const running = new Map<string, number>();
    let ran = 0;

    const work = async (queue: Queue): Promise<void> => {
      while (ran < 24) {
        const held = await queue.lease([8], NOW);
        if (held.length === 0) await setImmediate(); // an answer without a read lets nothing else run
        for (const { key } of held) {
          const now = (running.get(key!) ?? 0) + 1;
          running.set(key!, now);
          assert.equal(now, 1, `${now} jobs of ${key} run together`);
        }
        for (const job of held) {
          running.set(job.key!, 0);
          ran++;
          await queue.settle([end(job)], NOW);
        }
      }
    };
    await Promise.all(queues.map(work));

    assert.equal(ran, 24);
  });
});
