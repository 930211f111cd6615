import assert from "node:assert/strict";
import type { NewJob } from "../../mod.ts";
import { defineStore } from "../../src/contract/plugin.ts";
import { MemoryStore } from "../../stores/memory/mod.ts";
import { type PoolParts, type Virtual, withPool } from "../_virtual.ts";

type Dedupe = NonNullable<NonNullable<PoolParts["lanes"]>[number]["dedupe"]>;

/** Runs a test on a pool of one worker whose jobs take 100 ms, and gives what they ran with, and when. */
async function withLane(
  dedupe: Dedupe,
  test: (virtual: Virtual, ran: unknown[][]) => Promise<void>,
  lane: object = {},
): Promise<void> {
  const ran: unknown[][] = [];
  let virtual: Virtual | undefined;
  let fromMs = 0;
  const handler = ({ payload }: { payload: unknown }) => {
    const { clock } = virtual!;
    ran.push([payload, clock.nowMs() - fromMs]);
    return new Promise<void>((resolve) => clock.at(clock.nowMs() + 100, resolve));
  };
  const parts = { handler, size: { min: 1, max: 1 }, lanes: [{ name: "a", dedupe, ...lane }] };
  await withPool(parts as PoolParts, async (given) => {
    virtual = given;
    fromMs = given.clock.nowMs();
    await test(given, ran);
  });
}

function job(payload: unknown, more: Partial<NewJob> = {}): NewJob {
  return { lane: "a", payload, dedupeKey: "d", ...more };
}

Deno.test("until-start: a job that comes while the first runs is another one, and runs after it", async () => {
  await withLane({ mode: "until-start" }, async ({ pool, clock }, ran) => {
    const first = await pool.enqueue(job(1));
    await clock.settle();
    const second = await pool.enqueue(job(2));
    const third = await pool.enqueue(job(3));
    assert.deepEqual([second.duplicate, third.duplicate, third.id], [false, true, second.id]);
    await clock.advance(1000);
    assert.notEqual(first.id, second.id);
    assert.deepEqual(ran, [[1, 0], [2, 100]]);
  });
});

Deno.test("window: a job within windowMs of the first is none, also once that has ended", async () => {
  await withLane({ mode: "window", windowMs: 500 }, async ({ pool, clock }, ran) => {
    for (let payload = 0; payload < 10; payload++) {
      await pool.enqueue(job(payload));
      await clock.advance(125);
    }
    assert.deepEqual(ran, [[0, 0], [4, 500], [8, 1000]]);
  });
});

Deno.test("replace: the latest payload runs, and all who enqueued hear of the end", async () => {
  await withLane({ mode: "replace" }, async ({ pool, clock }, ran) => {
    const busy = await pool.enqueue(job("busy", { dedupeKey: "other" }));
    await clock.settle();
    const handles = await Promise.all([1, 2, 3].map((payload) => pool.enqueue(job(payload))));
    await clock.advance(100);
    const late = await pool.enqueue(job(4));
    assert.equal(late.duplicate, false, "the first one runs: what comes now is another job");
    await clock.advance(1000);

    assert.equal(new Set(handles.map(({ id }) => id)).size, 1);
    for (const { done } of [busy, ...handles, late]) assert.equal((await done).state, "done");
    assert.deepEqual(ran, [["busy", 0], [3, 100], [4, 200]]);
  });
});

Deno.test("replace: a full lane takes the payload of a job that it has", async () => {
  await withLane({ mode: "replace" }, async ({ pool, clock }, ran) => {
    await pool.pause();
    const first = await pool.enqueue(job(1));
    await clock.settle();
    await assert.rejects(pool.enqueue(job(2, { dedupeKey: "other" })), /maxDepth/);
    const again = await pool.enqueue(job(3));
    const [list] = await pool.enqueueAll([job(4)]);
    await pool.resume();
    await clock.advance(1000);

    assert.deepEqual([again.id, again.duplicate], [first.id, true]);
    assert.ok(list !== undefined && "id" in list && list.id === first.id);
    assert.deepEqual(ran, [[4, 0]]);
  }, { maxDepth: 1 });
});

Deno.test("debounce: a job runs waitMs after the latest, but maxMs after the first at the latest", async () => {
  await withLane({ mode: "debounce", waitMs: 100, maxMs: 250 }, async ({ pool, clock }, ran) => {
    await pool.enqueue(job(1));
    await clock.advance(60);
    await pool.enqueue(job(2));
    await clock.advance(500);
    assert.deepEqual(ran.splice(0), [[2, 160]]);

    for (let payload = 0; payload < 10; payload++) {
      await pool.enqueue(job(payload));
      await clock.advance(50);
    }
    await clock.advance(1000);
    assert.deepEqual(ran, [[4, 560 + 250], [9, 810 + 250]]);
  });
});

Deno.test("debounce: other keys, and jobs without one, wait for nothing; delays are refused beside it", async () => {
  await withLane({ mode: "debounce", waitMs: 100, maxMs: 250 }, async ({ pool, clock }, ran) => {
    await pool.enqueue({ lane: "a", payload: "free" });
    await pool.enqueue(job("one"));
    await pool.enqueue(job("other", { dedupeKey: "e" }));
    await clock.advance(1000);
    assert.deepEqual(ran.map(([payload]) => payload), ["free", "one", "other"]);
    for (const more of [{ delayMs: 5 }, { runAt: "2026-01-01T00:00:00Z" }]) {
      await assert.rejects(pool.enqueue(job(1, more)), {
        name: "TypeError",
        message: `Expected no ${Object.keys(more)[0]} beside a dedupeKey: lane "a" debounces`,
      });
    }
  });
});

Deno.test("A key that is the idempotency key too is its job's until that ends, in every mode", async () => {
  await withLane({ mode: "debounce", waitMs: 100, maxMs: 250 }, async ({ pool, clock }, ran) => {
    const again = { idempotency: { key: "d", fingerprint: "f" } };
    const first = await pool.enqueue(job(1, again));
    const second = await pool.enqueue(job(1, again));
    await clock.advance(1000);
    assert.deepEqual([second.id, second.duplicate], [first.id, true]);
    assert.deepEqual(ran, [[1, 0]]);
  });
});

Deno.test("A pool with a dedupe mode does not start on a store that does not hold it", async () => {
  const bare = defineStore({
    name: "bare",
    create: () => {
      const store = new MemoryStore();
      const open = store.open.bind(store);
      store.open = (options) => Object.assign(open(options), { holdsDedupe: undefined });
      return store;
    },
  });
  const start = (mode: "replace" | "until-end") =>
    withPool(
      { lanes: [{ name: "a", dedupe: { mode } }] },
      () => Promise.resolve(),
      { store: bare },
    );

  await start("until-end");
  await assert.rejects(start("replace"), {
    message: /The store does not hold dedupe, which lane "a" of pool "p" has/,
  });
});
