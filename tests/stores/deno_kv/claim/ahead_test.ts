import assert from "node:assert/strict";
import { start } from "../../../../mod.ts";
import { audit } from "../../../../stores/deno_kv/doctor/audit.ts";
import { denoKv } from "../../../../stores/deno_kv/mod.ts";
import { deafStore, throughCommits, twinOf } from "../_commits.ts";
import { openRemote, withServer } from "../_remote.ts";
import { end, entry, NOW, openQueue, withFolder } from "../_store.ts";

Deno.test("KvQueue.lease() goes with the commit of ends, what does not start at once too", async () => {
  const kv = await Deno.openKv(":memory:");
  const watched = await twinOf(kv);
  let commits = 0;
  throughCommits(watched, (commit) => {
    commits++;
    return commit();
  });
  const store = deafStore(watched, () => 0);
  try {
    const queue = await openQueue(store);
    await queue.add([1, 2, 3, 4, 5, 6].map((payload) => entry({ payload })), NOW);
    const first = await queue.lease([2], NOW);
    const before = commits;

    const settled = queue.settle(first.map((job) => end(job)), NOW);
    const second = await queue.lease([4], NOW, [2]);

    assert.deepEqual(await settled, [true, true]);
    assert.deepEqual(second.map(({ payload }) => payload), [3, 4, 5, 6]);
    assert.equal(commits - before, 1);
    const [lane] = await queue.count(NOW);
    assert.deepEqual([lane!.ready, lane!.running], [0, 4]);
    assert.deepEqual(await audit(kv, "p"), []);
  } finally {
    await store.close();
    kv.close();
  }
});

Deno.test("leases that are under way at once over a network share the parts of a lane, and lose no commit", async () => {
  await withServer({ maxChecks: 10, latencyMs: 10 }, async (server) => {
    const store = await openRemote(server);
    const queue = await openQueue(store);
    for (let payload = 0; payload < 60; payload++) await queue.add([entry({ payload })], NOW);
    server.knobs.latencyMs = 50;
    const before = server.requests.atomic_write;

    const leases = await Promise.all([queue.lease([20], NOW), queue.lease([35], NOW)]);

    assert.deepEqual(leases.map((jobs) => jobs.length), [20, 35]);
    assert.equal(new Set(leases.flat().map(({ id }) => id)).size, 55);
    const commits = server.requests.atomic_write - before;
    assert.ok(commits <= Math.ceil(20 / 6) + Math.ceil(35 / 6), `${commits} commits`);
    assert.equal((await queue.lease([20], NOW)).length, 5);
    assert.equal((await queue.count(NOW))[0]!.running, 60);
    await queue.leave(NOW);
    await store.close();
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
