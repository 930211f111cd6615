import assert from "node:assert/strict";
import type { PoolInput } from "../../src/config/input.ts";
import type { NamedSlot } from "../../src/config/slot_input.ts";
import { defineCap, defineController, defineHandler } from "../../src/contract/plugin.ts";
import { NEXT_TICK } from "../../src/config/diff_parts.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { configOf, ok, sleeper, withPool } from "../_virtual.ts";

/** A slot as JSON writes it. */
function named(use: string, options: unknown): NamedSlot {
  return { use, with: options };
}

/** A controller that tells how often one was made, and how often the latest to be asked was. */
function counting() {
  const counts = { made: 0, asked: 0 };
  const plugin = defineController({
    name: "counting",
    create: () => {
      counts.made++;
      let asked = 0;
      return () => {
        counts.asked = ++asked;
        return { workers: 2, reason: "two" };
      };
    },
  });
  return { counts, plugin };
}

Deno.test("reload() swaps a strategy between two ticks and touches no worker, while jobs run", async () => {
  const clock = new VirtualClock();
  const handler = sleeper(() => clock, 500);
  // With `fixed` a pool has no adaptive-cap: it would come with the other controller.
  const parts = { handler, adaptive: false, controller: named("fixed", { workers: 3 }) };
  await withPool(parts, async ({ sluice, pool, events }) => {
    await clock.advance(100);
    const jobs = [];
    for (let i = 0; i < 9; i++) jobs.push(await pool.enqueue({ lane: "high", payload: 500 }));
    await clock.advance(10);
    const before = pool.snapshot();

    const report = await sluice.reload(
      configOf({ ...parts, controller: named("depth-scaler", { growAbove: 1 }) }),
    );

    const after = pool.snapshot();
    assert.deepEqual(report.changes.map(({ pointer, change }) => [pointer, change]), [
      ["/pools/p/controller", "changed"],
    ]);
    assert.equal(report.changes[0]?.effect, "Replaced between two ticks; no worker is touched");
    assert.deepEqual(after.workers, before.workers);
    assert.deepEqual(after.lanes.map((lane) => lane.running), [3, 0]);
    await clock.advance(5_000);
    for (const job of jobs) assert.deepEqual(await job.done, { state: "done", result: "slept" });
    const decision = pool.explain(100).find(({ proposals }) =>
      proposals.some(({ by }) => by === "depth-scaler")
    );
    assert.notEqual(decision, undefined);
    assert.ok(events.some(({ kind }) => kind === "reloaded"));
  }, { clock });
});

Deno.test("reload() keeps the instance and the memory of a slot that is configured as before", async () => {
  const { counts, plugin } = counting();
  let caps = 0;
  const cap = defineCap({
    name: "remembering",
    create: () => {
      caps++;
      return () => ({ workers: 4, reason: "four" });
    },
  });
  const parts = { handler: ok, controller: plugin, caps: [cap], signals: { s: () => 1 } };
  await withPool(parts, async ({ sluice, pool, clock }) => {
    await clock.advance(1_000);
    const [made, asked, capsMade] = [counts.made, counts.asked, caps];

    const report = await sluice.reload(configOf({ ...parts, tickMs: 10, retirement: "idle-only" }));
    await clock.advance(100);

    assert.deepEqual(report.changes.map(({ pointer, from, to }) => [pointer, from, to]), [
      ["/pools/p/retirement", "cooperative", "idle-only"],
      ["/pools/p/tickMs", 50, 10],
    ]);
    // The check of a config makes one instance of each strategy, which is thrown away.
    assert.deepEqual([counts.made - made, caps - capsMade], [1, 1]);
    assert.equal(counts.asked, asked + 11); // at once, then every 10 ms
    assert.deepEqual(pool.snapshot().signals, { s: { value: 1, stale: false } });
  });
});

Deno.test("reload() makes controller, lane policy and admission anew when lanes change, and no cap", async () => {
  const { counts, plugin } = counting();
  const parts = { handler: ok, controller: plugin, caps: [named("fixed-cap", { workers: 3 })] };
  await withPool(parts, async ({ sluice, pool, clock }) => {
    await clock.advance(100);
    const { made } = counts;
    const lanes = [{ name: "top" }, { name: "low" }, { name: "high" }];

    const { changes } = await sluice.reload(configOf({ ...parts, lanes }));
    const job = await pool.enqueue({ lane: "top", payload: 1 });
    await clock.advance(100);

    assert.equal(counts.made - made, 2); // one for the check
    assert.deepEqual(
      changes.map(({ pointer, change, lane }) => [pointer, change, lane]),
      [
        ["/pools/p/lanes/0", "added", "top"],
        ["/pools/p/lanes/1", "moved", "low"],
        ["/pools/p/lanes/2", "moved", "high"],
        ["/pools/p/controller", "renewed", undefined],
        ["/pools/p/lanePolicy", "renewed", undefined],
        ["/pools/p/admission", "renewed", undefined],
      ],
    );
    assert.deepEqual(pool.snapshot().lanes.map(({ name, index }) => [name, index]), [
      ["top", 0],
      ["low", 1],
      ["high", 2],
    ]);
    assert.equal((await job.done).state, "done");
  });
});

Deno.test("reload() reorders lanes under load: every job runs, by its new priority", async () => {
  const clock = new VirtualClock();
  const order: string[] = [];
  const handler = async (job: { lane: string; payload: unknown }): Promise<void> => {
    order.push(job.lane);
    await new Promise<void>((resolve) => clock.at(clock.nowMs() + 10, resolve));
  };
  const parts = { handler, size: { min: 1, max: 1 }, lanePolicy: "strict-priority" };
  await withPool(parts, async ({ sluice, pool }) => {
    await clock.advance(50);
    const jobs = [];
    for (const lane of ["low", "high", "low", "high", "low", "high"]) {
      jobs.push(await pool.enqueue({ lane, payload: 0 }));
    }
    await clock.advance(15); // the first runs, and the first of `high`

    await sluice.reload(configOf({ ...parts, lanes: [{ name: "low" }, { name: "high" }] }));
    await clock.advance(200);

    assert.deepEqual(order, ["low", "high", "low", "low", "high", "high"]);
    for (const job of jobs) assert.equal((await job.done).state, "done");
    assert.deepEqual(pool.snapshot().lanes.map(({ ready, running }) => [ready, running]), [
      [0, 0],
      [0, 0],
    ]);
  }, { clock });
});

Deno.test("reload() takes changed numbers over", async () => {
  const clock = new VirtualClock();
  const parts = { handler: sleeper(() => clock, 100), controller: named("fixed", { workers: 8 }) };
  await withPool(parts, async ({ sluice, pool }) => {
    await clock.advance(100);
    assert.equal(pool.snapshot().live, 4);
    const under = await pool.enqueue({ lane: "low", payload: 100 });
    await clock.advance(10);

    await sluice.reload(configOf({
      ...parts,
      size: { min: 2, max: 6 },
      tickMs: 200,
      timeoutMs: 50,
      drainMs: 7,
      lanes: [
        { name: "high", targetWaitMs: 9, maxRunning: 1, weight: 3, deadlineMs: 80, maxDepth: 2 },
        { name: "low", attempts: 1, ttlMs: 40, backoff: { baseMs: 1, maxMs: 2, jitter: 0 } },
      ],
    }));
    await clock.advance(0);
    const { live, size, lanes } = pool.snapshot();
    const low = await pool.enqueue({ lane: "low", payload: 100 });
    await clock.advance(2_000);

    assert.deepEqual([live, size], [6, { min: 2, max: 6 }]);
    assert.equal((await under.done).state, "done"); // it started under the old time limit
    const [high] = lanes;
    assert.deepEqual(
      [high?.targetWaitMs, high?.maxRunning, high?.weight, high?.deadlineMs],
      [9, 1, 3, 80],
    );
    assert.equal(pool.settings.drainMs, 7);
    assert.deepEqual(await low.done, {
      state: "dead",
      reason: "attempts",
      error: "The job ran longer than timeoutMs (50)",
    });
    await pool.pause("high");
    await pool.enqueue({ lane: "high", payload: 1 });
    await pool.enqueue({ lane: "high", payload: 1 });
    await assert.rejects(pool.enqueue({ lane: "high", payload: 1 }), /is at its maxDepth of 2/);
    await pool.resume("high");
    await clock.advance(100);
  }, { clock });
});

Deno.test("reload() with a smaller size lets workers go after their jobs; an override stays within it", async () => {
  const clock = new VirtualClock();
  const parts = { handler: sleeper(() => clock, 300), controller: named("fixed", { workers: 4 }) };
  await withPool(parts, async ({ sluice, pool, events }) => {
    await clock.advance(60);
    const jobs = [];
    for (let i = 0; i < 4; i++) jobs.push(await pool.enqueue({ lane: "high", payload: 300 }));
    pool.override({ min: 4, max: 4 }, 60_000);
    await clock.advance(60);
    assert.equal(pool.snapshot().busy, 4);

    await sluice.reload(configOf({ ...parts, size: { min: 1, max: 2 } }));
    await clock.advance(60);
    const during = pool.snapshot();
    await clock.advance(1_000);

    assert.deepEqual(during.size, { min: 2, max: 2 });
    assert.equal(during.workers.filter(({ state }) => state === "retiring").length, 2);
    assert.equal(pool.snapshot().workers.length, 2);
    for (const job of jobs) assert.equal((await job.done).state, "done");
    assert.ok(!events.some(({ kind }) => kind === "job-handed-back"));
  }, { clock });
});

Deno.test("reload() with another handler: new workers run it, busy ones end with the old and are replaced", async () => {
  const clock = new VirtualClock();
  const log: string[] = [];
  const version = (name: string) =>
    defineHandler({
      name,
      start: (id) => {
        log.push(`${name} starts ${id}`);
        return name;
      },
      run: (_job, context) => {
        const by = context.resource;
        return new Promise((resolve) =>
          clock.at(clock.nowMs() + 100, () => resolve(`${name} with ${by}`))
        );
      },
      stop: (resource) => void log.push(`${resource} stops`),
    });
  const parts = { handler: version("old"), controller: named("fixed", { workers: 2 }) };
  await withPool(parts, async ({ sluice, pool }) => {
    await clock.advance(100);
    const running = await pool.enqueue({ lane: "high", payload: 0 });
    await clock.advance(10);
    log.length = 0;

    await sluice.reload(configOf({ ...parts, handler: version("new") }));
    await clock.settle();
    const during = [...log];
    const next = await pool.enqueue({ lane: "high", payload: 0 });
    await clock.advance(300);

    assert.deepEqual(during, ["old stops", "new starts w3"]);
    assert.deepEqual(await running.done, { state: "done", result: "old with old" });
    assert.deepEqual(await next.done, { state: "done", result: "new with new" });
    assert.deepEqual(log.slice(2), ["old stops", "new starts w4"]);
    assert.deepEqual(pool.snapshot().workers.map(({ id, state }) => [id, state]), [
      ["w3", "idle"],
      ["w4", "idle"],
    ]);
  }, { clock });
});

Deno.test("reload() starts added pools and drains removed ones, whose waiting jobs come back with them", async () => {
  const clock = new VirtualClock();
  const handler = sleeper(() => clock, 100);
  const q: PoolInput = { handler, size: { min: 1, max: 1 }, lanes: [{ name: "only" }] };
  await withPool({ handler: ok }, async ({ sluice, events }) => {
    await sluice.reload(configOf({}, { q }));
    await clock.advance(60);
    const removed = sluice.pool("q");
    const first = await sluice.enqueue("q", { lane: "only", payload: 100 });
    const second = await sluice.enqueue("q", { lane: "only", payload: 100 });
    await clock.advance(10);

    const report = await sluice.reload(configOf({}));
    const names = sluice.pools.map(({ name }) => name);
    await clock.advance(200);

    assert.deepEqual(names, ["p"]);
    assert.throws(() => sluice.pool("q"), /No pool is named "q"/);
    assert.deepEqual(report.changes.map(({ pointer, change }) => [pointer, change]), [
      ["/pools/q", "removed"],
    ]);
    assert.equal((await first.done).state, "done");
    assert.equal((await second.done).state, "unfinished");
    await assert.rejects(removed.enqueue({ lane: "only", payload: 1 }), /pool "q" is stopping/);
    assert.ok(events.some(({ kind, pool }) => kind === "stopped" && pool === "q"));

    await sluice.reload(configOf({}, { q }));
    await clock.advance(300);
    assert.equal((await sluice.pool("q").find(second.id))?.state, "done");
  }, { clock });
});

Deno.test("reload() pauses and resumes lanes as their new config says, and keeps other pauses", async () => {
  await withPool({ handler: ok }, async ({ sluice, pool, clock }) => {
    await pool.pause("high");

    await sluice.reload(configOf({
      lanes: [{ name: "high" }, { name: "low", paused: true }, { name: "new", paused: true }],
    }));
    await clock.settle();
    const paused = pool.snapshot().lanes.map((lane) => lane.paused);
    await sluice.reload(configOf({ lanes: [{ name: "high" }, { name: "low" }, { name: "new" }] }));
    await clock.settle();

    assert.deepEqual(paused, [true, true, true]);
    assert.deepEqual(pool.snapshot().lanes.map((lane) => lane.paused), [true, false, false]);
  });
});

Deno.test("reload() reads added signals and no removed ones; a strategy that fails may be swapped out", async () => {
  const failing = defineController({
    name: "failing",
    create: () => () => {
      throw new Error("no idea");
    },
  });
  await withPool({ handler: ok, controller: failing }, async ({ sluice, pool, clock }) => {
    await clock.advance(100);
    const { degraded } = pool.snapshot();

    await sluice.reload(configOf({ signals: { lag: () => 7 } }));
    await clock.advance(100);

    assert.deepEqual([degraded, pool.snapshot().degraded], [true, false]);
    assert.deepEqual(pool.snapshot().signals, { lag: { value: 7, stale: false } });
  });
});

Deno.test("reload() tells the observers what has changed, pool by pool; nothing when nothing has", async () => {
  const q: PoolInput = { handler: ok, size: { min: 0, max: 1 }, lanes: [{ name: "only" }] };
  await withPool({ handler: ok }, async ({ sluice, events }) => {
    const same = await sluice.reload(configOf({}));
    await sluice.reload({ ...configOf({ tickMs: 20 }, { q }), redact: ["password"] });

    const told = events.filter((event) => event.kind === "reloaded");
    assert.deepEqual(same, { changes: [], stale: [], dryRun: false });
    assert.deepEqual(told.map(({ pool, changes }) => [pool, changes.length]), [
      ["", 1],
      ["p", 1],
      ["q", 1],
    ]);
    assert.deepEqual(told[1]?.changes, [{
      pointer: "/pools/p/tickMs",
      change: "changed",
      from: 50,
      to: 20,
      refused: false,
      effect: NEXT_TICK,
    }]);
  });
});
