import assert from "node:assert/strict";
import { MemoryStore } from "../../stores/memory/mod.ts";
import { defineHandler, defineStore } from "../../src/contract/plugin.ts";
import type { Queue, QueueOptions } from "../../src/contract/store.ts";
import { supervise } from "../../src/runtime/supervisor.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { builtins, defaults } from "../../plugins/mod.ts";
import { start } from "../../mod.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { configOf, ok, sleeper, withPool } from "../_virtual.ts";
import { faultsOf } from "./_reload.ts";
import { slowStore } from "./_slow_store.ts";

Deno.test("reload() refuses what only a restart can change, all of it at once, and changes nothing", async () => {
  const store = defineStore({ name: "other", create: () => new MemoryStore() });
  await withPool({ handler: ok }, async ({ sluice, pool, events }) => {
    const before = sluice.config;

    const faults = await faultsOf(
      sluice.reload({ ...configOf({ tickMs: 7 }), store, admin: { port: 0 } }),
    );

    assert.deepEqual(faults, [
      "/store: The store holds the jobs and the pools work from it: stop, then start with the new config",
      "/admin: The admin API binds its address and reads its tokens at the start: stop, then start with the new config",
    ]);
    assert.equal(pool.settings.tickMs, 50);
    assert.equal(sluice.config, before);
    assert.ok(!events.some(({ kind }) => kind === "reloaded"));
  });
});

Deno.test("reload() with a fault throws all faults and leaves the old config running", async () => {
  const clock = new VirtualClock();
  const parts = { handler: sleeper(() => clock, 100) };
  await withPool(parts, async ({ sluice, pool }) => {
    await clock.advance(100);
    const job = await pool.enqueue({ lane: "high", payload: 100 });
    await clock.advance(10);
    const before = { settings: pool.settings, workers: pool.snapshot().workers };

    const faults = await faultsOf(sluice.reload(configOf({
      ...parts,
      size: { min: 3, max: 2 },
      controller: "age-scalr",
      lanes: [],
    })));
    const more = await pool.enqueue({ lane: "low", payload: 10 });
    const after = { settings: pool.settings, workers: pool.snapshot().workers };
    await clock.advance(500);

    assert.equal(faults.length, 3);
    assert.deepEqual(after, before);
    assert.equal((await job.done).state, "done");
    assert.equal((await more.done).state, "done");
  }, { clock });
});

Deno.test("reload() changes nothing when one of several pools cannot be made", async () => {
  const handler = defineHandler({
    name: "broken",
    create: () => {
      throw new Error("no license");
    },
  });
  await withPool({ handler: ok }, async ({ sluice, pool, clock }) => {
    const good = { handler: ok, size: { min: 1, max: 1 }, lanes: [{ name: "only" }] };

    const faults = await faultsOf(
      sluice.reload(configOf({ tickMs: 7 }, { good, bad: { ...good, handler } })),
    );
    await clock.advance(100);

    assert.deepEqual(faults, [
      '/pools/bad/handler: The handler "broken" could not be made: no license',
    ]);
    assert.deepEqual(sluice.pools.map(({ name }) => name), ["p"]);
    assert.equal(pool.settings.tickMs, 50);
    const { changes } = await sluice.reload(configOf({}, { good })); // its queue was left again
    await clock.advance(100);
    assert.equal(changes.length, 1);
    assert.equal(sluice.pool("good").snapshot().peers, 1);
  });
});

Deno.test("reload() refuses to remove a lane with jobs and says how many; empty, it goes", async () => {
  const clock = new VirtualClock();
  const parts = { handler: sleeper(() => clock, 100), size: { min: 1, max: 1 } };
  await withPool(parts, async ({ sluice, pool }) => {
    await pool.enqueue({ lane: "low", payload: 100 });
    await pool.enqueue({ lane: "low", payload: 100 });
    await pool.enqueue({ lane: "low", payload: 100, delayMs: 150 });
    await clock.advance(10);
    const next = configOf({ ...parts, lanes: [{ name: "high" }] });

    const faults = await faultsOf(sluice.reload(next));
    await clock.advance(240);
    const later = await faultsOf(sluice.reload(next));
    await clock.advance(500);
    await sluice.reload(next);

    assert.deepEqual(faults, [
      '/pools/p/lanes/1: Lane "low" still holds 3 jobs: stop sending there and let them end, or cancel them, then reload',
    ]);
    assert.match(later[0] ?? "", /still holds 1 job:/);
    assert.deepEqual(pool.snapshot().lanes.map(({ name }) => name), ["high"]);
    await assert.rejects(pool.enqueue({ lane: "low", payload: 1 }), /No lane of pool "p" is named/);
    assert.equal((await pool.list({ lane: "low", limit: 10 })).jobs.length, 3);
  }, { clock });
});

Deno.test("reload() refuses other lanes, when the store cannot change them while it is open", async () => {
  class Fixed extends MemoryStore {
    override open(options: QueueOptions): ReturnType<MemoryStore["open"]> {
      const queue: Queue & { reopen?: unknown } = super.open(options);
      Object.defineProperty(queue, "reopen", { value: undefined });
      return queue as ReturnType<MemoryStore["open"]>; // all else is as it was
    }
  }
  const store = defineStore({ name: "fixed", create: () => new Fixed() });
  const clock = new VirtualClock();
  await using sluice = await start({ ...configOf({}), store }, { clock, seed: 1 });

  const faults = await faultsOf(sluice.reload({
    ...configOf({
      leaseMs: 1_000,
      handlers: { keep: ok },
      handler: undefined,
      lanes: [{ name: "low", attempts: 2 }, { name: "high", weight: 2 }],
    }),
    store,
  }));
  await sluice.reload({
    ...configOf({ lanes: [{ name: "high", weight: 2 }, { name: "low" }] }),
    store,
  });

  const end = "of a pool that runs: stop, then start with the new config";
  assert.deepEqual(faults, [
    `/pools/p/lanes/0: The store "fixed" cannot change lanes ${end}`,
    `/pools/p/lanes/0/attempts: The store "fixed" cannot change attempts ${end}`,
    `/pools/p/lanes/1: The store "fixed" cannot change lanes ${end}`,
    `/pools/p/leaseMs: The store "fixed" cannot change leaseMs ${end}`,
  ]);
  assert.equal(sluice.pool("p").settings.lanes[0]?.weight, 2);
});

Deno.test("reload() refuses to change a pool that is draining", async () => {
  await withPool({ handler: ok }, async ({ sluice, pool, clock }) => {
    const drained = pool.drain();
    await clock.advance(1_000);
    await drained;

    const faults = await faultsOf(sluice.reload(configOf({ tickMs: 20 })));

    assert.deepEqual(faults, [
      '/pools/p/tickMs: Pool "p" is draining: stop, then start with the new config',
    ]);
  });
});

Deno.test("reload() as a dry run says what would change and what is refused, and changes nothing", async () => {
  const store = defineStore({ name: "other", create: () => new MemoryStore() });
  await withPool({ handler: ok }, async ({ sluice, pool }) => {
    const report = await sluice.reload({ ...configOf({ tickMs: 7 }), store }, { dryRun: true });

    assert.deepEqual(report.changes.map(({ pointer, refused }) => [pointer, refused]), [
      ["/store", true],
      ["/pools/p/tickMs", false],
    ]);
    assert.equal(report.dryRun, true);
    assert.equal(pool.settings.tickMs, 50);
  });
});

Deno.test("reload() calls made at once run one after the other", async () => {
  await withPool({ handler: ok }, async ({ sluice, pool }) => {
    const reports = await Promise.all(
      [10, 20, 30].map((tickMs) => sluice.reload(configOf({ tickMs }))),
    );

    assert.deepEqual(reports.map(({ changes }) => [changes[0]?.from, changes[0]?.to]), [
      [50, 10],
      [10, 20],
      [20, 30],
    ]);
    assert.equal(pool.settings.tickMs, 30);
  });
});

Deno.test("reload() fails once the pools are stopping, and when nothing can be resolved again", async () => {
  const clock = new VirtualClock();
  const sluice = await start(configOf({}), { clock, seed: 1 });
  const settings = await resolveConfig(configOf({}), { builtins, defaults });
  await using other = await supervise(settings, { clock, seed: 1 });

  const under = sluice.reload(configOf({ tickMs: 7 }));
  const stopping = sluice.stop();
  const after = sluice.reload();

  await assert.rejects(under, /^Error: Cannot reload: the pools are stopping$/);
  await assert.rejects(after, /^Error: Cannot reload: the pools are stopping$/);
  await assert.rejects(
    other.reload(),
    /^TypeError: This system cannot reload: it was not made by start\(\)$/,
  );
  await clock.advance(1_000);
  await stopping;
});

Deno.test("reload() counts jobs that were just added once, on a store that answers later", async () => {
  const clock = new VirtualClock();
  const parts = { lanes: [{ name: "high" }, { name: "low", paused: true }] };
  const store = slowStore(clock, 40);
  const sluice = await start({ ...configOf(parts), store }, { clock, seed: 1 });
  await clock.advance(1_000);

  const adding = sluice.pool("p").enqueueAll(
    [1, 2, 3].map((payload) => ({ lane: "low", payload })),
  );
  await clock.advance(40);
  await adding;
  const faults = faultsOf(sluice.reload({ ...configOf({ lanes: [{ name: "high" }] }), store }));
  await clock.advance(40); // it waits for a count of its own
  const fault = await faults;

  assert.match(fault[0] ?? "", /^\/pools\/p\/lanes\/1: Lane "low" still holds 3 jobs:/);
  const stopping = sluice.stop();
  await clock.advance(10_000);
  await stopping;
});

Deno.test("reload() gives up when a job comes to a lane that goes, while the rest is made", async () => {
  await withPool({ handler: ok }, async ({ sluice, pool, clock }) => {
    await pool.pause();
    const handler = defineHandler({
      name: "slow-to-make",
      create: () => {
        pool.post({ lane: "low", payload: 1 });
        return { run: ok };
      },
    });
    const added = { handler, size: { min: 1, max: 1 }, lanes: [{ name: "only" }] };

    const faults = await faultsOf(
      sluice.reload(configOf({ lanes: [{ name: "high" }] }, { added })),
    );

    assert.match(faults[0] ?? "", /^\/pools\/p\/lanes\/1: Lane "low" still holds 1 job:/);
    assert.deepEqual(sluice.pools.map(({ name }) => name), ["p"]);
    await pool.resume();
    await clock.advance(100);
    assert.equal((await pool.list({ state: "done", limit: 10 })).jobs.length, 1);
  });
});

Deno.test("reload() changes nothing when the store fails to make ready for other lanes", async () => {
  const clock = new VirtualClock();
  class Failing extends MemoryStore {
    override open(options: QueueOptions): ReturnType<MemoryStore["open"]> {
      const queue = super.open(options);
      queue.reopen = () => {
        throw new Error("disk full");
      };
      return queue;
    }
  }
  const store = defineStore({ name: "failing", create: () => new Failing() });
  await using sluice = await start({ ...configOf({}), store }, { clock, seed: 1 });

  const reloading = sluice.reload({
    ...configOf({ tickMs: 7, lanes: [{ name: "low" }, { name: "high" }] }),
    store,
  });

  await assert.rejects(
    reloading,
    /^StoreError: The store failed: disk full; the config was not loaded$/,
  );
  assert.equal(sluice.pool("p").settings.tickMs, 50);
});
