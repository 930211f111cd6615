import assert from "node:assert/strict";
import { RetryLater, StoreError } from "../../src/contract/errors.ts";
import type { Job, JobContext } from "../../src/contract/job.ts";
import type { Store } from "../../src/contract/store.ts";
import { MemoryStore } from "../../stores/memory/mod.ts";
import { withBench } from "../cases/_bench.ts";
import { DATABASES } from "../cases/_durable.ts";

/** A pool whose receiver refuses all for a minute. */
function refused(by: "key" | "pool") {
  const calls: string[] = [];
  const handler = ({ key = "" }: Job, context: JobContext): void => {
    calls.push(key);
    context.overloaded(60_000);
    throw new RetryLater(60_000);
  };
  const size = { min: 1, max: 4 };
  const lanes = [{ name: "only" }];
  return { calls, parts: { handler, size, lanes, cooldown: { by } } as const };
}

for (const [where, withStore] of DATABASES) {
  for (const by of ["key", "pool"] as const) {
    Deno.test(`A process that was killed has told ${where} that a receiver refuses all of a ${by}`, async () => {
      await withStore(async (bench) => {
        const { calls, parts } = refused(by);
        const first = await bench.start(parts);
        const given = { lane: "only", payload: 0, key: "acme" };
        for (let count = 0; count < 10; count++) first.pool.post(given);
        await bench.until(() => first.pool.snapshot().breakers.length > 0);
        await bench.advance(500);
        bench.kill(first);
        await bench.advance(500);
        const before = calls.length;
        const second = await bench.start(parts);
        for (let count = 0; count < 10; count++) second.pool.post(given);
        await bench.advance(30_000, { stepMs: 500 });

        assert.equal(calls.length, before, "nothing has started");
        const [breaker] = second.pool.snapshot().breakers;
        assert.equal(breaker?.key, by === "key" ? "acme" : undefined);
        assert.equal(breaker?.cause, "overloaded");
        await bench.advance(31_000, { stepMs: 500 });
        assert.ok(calls.length > before, "then one asks");
      });
    });
  }
}

Deno.test("A store that fails for a while hears of a breaker once it works, and says so to who closes one by hand", async () => {
  const own = new MemoryStore();
  let isDown = false;
  const failing: Store = {
    open: (given) => own.open(given),
    get: (key) => isDown ? Promise.reject(new Error("down")) : own.get(key),
    commit: (checks, sets) => {
      if (isDown) throw new Error("down");
      return own.commit(checks, sets);
    },
    close: () => {},
  };
  await withBench(async (bench) => {
    const { calls, parts } = refused("pool");
    const first = await bench.start(parts);
    isDown = true;
    for (let count = 0; count < 10; count++) first.pool.post({ lane: "only", payload: 0 });
    await bench.advance(2000);
    isDown = false;
    await bench.advance(2000);
    const before = calls.length;
    const second = await bench.start(parts);
    await bench.advance(2000);
    assert.equal(second.pool.snapshot().breakers.length, 1);
    assert.equal(calls.length, before);

    isDown = true;
    await assert.rejects(second.pool.closeBreaker(), StoreError);
    const closings = (): unknown[] =>
      bench.referee.events.flatMap((event) => event.kind === "cooldown-ended" ? [event.by] : []);
    assert.deepEqual(closings(), ["hand"], "it is closed here");
    isDown = false;
    await bench.advance(2000);
    assert.deepEqual(closings(), ["hand", "hand"]);
  }, failing);
});

Deno.test("A record of breakers that was damaged in the store holds nothing", async () => {
  for (const damaged of [null, 7, {}, { closings: 1 }, { closings: "x", entries: [] }]) {
    const store = new MemoryStore();
    assert.equal(await store.commit({}, { "breakers/pools/p": damaged }), true);
    await withBench(async (bench) => {
      const { calls, parts } = refused("pool");
      const { pool } = await bench.start(parts);
      pool.post({ lane: "only", payload: 0 });
      await bench.advance(100);
      assert.equal(calls.length, 1);
      assert.equal(await pool.closeBreaker(), false);
    }, store);
  }
});
