import assert from "node:assert/strict";
import { start } from "../../../../mod.ts";
import { audit } from "../../../../stores/deno_kv/doctor/audit.ts";
import { PoolKeys } from "../../../../stores/deno_kv/record/keys.ts";
import { denoKv } from "../../../../stores/deno_kv/mod.ts";
import type { JobEntry, Leased, Queue, QueueOptions } from "../../../../src/contract/store.ts";
import { deafStore, throughCommits, twinOf } from "../_commits.ts";
import { end, entry, NOW, openQueue, withFolder } from "../_store.ts";

/** A queue with six jobs of which two have been leased: ending them leases ahead. */
interface Scene {
  readonly kv: Deno.Kv;
  readonly queue: Queue;
  /** The first two jobs. */
  readonly first: readonly Leased[];
  /** Commits so far. */
  readonly commits: () => number;
  /** Ends jobs and leases two, in one turn of the event loop. */
  refill(ended: readonly Leased[], nowMs?: number): Promise<readonly Leased[]>;
  /** Opens another queue of the same pool, in another process as far as these two know. */
  other(): Promise<Queue>;
  /** The next so many commits fail. */
  fail(commits: number): void;
}

interface Given {
  readonly options?: Partial<QueueOptions>;
  readonly entry?: Partial<JobEntry>;
}

async function withScene(given: Given, test: (scene: Scene) => Promise<void>): Promise<void> {
  const kv = await Deno.openKv(":memory:");
  const watched = await twinOf(kv);
  let commits = 0;
  let failing = 0;
  throughCommits(watched, (commit) => {
    commits++;
    return failing-- > 0 ? Promise.reject(new TypeError("disk I/O error")) : commit();
  });
  const one = deafStore(watched, () => 0);
  const two = deafStore(kv, () => 0);
  try {
    const queue = await openQueue(one, given.options);
    const jobs = [1, 2, 3, 4, 5, 6].map((payload) => entry({ payload, ...given.entry }));
    await queue.add(jobs, NOW);
    const first = await queue.lease([2], NOW);
    await test({
      kv,
      queue,
      first,
      commits: () => commits,
      refill: async (ended, nowMs = NOW) => {
        const settled = queue.settle(ended.map((job) => end(job)), nowMs);
        const leased = await queue.lease([2], nowMs);
        assert.ok((await settled).every((accepted) => accepted));
        return leased;
      },
      other: () => openQueue(two, given.options),
      fail: (count) => failing = count,
    });
    assert.deepEqual(await audit(kv, "p"), []);
  } finally {
    await one.close();
    await two.close();
  }
}

function payloads(jobs: readonly Leased[]): readonly unknown[] {
  return jobs.map(({ payload }) => payload);
}

/** What was leased ahead: answered at once, without a commit. */
function atOnce(queue: Queue, wants: readonly number[], nowMs = NOW): readonly Leased[] {
  const answer = queue.lease(wants, nowMs);
  assert.ok(!("then" in answer), "There were none");
  return answer;
}

async function leasesIn(kv: Deno.Kv): Promise<number> {
  return (await Array.fromAsync(kv.list({ prefix: new PoolKeys("p").of("l") }))).length;
}

Deno.test("KvQueue.lease() leases short jobs ahead in the commit of its ends, and gives them at once", async () => {
  await withScene({}, async ({ queue, first, commits, refill }) => {
    const before = commits();

    const second = await refill(first);
    const third = atOnce(queue, [2]);

    assert.deepEqual([payloads(second), payloads(third)], [[3, 4], [5, 6]]);
    assert.equal(commits() - before, 1);
    assert.deepEqual(
      await queue.settle([...second, ...third].map((job) => end(job)), NOW),
      [true, true, true, true],
    );
    assert.equal(commits() - before, 2);
  });
});

Deno.test("KvQueue.lease() gives what was leased ahead first, and claims the rest by the next call", async () => {
  await withScene({}, async ({ queue, first, refill }) => {
    await refill(first);

    assert.deepEqual(payloads(atOnce(queue, [1])), [5]);
    assert.deepEqual(payloads(atOnce(queue, [2])), [6]);
    assert.deepEqual(await queue.lease([2], NOW), []);
  });
});

Deno.test("KvQueue.count() counts what is leased ahead as ready until it is asked for", async () => {
  await withScene({}, async ({ queue, first, refill }) => {
    await refill(first);

    const [lane] = await queue.count(NOW);
    assert.deepEqual([lane!.ready, lane!.running, lane!.oldestReadyAtMs], [2, 2, NOW]);
    assert.equal(queue.readySince(0, NOW), 1);
    await queue.count(NOW + 5000); // read anew
    assert.deepEqual([lane!.ready, lane!.running], [2, 2]);
    atOnce(queue, [2]);
    assert.deepEqual([lane!.ready, lane!.running], [0, 4]);
    assert.equal(lane!.oldestReadyAtMs, Infinity);
  });
});

Deno.test("KvQueue.lease() leases nothing ahead of jobs that run for long", async () => {
  await withScene({}, async ({ queue, first, refill }) => {
    await refill(first, NOW + 101);

    assert.deepEqual(payloads(await queue.lease([4], NOW)), [5, 6]);
  });
});

Deno.test("KvQueue.lease() leases nothing ahead of a lane whose jobs have one attempt, or a limit by key", async () => {
  const limited = { lanes: [{ name: "a", maxRunningPerKey: 1 }] };
  for (const options of [{ attempts: [1] }, limited]) {
    await withScene({ options }, async ({ queue, first, refill }) => {
      await refill(first);

      const answer = queue.lease([2], NOW);

      assert.ok("then" in answer);
      assert.deepEqual(payloads(await answer), [5, 6]);
    });
  }
});

/** Leases `most` of 400 jobs, ends them after so long and leases as many again. How many were claimed. */
async function claimed(most: number, afterMs: number): Promise<number> {
  let count = 0;
  await withFolder(async (folder) => {
    const kv = await Deno.openKv(`${folder}/queue.db`);
    const store = deafStore(kv, () => 0);
    const queue = await openQueue(store);
    await queue.add(Array.from({ length: 400 }, () => entry()), NOW);
    const first = await queue.lease([most], NOW);
    const settled = queue.settle(first.map((job) => end(job)), NOW + afterMs);
    assert.equal((await queue.lease([most], NOW + afterMs)).length, most);
    await settled;
    count = await leasedIn(kv);
    await store.close();
  });
  return count;
}

/** Jobs of all leases. */
async function leasedIn(kv: Deno.Kv): Promise<number> {
  const { value } = await kv.get<Deno.KvU64>(new PoolKeys("p").of("c", 0, "l"));
  return Number(value?.value ?? 0n);
}

Deno.test("KvQueue.lease() leases no more ahead than start within a tenth of a second", async () => {
  assert.equal(await claimed(2, 25), 2 + 4 * 2);
  assert.equal(await claimed(2, 34), 2 + 2 * 2);
  assert.equal(await claimed(2, 100), 2 + 2);
  assert.equal(await claimed(2, 101), 2);
});

Deno.test("KvQueue.lease() leases no more ahead than four times as many as have ended, and 128", async () => {
  assert.equal(await claimed(2, 0), 2 + 4 * 2);
  assert.equal(await claimed(100, 0), 100 + 128);
});

Deno.test("KvQueue.lease() gives nothing that is leased ahead before a lane has its share that has none there", async () => {
  const lanes = ["a", "b"].map((name) => ({ name, maxRunningPerKey: Infinity }));
  await withScene({ options: { lanes } }, async ({ queue, first, refill }) => {
    await refill(first); // of the first lane two are there now
    await queue.add([entry({ lane: 1, payload: "b" })], NOW);

    const answer = queue.lease([1, 1], NOW);

    assert.ok("then" in answer);
    assert.deepEqual(payloads(await answer), ["b", 5]);
    assert.deepEqual(payloads(atOnce(queue, [1, 0])), [6]);
  });
});

Deno.test("what is leased ahead goes back when it is not asked for in time, though others are", async () => {
  await withFolder(async (folder) => {
    const kv = await Deno.openKv(`${folder}/queue.db`);
    const store = deafStore(kv, () => 0);
    const queue = await openQueue(store);
    await queue.add(Array.from({ length: 400 }, (_, payload) => entry({ payload })), NOW);
    const first = await queue.lease([32], NOW);
    const settled = queue.settle(first.map((job) => end(job)), NOW);
    await queue.lease([32], NOW);
    await settled;

    const seen: unknown[] = [];
    let answer = queue.lease([1], NOW);
    for (; !("then" in answer); answer = queue.lease([1], NOW)) {
      seen.push(...payloads(answer));
      await new Promise((resolve) => setTimeout(resolve, 10)); // 128 of them last longer than it takes
    }

    assert.ok(seen.length < 100, String(seen.length));
    const next = (await answer)[0]!;
    assert.deepEqual([next.payload, next.attempt], [64 + seen.length, 1]);
    assert.deepEqual(seen, seen.map((_, at) => 64 + at));
    await store.close();
  });
});

Deno.test("a job that is leased ahead is found, listed and cancelled as the ready job that it is", async () => {
  await withScene({}, async ({ queue, first, refill }) => {
    const { jobs } = await queue.list({ state: "ready", limit: 10 });
    await refill(first);
    const { id } = jobs.at(-1)!;

    const found = await queue.find(id);
    const listed = await queue.list({ state: "ready", limit: 10 });
    assert.deepEqual(listed.jobs.map(({ payload }) => payload), [5, 6]);
    assert.deepEqual([found?.state, found?.startedAtMs, found?.attempt], ["ready", undefined, 0]);
    assert.deepEqual(await queue.change(id, "cancel", NOW), { ok: true, state: "cancelled" });
    assert.deepEqual(payloads(await queue.lease([4], NOW)), [5]);
  });
});

Deno.test("a job that is cancelled by another process while it is leased ahead never runs", async () => {
  await withScene({}, async ({ queue, first, refill, other, kv }) => {
    const { jobs } = await queue.list({ state: "ready", limit: 10 });
    await refill(first);
    const theirs = await other(); // nobody tells of it: the watch may be late
    assert.deepEqual(await theirs.change(jobs.at(-1)!.id, "cancel", NOW), {
      ok: true,
      state: "running",
    });
    await queue.renew(NOW); // reads what is to be cancelled

    assert.deepEqual(payloads(atOnce(queue, [2])), [5]);
    await queue.list({ limit: 1 }); // what goes back has
    assert.equal((await queue.find(jobs.at(-1)!.id))?.state, "cancelled");
    assert.equal(await leasesIn(kv), 1); // of the others
  });
});

Deno.test("a job that expires while it is leased ahead is dead, and does not run", async () => {
  const expiresAtMs = NOW + 50;
  await withScene({ entry: { expiresAtMs } }, async ({ queue, first, refill }) => {
    const { jobs } = await queue.list({ state: "ready", limit: 10 });
    await refill(first);

    assert.deepEqual(await queue.lease([2], NOW + 50), []); // they go back
    await queue.list({ limit: 1 });
    assert.deepEqual(await queue.lease([2], NOW + 50), []); // and end there
    const { state, reason } = (await queue.find(jobs.at(-1)!.id))!;
    assert.deepEqual([state, reason], ["dead", "expired"]);
  });
});

Deno.test("what is leased ahead goes back once there are others, no attempt charged", async () => {
  await withScene({}, async ({ queue, first, refill, other }) => {
    await refill(first);
    const theirs = await other();
    assert.deepEqual(await theirs.lease([2], NOW), []);

    assert.ok("changed" in queue && typeof queue.changed === "function");
    await queue.changed(); // as the watch tells
    await queue.list({ limit: 1 });
    assert.ok("changed" in theirs && typeof theirs.changed === "function");
    await theirs.changed();

    const leased = await theirs.lease([2], NOW);
    assert.deepEqual(leased.map(({ payload, attempt }) => [payload, attempt]), [[5, 1], [6, 1]]);
  });
});

Deno.test("what is leased ahead goes back when nobody asks for it", async () => {
  await withScene({}, async ({ queue, first, refill, kv }) => {
    const running = await refill(first);
    assert.equal(await leasesIn(kv), 1); // of all four

    await queue.settle(running.map((job) => end(job)), NOW);
    while (await leasesIn(kv) > 0) await new Promise((resolve) => setTimeout(resolve, 5));

    const [lane] = await queue.count(NOW);
    assert.deepEqual([lane!.ready, lane!.running], [2, 0]);
    assert.deepEqual(payloads(await queue.lease([2], NOW)), [5, 6]);
  });
});

Deno.test("what is leased ahead and cannot go back is still there, and goes later", async () => {
  await withScene({}, async ({ queue, first, refill, fail }) => {
    await refill(first);
    fail(1);

    await assert.rejects(async () => await queue.list({ limit: 1 }), /disk I\/O error/);

    assert.deepEqual(payloads(atOnce(queue, [1])), [5]);
    await queue.list({ limit: 1 });
    assert.deepEqual(payloads(await queue.lease([2], NOW)), [6]);
  });
});

Deno.test("KvQueue.leave() hands back what is leased ahead, no attempt charged", async () => {
  await withScene({}, async ({ queue, first, refill, other, kv }) => {
    await refill(first);
    await queue.leave(NOW);

    assert.equal(await leasesIn(kv), 0);
    const leased = await (await other()).lease([9], NOW);
    assert.deepEqual(leased.map(({ attempt }) => attempt), [1, 1, 1, 1]);
  });
});

Deno.test("after a suspension nothing is started that was leased ahead before it", async () => {
  const leaseMs = 1000;
  await withScene({ options: { leaseMs } }, async ({ queue, first, refill }) => {
    await refill(first);

    const answer = queue.lease([2], NOW + leaseMs / 2);

    assert.ok("then" in answer);
    const leased = await answer; // anew: they have gone back, by a commit
    assert.deepEqual(leased.map(({ payload, fence }) => [payload, fence]), [[5, 2], [6, 2]]);
  });
  await withScene({ options: { leaseMs } }, async ({ queue, first, refill, other }) => {
    const running = await refill(first);
    const theirs = await other();
    await theirs.renew(NOW);
    await theirs.renew(NOW + leaseMs);
    await theirs.renew(NOW + 2 * leaseMs);
    const leased = await theirs.lease([9], NOW + 2 * leaseMs);
    assert.deepEqual(payloads(leased), [3, 4, 5, 6]);

    assert.deepEqual(await queue.lease([2], NOW + 2 * leaseMs), []);
    assert.equal((await queue.renew(NOW + 2 * leaseMs)).alive, false);
    assert.deepEqual(await queue.lease([2], NOW + 2 * leaseMs), []);
    const [lane] = await queue.count(NOW + 2 * leaseMs);
    assert.deepEqual([lane!.ready, lane!.running], [0, 4]);
    assert.deepEqual(await queue.settle(running.map((job) => end(job)), NOW), [false, false]);
  });
});

Deno.test("an urgent job waits for no more batch jobs than run at once, though others are leased ahead", async () => {
  await withFolder(async (folder) => {
    const most = 3;
    const ran: string[] = [];
    const added: number[] = [];
    const sluice = await start({
      store: { use: denoKv, with: { path: `${folder}/queue.db` } },
      pools: {
        p: {
          handler: ({ payload }) => {
            ran.push(String(payload));
            if (payload === "batch" && ran.length % 20 === 0 && ran.length < 300) urge();
          },
          size: { min: most, max: most },
          lanes: ["urgent", "batch"].map((name) => ({ name, targetWaitMs: 3_600_000 })),
        },
      },
    });
    const pool = sluice.pool("p");
    const urged: Promise<unknown>[] = [];
    const urge = (): void => {
      const adding = pool.enqueue({ lane: "urgent", payload: "urgent" });
      urged.push(adding.then(async (job) => {
        added.push(ran.length);
        await job.done;
      }));
    };
    try {
      await pool.pause("batch");
      const jobs = await pool.enqueueAll(Array.from({ length: 400 }, () => ({
        lane: "batch",
        payload: "batch",
      })));
      await pool.resume("batch");
      await Promise.all(jobs.map((job) => job instanceof Error ? job : job.done));
      await Promise.all(urged);
    } finally {
      await sluice.stop();
    }

    assert.ok(urged.length > 5);
    const starts = ran.flatMap((payload, at) => payload === "urgent" ? [at] : []);
    const waits = starts.map((at, nth) => at - added[nth]!);
    assert.ok(waits.every((wait) => wait <= most), String(waits));
  });
});
