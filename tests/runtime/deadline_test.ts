import assert from "node:assert/strict";
import { RetryLater, start } from "../../mod.ts";
import type { ConfigInput } from "../../src/config/input.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { type PoolParts, withPool } from "../_virtual.ts";

const lanes = [{
  name: "high",
  deadlineMs: 2000,
  attempts: 99,
  backoff: { baseMs: 500, maxMs: 500 },
}];

// E8
for (const admission of ["admit-all", "shed-at-cap"] as const) {
  for (
    const [how, thrown] of [["fails", new Error("no")], [
      "is put off",
      new RetryLater(700),
    ]] as const
  ) {
    Deno.test(`A job that ${how} again and again is late once its first deadline has passed (${admission})`, async () => {
      const handler = (): never => {
        throw thrown;
      };
      const parts = { handler, lanes, admission } as PoolParts;
      await withPool(parts, async ({ pool, clock }) => {
        const fromMs = clock.nowMs();
        const job = await pool.enqueue({ lane: "high", payload: 0, delayMs: 1000 });
        await clock.advance(1000 + 2000);
        assert.notEqual((await pool.find(job.id))?.state, "dead");
        await clock.advance(1000);

        const record = await pool.find(job.id);
        assert.deepEqual([record?.state, record?.reason], ["dead", "late"]);
        assert.ok(record!.endedAtMs! - fromMs > 3000);
      });
    });
  }
}

// E8
Deno.test("admit-all starts no job that is past its deadline, at any size", async () => {
  const clock = new VirtualClock();
  const handler = (): Promise<void> =>
    new Promise((resolve) => clock.at(clock.nowMs() + 1500, resolve));
  const parts: PoolParts = { handler, lanes, admission: "admit-all", size: { min: 1, max: 1 } };
  await withPool(parts, async ({ pool }) => {
    for (let count = 0; count < 5; count++) pool.post({ lane: "high", payload: 0 });
    await clock.advance(10_000);

    const [lane] = pool.tally();
    assert.deepEqual([lane!.done, lane!.dead.late], [2, 3]);
  }, { clock });
});

// E8
for (const store of ["memory", "deno-kv"] as const) {
  Deno.test(`On ${store} a retry keeps deadline and ttl of a job, and a revive begins them anew`, async () => {
    const clock = new VirtualClock();
    let mood: Error | undefined = new RetryLater(600);
    const handler = (): void => {
      if (mood !== undefined) throw mood;
    };
    const config = {
      store: store === "memory" ? "memory" : { use: "deno-kv", with: { path: ":memory:" } },
      pools: {
        p: {
          handler,
          size: { min: 1, max: 1 },
          lanes: [{ ...lanes[0], name: "high" }, { name: "ttl", ttlMs: 2000 }],
        },
      },
    } as ConfigInput;
    const sluice = await start(config, { clock });
    const pass = async (ms: number): Promise<void> => {
      for (let left = ms; left > 0; left -= 50) {
        await clock.advance(50);
        await new Promise((resolve) => setTimeout(resolve, 0)); // the database answers on its own
        await clock.settle();
      }
    };
    const late = await sluice.enqueue("p", { lane: "high", payload: 0 });
    const expired = await sluice.enqueue("p", { lane: "ttl", payload: 0 });
    await pass(4000);
    const ends = await Promise.all([late, expired].map(({ id }) => sluice.pool("p").find(id)));
    assert.deepEqual(ends.map((record) => record?.reason), ["late", "expired"]);

    mood = undefined;
    for (const { id } of [late, expired]) await sluice.pool("p").change(id, "revive");
    await pass(1000);
    const again = await Promise.all([late, expired].map(({ id }) => sluice.pool("p").find(id)));
    assert.deepEqual(again.map((record) => record?.state), ["done", "done"]);
    const stopped = sluice.stop();
    await pass(1000);
    await stopped;
  });
}

Deno.test("Many jobs that are late hold up none that is not", async () => {
  const clock = new VirtualClock();
  let ran = 0;
  const size = { min: 8, max: 8 };
  const lanes = [{ name: "only", deadlineMs: 1000 }];
  await withPool(
    { handler: () => void ran++, size, lanes, admission: "admit-all" },
    async ({ pool }) => {
      await pool.pause();
      for (let index = 0; index < 5000; index++) pool.post({ lane: "only", payload: 0 });
      await clock.advance(1500);
      pool.post({ lane: "only", payload: 0 });
      await pool.resume();
      await clock.advance(10);

      assert.deepEqual([pool.tally()[0]!.dead.late, ran], [5000, 1]);
    },
    { clock },
  );
});
