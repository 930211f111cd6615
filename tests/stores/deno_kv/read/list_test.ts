import assert from "node:assert/strict";
import fc from "fast-check";
import { Db } from "../../../../stores/deno_kv/io/db.ts";
import { KvStore } from "../../../../stores/deno_kv/store.ts";
import { JOB_STATES } from "../../../../src/base/states.ts";
import { randomStream } from "../../../../src/base/random.ts";
import type { JobQuery, Queue } from "../../../../src/contract/store.ts";
import { end, entry, NOW, openQueue } from "../_store.ts";

const LANES = ["a", "b", "c"].map((name) => ({
  name,
  maxRunningPerKey: name === "b" ? 1 : Infinity,
}));

interface Scene {
  readonly queue: Queue;
  /** Entries that were read since it was asked last. */
  reads(): number;
}

async function withScene(test: (scene: Scene) => Promise<void>): Promise<void> {
  const kv = await Deno.openKv(":memory:");
  let count = 0;
  const list = kv.list.bind(kv);
  kv.list = <T>(selector: Deno.KvListSelector, options: Deno.KvListOptions = {}) => {
    // What a batch brings is read, whether it is asked for or not.
    const read = list<T>(selector, options);
    const next = read.next.bind(read);
    const batch = options.batchSize ?? options.limit ?? 100;
    let left = 0;
    read.next = async () => {
      if (left-- === 0) {
        count += batch;
        left = batch - 1;
      }
      return await next();
    };
    return read;
  };
  const db = new Db(kv, { remote: false, maxChecks: 100, random: () => 0.1 });
  const store = new KvStore(db, { file: undefined, remote: false, pollMs: Infinity, seen: 0 });
  try {
    await test({
      queue: await openQueue(store, {
        lanes: LANES,
        keep: { done: 5000, dead: 5000, forMs: Infinity },
      }),
      reads: () => {
        const before = count;
        count = 0;
        return before;
      },
    });
  } finally {
    await store.close();
  }
}

/** All pages, one after the other. */
async function pages(queue: Queue, query: JobQuery): Promise<string[][]> {
  const all: string[][] = [];
  let cursor: string | undefined;
  do {
    const page = await queue.list({ ...query, cursor });
    assert.ok(page.jobs.length <= query.limit);
    all.push(page.jobs.map(({ id }) => id));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return all;
}

Deno.test("KvQueue.list() reads no more for a page of a large backlog than for one of a small", async () => {
  const cost = async (jobs: number): Promise<number[]> => {
    let costs: number[] = [];
    await withScene(async ({ queue, reads }) => {
      for (let added = 0; added < jobs; added += 500) {
        const nowMs = NOW + added;
        await queue.add(
          Array.from(
            { length: 500 },
            (_, n) => entry({ lane: n % 3, key: n % 30 === 1 ? `k${n}` : undefined }),
          ),
          nowMs,
        );
        const dues = Array.from({ length: 40 }, (_, n) => nowMs + 1e6 * (n + 1));
        await queue.add(dues.map((dueAtMs) => entry({ dueAtMs })), nowMs);
      }
      costs = [];
      for (const state of ["ready", "blocked", "delayed", undefined] as const) {
        const first = await queue.list({ state, limit: 20 });
        reads();
        await queue.list({ state, limit: 20 });
        costs.push(reads());
        await queue.list({ state, limit: 20, cursor: first.cursor });
        costs.push(reads());
      }
    });
    return costs;
  };

  const small = await cost(3000);

  assert.deepEqual(await cost(15_000), small);
  assert.ok(Math.max(...small) <= 200, `${small} entries were read for pages of 20 jobs`);
});

Deno.test("KvQueue.list() gives jobs that are due in the order of that, over all lanes", async () => {
  await withScene(async ({ queue }) => {
    const dues = [5, 3, 9, 1, 7, 2, 8];
    for (const [n, due] of dues.entries()) {
      await queue.add([entry({ lane: n % 3, dueAtMs: NOW + due * 100, payload: due })], NOW);
    }

    const { jobs, cursor } = await queue.list({ limit: 4 });
    assert.deepEqual(
      jobs.map(({ payload, state }) => [payload, state]),
      [1, 2, 3, 5].map((due) => [due, "delayed"]),
    );
    await queue.count(NOW + 250);
    const rest = await queue.list({ limit: 9, cursor });

    assert.deepEqual(rest.jobs.map(({ payload }) => payload), [7, 8, 9]);
    const ready = await queue.list({ limit: 9, state: "ready" });
    assert.deepEqual(ready.jobs.map(({ payload }) => payload), [1, 2]);
  });
});

Deno.test("KvQueue.list() begins anew with what is no cursor", async () => {
  await withScene(async ({ queue }) => {
    await queue.add([entry(), entry()], NOW);
    for (const cursor of ["", "nonsense", "{}", "[]", '["v",1]']) {
      assert.equal((await queue.list({ limit: 1, cursor })).jobs.length, 1, cursor);
    }
  });
});

Deno.test("KvQueue.list() gives each job once, in pages of any size, whatever became of it", async () => {
  const run = async (seed: number): Promise<void> => {
    const random = randomStream(seed);
    const pick = (most: number): number => Math.floor(random() * most);
    await withScene(async ({ queue }) => {
      const ids: string[] = [];
      let nowMs = NOW;
      for (let round = 0; round < 12; round++) {
        nowMs += pick(50);
        const added = await queue.add(
          Array.from({ length: 1 + pick(12) }, () =>
            entry({
              lane: pick(3),
              key: random() < 0.4 ? `k${pick(3)}` : undefined,
              dueAtMs: random() < 0.3 ? nowMs + pick(100) : 0,
              payload: random() < 0.03 ? "x".repeat(60_000) : pick(9),
            })),
          nowMs,
        );
        ids.push(...added.map(({ id }) => id));
        const jobs = await queue.lease([pick(5), pick(3), pick(5)], nowMs);
        const ends = jobs.filter(() => random() < 0.8).map((job) =>
          end(job, (["done", "dead", "retry", "back", "done"] as const)[pick(5)], {
            dueAtMs: nowMs + pick(60) - 20,
          })
        );
        await queue.settle(ends, nowMs);
        const id = ids[pick(ids.length)];
        if (random() < 0.3) await queue.change(id!, "cancel", nowMs);
      }
      const known = new Map<string, string>();
      for (const id of ids) known.set(id, (await queue.find(id))!.state);
      const size = 1 + pick(9);
      const all = await pages(queue, { limit: size });
      assert.deepEqual(all.flat().sort(), ids.sort());
      assert.ok(
        all.slice(0, -1).every((page) => page.length === size),
        "only the last page is short",
      );
      for (const state of JOB_STATES) {
        for (const lane of [undefined, ...LANES.map(({ name }) => name)]) {
          const found = (await pages(queue, { limit: size, state, lane })).flat();
          const wanted: string[] = [];
          for (const id of ids) {
            if (known.get(id) !== state) continue;
            if (lane === undefined || (await queue.find(id))?.lane === lane) wanted.push(id);
          }
          if (state === "done" || state === "dead" || state === "cancelled") {
            const order = "latest-end";
            const latest = (await pages(queue, { limit: size, state, lane, order })).flat();
            assert.deepEqual(latest, found.toReversed(), `${state} in ${lane}, the latest first`);
          }
          assert.deepEqual(found.sort(), wanted.sort(), `${state} in ${lane}`);
        }
      }
    });
  };

  await fc.assert(fc.asyncProperty(fc.integer(), run), { numRuns: 8 });
});
