import assert from "node:assert/strict";
import * as v from "valibot";
import { type ConfigInput, start } from "../../../mod.ts";
import { denoKv } from "../../../stores/deno_kv/mod.ts";
import { defineStore } from "../../../src/contract/plugin.ts";
import { deafStore, throughCommits } from "./_commits.ts";
import { openStore, withFolder } from "./_store.ts";

function configWith(
  path: string,
  handler: (job: { payload: unknown }) => unknown,
  keep?: { done: number },
): ConfigInput {
  return {
    store: { use: denoKv, with: { path } },
    pools: {
      p: {
        handler,
        size: { min: 1, max: 4 },
        lanes: [{ name: "high", attempts: 2, backoff: { baseMs: 1, jitter: 0 } }, { name: "low" }],
        ...(keep === undefined ? {} : { keep }),
      },
    },
  };
}

Deno.test("A pool on deno-kv runs what is enqueued, and tells how each job ended", async () => {
  await withFolder(async (folder) => {
    const config = configWith(`${folder}/queue.db`, ({ payload }) => {
      if (payload === 13) throw new Error("no luck");
      return Number(payload) * 2;
    });
    const sluice = await start(config);
    try {
      const jobs = await Promise.all(
        Array.from(
          { length: 40 },
          (_, payload) =>
            sluice.enqueue("p", { lane: payload % 2 === 0 ? "low" : "high", payload }),
        ),
      );

      const outcomes = await Promise.all(jobs.map((job) => job.done));

      for (const [payload, outcome] of outcomes.entries()) {
        if (payload === 13) assert.deepEqual([outcome.state, outcome.error], ["dead", "no luck"]);
        else assert.deepEqual(outcome, { state: "done", result: payload * 2 });
      }
      const dead = await sluice.pool("p").list({ state: "dead", limit: 9 });
      assert.deepEqual(dead.jobs.map(({ attempt, reason }) => [attempt, reason]), [[
        2,
        "attempts",
      ]]);
    } finally {
      await sluice.stop();
    }
  });
});

Deno.test("A pool on deno-kv tells ends also where no done jobs are kept", async () => {
  await withFolder(async (folder) => {
    const config = configWith(`${folder}/queue.db`, ({ payload }) => payload, { done: 0 });
    const sluice = await start(config);
    try {
      const jobs = await Promise.all(
        Array.from({ length: 30 }, (_, payload) => sluice.enqueue("p", { lane: "high", payload })),
      );

      const outcomes = await Promise.all(jobs.map((job) => job.done));

      assert.deepEqual(outcomes.map(({ result }) => result), jobs.map((_, payload) => payload));
      assert.equal(await sluice.pool("p").find(jobs[0]!.id), undefined);
    } finally {
      await sluice.stop();
    }
  });
});

Deno.test("Jobs that were enqueued run after a restart", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/queue.db`;
    const ran: unknown[] = [];
    const paused = configWith(path, () => assert.fail("paused"));
    const first = await start(paused);
    await first.pool("p").pause();
    const jobs = await first.pool("p").enqueueAll(
      [1, 2, 3].map((payload) => ({ lane: "low", payload })),
    );
    assert.equal((await first.pool("p").list({ state: "ready", limit: 9 })).jobs.length, 3);
    await first.stop();

    const second = await start(configWith(path, ({ payload }) => ran.push(payload)));
    try {
      assert.equal(second.pool("p").snapshot().paused, true, "a pause is kept");
      await second.pool("p").resume();
      for (const job of jobs) {
        assert.ok(!(job instanceof Error));
        while ((await second.pool("p").find(job.id))?.state !== "done") {
          await second.pool("p").list({ limit: 1 });
        }
      }
    } finally {
      await second.stop();
    }

    assert.deepEqual(ran.toSorted(), [1, 2, 3]);
  });
});

Deno.test("A pool hears of jobs that another process has added to its file", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/queue.db`;
    const ran = Promise.withResolvers<unknown>();
    const sluice = await start(configWith(path, ({ payload }) => ran.resolve(payload)));
    const script = new URL("_adder.ts", import.meta.url).pathname;
    const adder = new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-prompt", "-A", "--unstable-kv", script, path],
    });
    try {
      const { success } = await adder.output();

      assert.ok(success);
      assert.equal(await ran.promise, "from elsewhere");
    } finally {
      await sluice.stop();
    }
  });
});

Deno.test("An entry that is too large is refused with the limit, and fails no other", async () => {
  await withFolder(async (folder) => {
    const config = configWith(`${folder}/queue.db`, ({ payload }) => String(payload).length);
    const sluice = await start(config);
    const large = "x".repeat(1_000_000);
    const message = "Expected a payload of at most 1048576 bytes as JSON but received 1100002: " +
      "store it elsewhere and enqueue its address";
    try {
      const pool = sluice.pool("p");
      const tooLarge = { lane: "high", payload: "x".repeat(1_100_000) };
      await assert.rejects(pool.enqueue(tooLarge), { name: "RangeError", message });
      const [ok, refused, other] = await pool.enqueueAll([
        { lane: "high", payload: large },
        tooLarge,
        { lane: "high", payload: "" },
      ]);

      assert.ok(refused instanceof RangeError && refused.message === message);
      assert.ok(ok !== undefined && !(ok instanceof Error));
      assert.equal((await ok.done).result, 1_000_000);
      assert.equal((await pool.find(ok.id))?.payload, large);
      assert.ok(other !== undefined && !(other instanceof Error));
      assert.equal((await other.done).result, 0);
    } finally {
      await sluice.stop();
    }
  });
});

Deno.test("denoKv makes the folder of its file", async () => {
  await withFolder(async (folder) => {
    const store = await openStore({ path: `${folder}/some/where/queue.db` });
    await store.close();

    assert.ok((await Deno.stat(`${folder}/some/where/queue.db`)).isFile);
  });
});

Deno.test("A pool on deno-kv takes other lanes of a reload, and keeps the jobs of all", async () => {
  await withFolder(async (folder) => {
    const lanes = (...names: readonly string[]): ConfigInput => {
      const config = configWith(`${folder}/queue.db`, ({ payload }) => payload);
      const pool = { ...config.pools.p!, lanes: names.map((name) => ({ name })), leaseMs: 9000 };
      return { ...config, pools: { p: pool } };
    };
    const sluice = await start(lanes("high", "low"));
    try {
      await sluice.pool("p").pause();
      const before = await sluice.enqueue("p", { lane: "low", payload: "before" });

      await sluice.reload(lanes("new", "low", "high"));

      const jobs = [
        before,
        await sluice.enqueue("p", { lane: "new", payload: "new" }),
        await sluice.enqueue("p", { lane: "high", payload: "after" }),
      ];
      await sluice.pool("p").resume();
      const outcomes = await Promise.all(jobs.map((job) => job.done));
      assert.deepEqual(outcomes.map(({ state, result }) => [state, result]), [
        ["done", "before"],
        ["done", "new"],
        ["done", "after"],
      ]);
      assert.deepEqual(sluice.pool("p").snapshot().lanes.map(({ name }) => name), [
        "new",
        "low",
        "high",
      ]);
    } finally {
      await sluice.stop();
    }
  });
});

Deno.test("A pool on deno-kv that has a free worker starts a job with the commit that stores it", async () => {
  const kv = await Deno.openKv(":memory:");
  let commits = 0;
  throughCommits(kv, (commit) => commit().finally(() => commits++));
  const counted = defineStore({
    name: "counted",
    options: v.strictObject({}),
    create: () => deafStore(kv, () => 0),
  });
  const starts: number[] = [];
  const handler = (): void => void starts.push(commits);
  const lanes = [{ name: "high" }, { name: "low" }];
  const pools = { p: { handler, size: { min: 1, max: 1 }, lanes } };
  const sluice = await start({ store: { use: counted }, pools });
  const told: string[] = [];
  sluice.observe(({ kind }) => {
    if (kind.startsWith("job-")) told.push(kind);
  });
  try {
    await (await sluice.enqueue("p", { lane: "low", payload: 0 })).done; // by then it has joined
    for (const lane of ["high", "low", "low"]) {
      const before = commits;
      const job = await sluice.enqueue("p", { lane, payload: lane });
      assert.deepEqual(await job.done, { state: "done", result: undefined });
      assert.deepEqual([starts.at(-1), commits], [before + 1, before + 2]);
    }
    const [one, two] = await sluice.pool("p").enqueueAll(
      ["low", "low"].map((lane) => ({ lane, payload: lane })),
    );
    for (const job of [one!, two!]) assert.ok(!(job instanceof Error) && await job.done);
  } finally {
    await sluice.stop();
  }
  const each = ["job-added", "job-started", "job-done"];
  assert.deepEqual(told.slice(0, 9), [...each, ...each, ...each]);
});
