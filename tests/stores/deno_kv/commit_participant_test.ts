import assert from "node:assert/strict";
import { audit } from "../../../stores/deno_kv/doctor/audit.ts";
import type { KvQueue } from "../../../stores/deno_kv/queue.ts";
import type { Queue } from "../../../src/contract/store.ts";
import { deafStore, throughCommits, twinOf } from "./_commits.ts";
import { end, entry, NOW, openQueue } from "./_store.ts";

/** Two queues of one pool, of which the first knows of no other yet. */
interface Scene {
  readonly kv: Deno.Kv;
  readonly mine: Queue;
  readonly theirs: Queue;
  /** Commits of `mine` from here on: whether each was made. */
  readonly commits: boolean[];
  /** Done before and after the next commit of `mine`. */
  around(hooks: { before?: () => Promise<unknown>; after?: () => Promise<unknown> }): void;
  /** The next list that `mine` reads fails. */
  failList(): void;
  /** Lists that `mine` has read. */
  readonly lists: number;
}

async function withScene(test: (scene: Scene) => Promise<void>): Promise<void> {
  const kv = await Deno.openKv(":memory:");
  const watched = await twinOf(kv);
  const commits: boolean[] = [];
  let hooks: Parameters<Scene["around"]>[0] = {};
  let fails = false;
  let lists = 0;
  watched.list = (selector, options) => {
    lists++;
    if (!fails) return kv.list(selector, options);
    fails = false;
    throw new TypeError("disk I/O error");
  };
  throughCommits(watched, async (commit) => {
    const { before, after } = hooks;
    hooks = {};
    await before?.();
    const result = await commit();
    await after?.();
    commits.push(result.ok);
    return result;
  });
  const one = deafStore(watched, () => 0);
  const other = deafStore(kv, () => 0);
  try {
    const mine = await openQueue(one, { leaseMs: 1000 });
    const theirs = await openQueue(other, { leaseMs: 1000 });
    await mine.add([1, 2, 3, 4].map((payload) => entry({ payload })), NOW);
    const around = (given: typeof hooks): void => {
      hooks = given;
    };
    await test({
      kv,
      mine,
      theirs,
      commits,
      around,
      failList: () => fails = true,
      get lists() {
        return lists;
      },
    });
  } finally {
    await one.close();
    await other.close();
  }
}

Deno.test("KvQueue.lease() shares the commit of ends that were given in the same turn", async () => {
  await withScene(async ({ kv, mine, commits }) => {
    const first = await mine.lease([2], NOW);
    commits.length = 0;

    const ended = mine.settle(first.map((job) => end(job)), NOW);
    const second = await mine.lease([2], NOW);

    assert.deepEqual(await ended, [true, true]);
    assert.deepEqual(second.map(({ payload }) => payload), [3, 4]);
    assert.deepEqual(commits, [true]);
    assert.deepEqual(await mine.settle(second.map((job) => end(job)), NOW), [true, true]);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue.lease() finds nothing on the way with ends, and has no commit of its own", async () => {
  await withScene(async ({ kv, mine, commits }) => {
    const all = await mine.lease([4], NOW);
    commits.length = 0;

    const ended = mine.settle(all.map((job) => end(job)), NOW);

    assert.deepEqual(await mine.lease([4], NOW), []);
    assert.deepEqual(await ended, [true, true, true, true]);
    assert.deepEqual(commits, [true]);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue.settle() stores ends though others were quicker with what was to be leased beside them", async () => {
  await withScene(async ({ kv, mine, theirs, commits, around }) => {
    const first = await mine.lease([2], NOW);
    commits.length = 0;
    around({ before: async () => assert.equal((await theirs.lease([1], NOW)).length, 1) });

    const ended = mine.settle(first.map((job) => end(job)), NOW);
    const second = await mine.lease([2], NOW);

    assert.deepEqual(await ended, [true, true]);
    assert.deepEqual(second.map(({ payload }) => payload), [4]);
    assert.deepEqual(commits, [false, true, true]);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue.settle() stores ends though what was to be leased beside them cannot be read", async () => {
  await withScene(async ({ kv, mine, theirs, failList }) => {
    for (const payload of [5, 6]) await theirs.add([entry({ payload })], NOW);
    const first = await mine.lease([4], NOW);
    failList();

    const ended = mine.settle(first.map((job) => end(job)), NOW);
    const second = await mine.lease([4], NOW);

    assert.deepEqual(await ended, [true, true, true, true]);
    assert.deepEqual(second.map(({ payload }) => payload), [5, 6]);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue.lease() gives out nothing that it lost while the commit with ends was on its way back", async () => {
  await withScene(async ({ kv, mine, theirs, around }) => {
    const first = await mine.lease([2], NOW);
    around({
      after: async () => {
        for (let nowMs = NOW; (await theirs.renew(nowMs)).peers > 1; nowMs += 300);
        assert.equal((await mine.renew(NOW)).alive, false);
      },
    });

    const ended = mine.settle(first.map((job) => end(job)), NOW);

    assert.deepEqual(await mine.lease([2], NOW), []);
    assert.deepEqual(await ended, [true, true]);
    assert.equal((await theirs.lease([4], NOW)).length, 2);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue.lease() does not read what its own commits have put there", async () => {
  await withScene(async (scene) => {
    const { kv, mine } = scene;
    await mine.count(NOW);
    const before = scene.lists;

    const first = await mine.lease([3], NOW);
    await mine.add([entry({ payload: 5 }), entry({ payload: 6 })], NOW + 1);
    const second = await mine.lease([3], NOW + 1);
    const third = await mine.lease([1], NOW + 1);

    assert.deepEqual(
      [first, second, third].map((jobs) => jobs.map(({ payload }) => payload)),
      [[1, 2, 3], [4, 5, 6], []],
    );
    assert.equal(scene.lists - before, 1, "for what it found");
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue.lease() finds what others have put there or taken once it hears of them", async () => {
  await withScene(async ({ kv, mine, theirs, commits }) => {
    await mine.lease([1], NOW);
    await theirs.lease([2], NOW);
    await theirs.add([entry({ payload: 5, dueAtMs: NOW - 10 })], NOW - 10);
    commits.length = 0;

    const held = await mine.lease([1], NOW);

    assert.deepEqual(held.map(({ payload }) => payload), [5]);
    assert.deepEqual(commits, [false, true]);
    await theirs.add([entry({ payload: 6 })], NOW - 10);
    await (mine as KvQueue).changed();
    assert.deepEqual((await mine.lease([2], NOW)).map(({ payload }) => payload), [6, 4]);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue.lease() shares the commit of jobs that were added in the same turn", async () => {
  await withScene(async (scene) => {
    const { kv, mine, commits } = scene;
    await mine.settle((await mine.lease([4], NOW)).map((job) => end(job)), NOW);
    await mine.count(NOW);
    const before = scene.lists;
    commits.length = 0;

    const adding = mine.add([5, 6, 7].map((payload) => entry({ payload })), NOW);
    const delayed = mine.add([entry({ payload: 8, dueAtMs: NOW + 10 })], NOW);
    const held = await mine.lease([2], NOW);

    assert.deepEqual(held.map(({ payload }) => payload), [5, 6]);
    assert.deepEqual([commits, scene.lists - before], [[true], 0]);
    const [five] = await adding;
    assert.equal(held[0]!.id, five!.id);
    assert.equal((await mine.find(five!.id))?.state, "running");
    assert.equal((await delayed).length, 1);
    assert.deepEqual(await audit(kv, "p"), []);
    assert.deepEqual((await mine.lease([2], NOW)).map(({ payload }) => payload), [7]);
    assert.deepEqual(await mine.settle(held.map((job) => end(job)), NOW), [true, true]);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue.lease() takes what waits before what is added beside it", async () => {
  await withScene(async ({ kv, mine, commits }) => {
    commits.length = 0;

    const adding = mine.add([entry({ payload: 5 })], NOW + 1);
    const held = await mine.lease([5], NOW + 1);

    assert.deepEqual(held.map(({ payload }) => payload), [1, 2, 3, 4, 5]);
    assert.deepEqual(commits, [true]);
    assert.equal((await adding).length, 1);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue.add() stores jobs though others were quicker with what was to be leased beside them", async () => {
  await withScene(async ({ kv, mine, theirs, commits, around }) => {
    commits.length = 0;
    around({ before: async () => assert.equal((await theirs.lease([1], NOW)).length, 1) });

    const adding = mine.add([entry({ payload: 5 })], NOW);
    const held = await mine.lease([2], NOW);

    assert.equal((await adding).length, 1);
    assert.deepEqual(held.map(({ payload }) => payload), [2, 3]);
    assert.deepEqual(commits, [false, true, true]);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue.add() stores jobs though its holder was declared dead, which leases none of them", async () => {
  await withScene(async ({ kv, mine, theirs }) => {
    for (let nowMs = NOW; (await theirs.renew(nowMs)).peers > 1; nowMs += 300);

    const adding = mine.add([entry({ payload: 5 })], NOW);

    assert.deepEqual(await mine.lease([5], NOW), []);
    assert.equal((await adding).length, 1);
    assert.equal((await theirs.lease([5], NOW)).length, 5);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue.add() stores jobs though what is to be leased beside them cannot be read", async () => {
  await withScene(async ({ kv, mine, failList }) => {
    failList();

    const adding = mine.add([entry({ payload: 5 })], NOW + 1);
    const held = await mine.lease([5], NOW + 1);

    assert.equal((await adding).length, 1);
    assert.deepEqual(held.map(({ payload }) => payload), [1, 2, 3, 4, 5]);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue.settle() shares its commit with jobs that are added, and with a lease of them", async () => {
  await withScene(async ({ kv, mine, commits }) => {
    const first = await mine.lease([4], NOW);
    commits.length = 0;

    const adding = mine.add([entry({ payload: 5 }), entry({ payload: 6 })], NOW);
    const ended = mine.settle(first.map((job) => end(job)), NOW);
    const second = await mine.lease([1], NOW);

    assert.deepEqual(second.map(({ payload }) => payload), [5]);
    assert.deepEqual(await ended, [true, true, true, true]);
    assert.equal((await adding).length, 2);
    assert.deepEqual(commits, [true]);
    assert.deepEqual((await mine.lease([2], NOW)).map(({ payload }) => payload), [6]);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue.add() stores jobs though the ends beside them are refused", async () => {
  await withScene(async ({ kv, mine, theirs, commits, around }) => {
    const first = await mine.lease([2], NOW);
    commits.length = 0;
    around({
      before: async () => {
        for (let nowMs = NOW; (await theirs.renew(nowMs)).peers > 1; nowMs += 300);
      },
    });

    const adding = mine.add([entry({ payload: 5 })], NOW);
    const ended = mine.settle(first.map((job) => end(job)), NOW);

    assert.equal((await adding).length, 1);
    assert.deepEqual(await ended, [false, false]);
    assert.deepEqual(commits, [false, true]);
    assert.equal((await theirs.lease([9], NOW)).length, 5);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue.add() fails with the commit that it shares, and stores nothing then", async () => {
  await withScene(async ({ kv, mine, around }) => {
    const first = await mine.lease([4], NOW);
    around({ before: () => Promise.reject(new TypeError("disk I/O error")) });

    const adding = mine.add([entry({ payload: 5 })], NOW);
    const ended = mine.settle(first.map((job) => end(job)), NOW);
    const leased = mine.lease([1], NOW);

    await assert.rejects(async () => await adding, { message: "disk I/O error" });
    await assert.rejects(async () => await ended, { message: "disk I/O error" });
    assert.deepEqual(await leased, []);
    assert.deepEqual(await mine.settle(first.map((job) => end(job)), NOW), [
      true,
      true,
      true,
      true,
    ]);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue.add() has a commit of its own for what is too much to share one", async () => {
  await withScene(async ({ kv, mine, commits }) => {
    const first = await mine.lease([4], NOW);
    commits.length = 0;
    const large = Array.from({ length: 3 }, () => entry({ payload: "x".repeat(45_000) }));

    const adding = mine.add(large, NOW);
    const ended = mine.settle(first.map((job) => end(job)), NOW);

    assert.deepEqual(await ended, [true, true, true, true]);
    assert.equal((await adding).length, 3);
    assert.deepEqual(commits, [true, true]);
    assert.equal((await mine.lease([4], NOW)).length, 3);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});
