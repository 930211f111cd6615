import assert from "node:assert/strict";
import { audit } from "../../../../stores/deno_kv/doctor/audit.ts";
import { PoolKeys } from "../../../../stores/deno_kv/record/keys.ts";
import type { Leased, Queue } from "../../../../src/contract/store.ts";
import { deafStore, throughCommits } from "../_commits.ts";
import { end, entry, NOW, openQueue } from "../_store.ts";

/** A queue with two jobs that are leased ahead of two that run. */
interface Scene {
  readonly queue: Queue;
  /** Ids of all jobs, those that are leased ahead last. */
  readonly ids: readonly string[];
  /** Leased, and not ended. */
  readonly running: readonly Leased[];
  /** The next commit waits until it is called with how it goes on. */
  hold(): (fault?: Error) => void;
}

async function withScene(test: (scene: Scene) => Promise<void>): Promise<void> {
  const kv = await Deno.openKv(":memory:");
  let held: Promise<Error | undefined> | undefined;
  throughCommits(kv, async (commit) => {
    const waits = held;
    held = undefined;
    const fault = await waits;
    if (fault !== undefined) throw fault;
    return await commit();
  });
  const store = deafStore(kv, () => 0);
  try {
    const queue = await openQueue(store);
    await queue.add([1, 2, 3, 4, 5, 6].map((payload) => entry({ payload })), NOW);
    const { jobs } = await queue.list({ limit: 10 });
    const first = await queue.lease([2], NOW);
    const settled = queue.settle(first.map((job) => end(job)), NOW);
    const running = await queue.lease([2], NOW);
    await settled;
    await test({
      queue,
      ids: jobs.map(({ id }) => id),
      running,
      hold: () => {
        const { promise, resolve } = Promise.withResolvers<Error | undefined>();
        held = promise;
        return resolve;
      },
    });
    assert.deepEqual(await audit(kv, "p"), []);
  } finally {
    await store.close();
  }
}

Deno.test("KvQueue.count() counts as ready what is on its way back unstarted, and find() finds it so", async () => {
  for (const fault of [undefined, new TypeError("disk I/O error")]) {
    await withScene(async ({ queue, ids, hold }) => {
      const [lane] = await queue.count(NOW);
      const counted = (): unknown => [lane!.ready, lane!.running, lane!.oldestReadyAtMs];
      assert.deepEqual(counted(), [2, 2, NOW]);

      const goOn = hold();
      const listed = Promise.resolve(queue.list({ state: "ready", limit: 10 }));
      const meanwhile = counted();
      const found = await queue.find(ids.at(-1)!);
      goOn(fault);

      if (fault === undefined) assert.equal((await listed).jobs.length, 2);
      else await assert.rejects(listed, /disk I\/O error/);
      assert.deepEqual(meanwhile, [2, 2, NOW]);
      assert.equal(found?.state, "ready");
      assert.deepEqual(counted(), [2, 2, NOW]);
    });
  }
});

Deno.test("a job that went back unstarted has not started", async () => {
  await withScene(async ({ queue, ids, running }) => {
    await queue.list({ limit: 1 }); // they go back

    const { state, startedAtMs, attempt } = (await queue.find(ids.at(-1)!))!;
    assert.deepEqual([state, startedAtMs, attempt], ["ready", undefined, 0]);
    await queue.settle(running.map((job) => end(job)), NOW);
  });
});

Deno.test("KvQueue.lease() leases no job ahead on its last attempt, nor those behind it", async () => {
  const kv = await Deno.openKv(":memory:");
  const store = deafStore(kv, () => 0);
  try {
    const queue = await openQueue(store, { attempts: [2] });
    await queue.add([1, 2, 3, 4, 5, 6].map((payload) => entry({ payload })), NOW);
    const failing = await queue.lease([6], NOW);
    await queue.settle(
      failing.map((job) => end(job, job.payload === 4 ? "retry" : "back", { dueAtMs: NOW })),
      NOW,
    ); // the fourth comes last, and has one attempt left
    await queue.add([entry({ payload: 7 })], NOW + 1);
    const seen: unknown[] = [];
    const take = (jobs: readonly Leased[]): readonly Leased[] => {
      seen.push(...jobs.map(({ payload, attempt }) => [payload, attempt]));
      return jobs;
    };

    const first = take(await queue.lease([1], NOW + 1));
    const ended = queue.settle(first.map((job) => end(job)), NOW + 1);
    take(await queue.lease([1], NOW + 1)); // and three ahead, though four might be
    await ended;
    const { value } = await kv.get<Deno.KvU64>(new PoolKeys("p").of("c", 0, "l"));
    for (let count = 0; count < 5; count++) take(await queue.lease([1], NOW + 1));

    assert.equal(value?.value, 4n);
    assert.deepEqual(seen, [[1, 1], [2, 1], [3, 1], [5, 1], [6, 1], [4, 2], [7, 1]]);
    assert.deepEqual(await audit(kv, "p"), []);
  } finally {
    await store.close();
  }
});
