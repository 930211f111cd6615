import assert from "node:assert/strict";
import { Fatal, start } from "../../mod.ts";
import { defineStore } from "../../src/contract/plugin.ts";
import { MemoryStore } from "../../stores/memory/mod.ts";
import type { JobRecord } from "../../src/contract/job.ts";
import type { ConfigInput } from "../../src/config/input.ts";
import type { Sluice } from "../../src/runtime/handles.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { configOf, ok, type PoolParts, stopPool } from "../_virtual.ts";

/** What is running, and what the pool `care` was handed. */
interface Flow {
  readonly clock: VirtualClock;
  readonly sluice: Sluice;
  readonly config: ConfigInput;
  readonly got: unknown[];
}

const CARE = { pool: "care", lane: "in" };

/** Runs `test` with a pool `p` that leads to pool `care`. */
async function withFlow(
  parts: PoolParts,
  care: PoolParts,
  test: (flow: Flow) => Promise<void>,
): Promise<void> {
  const got: unknown[] = [];
  const clock = new VirtualClock();
  const config = configOf(parts, {
    care: {
      handler: ({ payload }) => void got.push(payload),
      size: { min: 1, max: 1 },
      lanes: [{ name: "in" }],
      ...care,
    } as ConfigInput["pools"][string], // a handler takes the place of a handler
  });
  const sluice = await start(config, { seed: 1, clock });
  try {
    await test({ clock, sluice, config, got });
  } finally {
    await stopPool({ clock, sluice });
  }
}

function dies(): never {
  throw new Fatal("no such customer");
}

Deno.test("onDead hands the record of each dead job on, and of no other", async () => {
  const parts = {
    handler: ({ payload }: { payload: unknown }) => payload === "bad" ? dies() : "fine",
    onDead: CARE,
  };
  await withFlow(parts, {}, async ({ clock, sluice, got }) => {
    const { id } = await sluice.enqueue("p", { lane: "high", payload: "bad", key: "k" });
    await sluice.enqueue("p", { lane: "high", payload: "good" });
    await clock.advance(1000);

    const [record, ...more] = got as JobRecord[];
    assert.deepEqual(more, []);
    const { pool, lane, payload, key, state, reason, error, attempt } = record!;
    assert.deepEqual([record?.id, pool, lane, payload, key], [id, "p", "high", "bad", "k"]);
    assert.deepEqual([state, reason, error, attempt], ["dead", "fatal", "no such customer", 1]);
    assert.deepEqual(record?.history?.map(({ end, stack }) => [end, stack]), [[
      "failed",
      undefined,
    ]]);
    const [job] = (await sluice.pool("care").list({ limit: 9 })).jobs;
    assert.equal(job?.key, "k");
  });
});

Deno.test("onDead hears of jobs that expire, and a dead job of its lane leads nowhere", async () => {
  const parts = { onDead: CARE, lanes: [{ name: "high", ttlMs: 1000, paused: true }] };
  await withFlow(parts, { handler: dies }, async ({ clock, sluice }) => {
    await sluice.enqueue("p", { lane: "high", payload: 1 });
    await clock.advance(5000);
    await sluice.pool("p").resume("high");
    await clock.advance(5000);

    const { jobs } = await sluice.pool("care").list({ limit: 9 });
    assert.deepEqual(jobs.map(({ state }) => state), ["dead"]);
    const { payload } = jobs[0]! as { payload: unknown };
    assert.equal((payload as JobRecord).reason, "expired");
  });
});

Deno.test("then hands the result of each done job on: null where there is none", async () => {
  const parts = { handler: ({ payload }: { payload: unknown }) => payload, then: CARE };
  await withFlow(parts, {}, async ({ clock, sluice, got }) => {
    const payloads = [{ total: 3 }, undefined, 0, "x".repeat(59_000)];
    for (const payload of payloads) await sluice.enqueue("p", { lane: "high", payload });
    await clock.advance(1000);
    assert.deepEqual(got, [{ total: 3 }, null, 0, "x".repeat(59_000)]);
  });
});

Deno.test("then: a job whose result is too large, or no JSON, is dead and says so", async () => {
  const large = "x".repeat(70_000);
  const handler = ({ payload }: { payload: unknown }) => payload === 1 ? large : () => {};
  await withFlow({ handler, then: CARE }, {}, async ({ clock, sluice, got }) => {
    const ids = [];
    for (const payload of [1, 2]) {
      ids.push((await sluice.enqueue("p", { lane: "high", payload })).id);
    }
    await clock.advance(1000);

    const [one, two] = await Promise.all(ids.map((id) => sluice.pool("p").find(id)));
    assert.deepEqual([one?.state, one?.reason, two?.state], ["dead", "fatal", "dead"]);
    assert.match(one?.error ?? "", /it has 70002 bytes as JSON, and at most 60000 are kept/);
    assert.match(two?.error ?? "", /it is a function/);
    assert.deepEqual(got, []);
    assert.equal(sluice.pool("p").tally()[0]!.dead.fatal, 2);
  });
});

Deno.test("what is handed on waits in a lane that is paused, and goes past its depth and admission", async () => {
  const care = { lanes: [{ name: "in", maxDepth: 1, paused: true }] };
  await withFlow({ onDead: CARE, handler: dies }, care, async ({ clock, sluice, got }) => {
    await sluice.pool("p").enqueueAll(
      Array.from({ length: 1000 }, (_, payload) => ({ lane: "high", payload })),
    );
    await clock.advance(10_000);
    assert.equal(sluice.pool("care").counts().ready, 1000);
    await sluice.pool("care").resume("in");
    await clock.advance(10_000);
    const payloads = new Set((got as JobRecord[]).map(({ payload }) => payload));
    assert.deepEqual([got.length, payloads.size], [1000, 1000]);
  });
});

Deno.test("a record that is too large is handed on without its history, then without its payload", async () => {
  await withFlow({ onDead: CARE, handler: dies }, {}, async ({ clock, sluice, got }) => {
    for (const size of [59_720, 90_000]) {
      await sluice.enqueue("p", { lane: "high", payload: "x".repeat(size) });
    }
    await clock.advance(1000);
    const [short, bare] = got as (JobRecord & { payloadError?: string })[];
    assert.deepEqual([String(short?.payload).length, short?.history], [59_720, undefined]);
    assert.deepEqual([bare?.payload, bare?.error], [null, "no such customer"]);
    assert.equal(bare?.payloadError, "It has 90002 bytes as JSON: look it up by the id");
  });
});

Deno.test("a reload that takes a pool away hands on what it ended, and refuses to take its target away", async () => {
  await withFlow({ onDead: CARE, handler: dies }, {}, async ({ clock, sluice, config, got }) => {
    const { p, care } = config.pools as Record<string, ConfigInput["pools"][string]>;
    await assert.rejects(
      sluice.reload({ pools: { p: p! } }),
      /\/pools\/p\/onDead\/pool: No pool is named "care"/,
    );
    await sluice.enqueue("p", { lane: "high", payload: 1 });
    await clock.settle();
    await sluice.reload({ pools: { care: care! } });
    await clock.advance(60_000);
    assert.equal(got.length, 1);
  });
});

Deno.test("an end that was noted before a reload goes where its lane leads by then", async () => {
  const care = { lanes: [{ name: "in" }, { name: "other", paused: true }] };
  const parts = { onDead: CARE, handler: dies, lanes: [{ name: "high", paused: true }] };
  await withFlow(parts, care, async ({ clock, sluice, config }) => {
    await sluice.enqueue("p", { lane: "high", payload: 1 });
    const { p, care } = config.pools as Record<string, ConfigInput["pools"][string]>;
    const onDead = { pool: "care", lane: "other" };
    await sluice.reload({ pools: { p: { ...p!, onDead }, care: care! } });
    await sluice.pool("p").resume("high");
    await clock.advance(1000);
    assert.equal(sluice.pool("care").counts("other").ready, 1);
  });
});

Deno.test("a job that is retried once dead and dies again is handed on again", async () => {
  await withFlow({ onDead: CARE, handler: dies }, {}, async ({ clock, sluice, got }) => {
    const { id } = await sluice.enqueue("p", { lane: "high", payload: 1 });
    await clock.advance(1000);
    await sluice.pool("p").change(id, "revive");
    await clock.advance(1000);
    assert.deepEqual((got as JobRecord[]).map((record) => record.id), [id, id]);
  });
});

/** A store in memory that says before each look for ends what it does about it. */
function lookedAt(look: () => void): ReturnType<typeof defineStore> {
  return defineStore({
    name: "looked-at",
    create: () => {
      const store = new MemoryStore();
      const open = store.open.bind(store);
      store.open = (options) => {
        const queue = open(options);
        const toHandOn = queue.toHandOn.bind(queue);
        queue.toHandOn = (...given) => (look(), toHandOn(...given));
        return queue;
      };
      return store;
    },
  });
}

/** Starts a pool `p` that leads to `care`, or nowhere, on such a store. */
async function startLooked(
  look: () => void,
  parts: PoolParts,
): Promise<Pick<Flow, "clock" | "sluice">> {
  const clock = new VirtualClock();
  const care = { handler: ok, size: { min: 1, max: 1 }, lanes: [{ name: "in" }] };
  const plugins = { "looked-at": lookedAt(look) };
  const sluice = await start(configOf(parts, { care }, "looked-at"), { clock, plugins });
  return { clock, sluice };
}

Deno.test("the store is asked only if an end leads somewhere: after such an end, and every 10 s", async () => {
  for (const [onDead, expected] of [[undefined, 0], [CARE, 7]] as const) {
    let asked = 0;
    const flow = await startLooked(() => asked++, { onDead });
    await flow.sluice.enqueue("p", { lane: "high", payload: 1 });
    await flow.clock.advance(60_000);
    assert.equal(asked, expected);
    await stopPool(flow);
  }
});

Deno.test("a store that fails is asked again, and what is noted meanwhile is handed on once", async () => {
  let fails = true;
  let asked = 0;
  const look = (): void => {
    asked++;
    if (fails) throw new Error("The disk is full");
  };
  const flow = await startLooked(look, { onDead: CARE, handler: dies });
  await flow.sluice.enqueue("p", { lane: "high", payload: 1 });
  await flow.clock.advance(60_000);
  assert.ok(asked > 5 && asked < 15, `${asked}`);
  fails = false;
  await flow.clock.advance(10_000);
  assert.equal((await flow.sluice.pool("care").list({ limit: 9 })).jobs.length, 1);
  await stopPool(flow);
});
