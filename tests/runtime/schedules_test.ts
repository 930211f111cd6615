import assert from "node:assert/strict";
import * as v from "valibot";
import { defineHandler, start } from "../../mod.ts";
import { MemoryStore } from "../../stores/memory/mod.ts";
import { silentLogger } from "../../src/runtime/log.ts";
import type { StateEntry, Store } from "../../src/contract/store.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { type PoolParts, withPool } from "../_virtual.ts";
import { withBench } from "../cases/_bench.ts";

const START = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;

/** A pool with schedules that notes what it runs. */
function parts(ran: unknown[], schedules: PoolParts["schedules"]): PoolParts {
  return { handler: ({ payload }: { payload: unknown }) => void ran.push(payload), schedules };
}

Deno.test("a schedule adds one job at each of its times, with its payload", async () => {
  const ran: unknown[] = [];
  const schedules = [
    { lane: "high", cron: "*/5 * * * *", payload: { report: "short" } },
    { lane: "low", cron: "0 * * * *" },
  ];
  await withPool(parts(ran, schedules), async ({ clock, pool }) => {
    await clock.advance(20 * MINUTE);
    assert.deepEqual(ran, Array(4).fill({ report: "short" }));
    const [short, hourly] = pool.snapshot().schedules;
    assert.equal((await pool.find(short?.lastJob ?? ""))?.state, "done");
    assert.deepEqual([short, hourly], [
      {
        id: short?.id,
        lane: "high",
        type: "",
        cron: "*/5 * * * *",
        everyMs: undefined,
        timezone: "UTC",
        jitterMs: 0,
        overlap: true,
        catchUp: "none",
        paused: false,
        nextAtMs: START + 25 * MINUTE,
        lastAtMs: START + 20 * MINUTE,
        lastJob: short?.lastJob,
        skippedAtMs: undefined,
      },
      {
        id: hourly?.id,
        lane: "low",
        type: "",
        cron: "0 * * * *",
        everyMs: undefined,
        timezone: "UTC",
        jitterMs: 0,
        overlap: true,
        catchUp: "none",
        paused: false,
        nextAtMs: START + 60 * MINUTE,
        lastAtMs: START,
        lastJob: undefined,
        skippedAtMs: undefined,
      },
    ]);
    await clock.advance(40 * MINUTE);
    assert.deepEqual(ran.filter((payload) => payload === null), [null]);
  });
});

Deno.test("a scheduled job goes past admission and the lane's depth, and not into a pool that stops", async () => {
  const ran: unknown[] = [];
  const schedules = [{ lane: "high", cron: "* * * * *" }];
  const full = { ...parts(ran, schedules), lanes: [{ name: "high", maxDepth: 1, paused: true }] };
  await withPool(full, async ({ clock, pool, sluice }) => {
    await clock.advance(3 * MINUTE);
    assert.equal(pool.snapshot().lanes[0]!.ready, 3);
    const stopped = sluice.stop();
    await clock.advance(3 * MINUTE);
    await stopped;
    assert.equal(pool.snapshot().lanes[0]!.ready, 3);
  });
});

Deno.test("a time has one job, however many processes run and whatever their clocks say", async () => {
  await withBench(async (bench) => {
    const ran: unknown[] = [];
    const clocks = [0, 700, -40_000].map((skewMs) => new VirtualClock(START + skewMs));
    const schedules = [{ lane: "high", cron: "* * * * *", payload: 1 }];
    for (const clock of clocks) await bench.start(parts(ran, schedules), { clock });
    await bench.advance(10 * MINUTE, { stepMs: 500 });

    assert.ok(ran.length >= 9 && ran.length <= 11, `${ran.length} jobs`);
    const marks = bench.processes.map(({ pool }) => pool.snapshot().schedules[0]!.nextAtMs);
    assert.equal(new Set(marks).size <= 2, true);
  });
});

Deno.test("a time has one job though many processes boot at once at it", async () => {
  await withBench(async (bench) => {
    const ran: unknown[] = [];
    const schedules = [{ lane: "high", cron: "0 * * * *", payload: 1 }];
    await bench.start(parts(ran, schedules));
    await bench.clock.advance(60 * MINUTE - 1);
    await Promise.all(Array.from({ length: 6 }, () => bench.start(parts(ran, schedules))));
    await bench.clock.advance(1);
    await Promise.all(Array.from({ length: 6 }, () => bench.start(parts(ran, schedules))));
    await bench.advance(100);

    assert.deepEqual(ran, [1]);
  });
});

for (const [catchUp, jobs] of [["none", 0], ["last", 1], ["all", 3]] as const) {
  Deno.test(`of three times missed while no process ran, catchUp "${catchUp}" makes up for ${jobs}`, async () => {
    await withBench(async (bench) => {
      const ran: unknown[] = [];
      const schedules = [{ lane: "high", cron: "0 * * * *", payload: 1, catchUp }];
      const first = await bench.start(parts(ran, schedules));
      const stopped = first.sluice.stop();
      await bench.clock.advance(3.5 * 60 * MINUTE);
      await stopped;
      await bench.start(parts(ran, schedules));
      await bench.clock.advance(100);
      assert.equal(ran.length, jobs);
      await bench.clock.advance(30 * MINUTE);
      assert.equal(ran.length, jobs + 1);
    });
  });
}

Deno.test("a time missed by five minutes at most is made up for in any case", async () => {
  await withBench(async (bench) => {
    const ran: unknown[] = [];
    const schedules = [{ lane: "high", cron: "0 * * * *", payload: 1 }];
    const first = await bench.start(parts(ran, schedules));
    const stopped = first.sluice.stop();
    await bench.clock.advance(65 * MINUTE);
    await stopped;
    await bench.start(parts(ran, schedules));
    await bench.clock.advance(100);

    assert.deepEqual(ran, [1]);
  });
});

Deno.test('catchUp "all" makes up for a hundred times at most, the latest', async () => {
  await withBench(async (bench) => {
    const ran: unknown[] = [];
    const schedules = [{ lane: "high", cron: "* * * * *", catchUp: "all" as const }];
    const first = await bench.start(parts(ran, schedules));
    const stopped = first.sluice.stop();
    await bench.clock.advance(120 * MINUTE);
    await stopped;
    const next = await bench.start(parts(ran, schedules));
    await bench.clock.advance(100);

    assert.equal(ran.length, 100);
    assert.equal(next.pool.snapshot().schedules[0]!.lastAtMs, START + 120 * MINUTE);
  });
});

/** A store in memory whose shared state cannot be read for a while. */
class Failing extends MemoryStore {
  fails = false;

  override get(key: string): StateEntry | undefined {
    if (this.fails) throw new Error("The state cannot be read");
    return super.get(key);
  }
}

Deno.test("a scheduled job comes once the store is back", async () => {
  const store = new Failing();
  await withBench(async (bench) => {
    const ran: unknown[] = [];
    const schedules = [{ lane: "high", cron: "0 * * * *", payload: 1 }];
    await bench.start(parts(ran, schedules));
    store.fails = true;
    await bench.clock.advance(62 * MINUTE);
    assert.deepEqual(ran, []);
    store.fails = false;
    await bench.clock.advance(MINUTE);
    assert.deepEqual(ran, [1]);
  }, store);
});

Deno.test("a reload adds, changes and removes schedules", async () => {
  const ran: unknown[] = [];
  const config = (schedules: PoolParts["schedules"]) => ({
    pools: {
      p: {
        size: { min: 1, max: 4 },
        lanes: [{ name: "high" }, { name: "low" }],
        ...parts(ran, schedules),
      },
    },
  });
  const every = (payload: number, cron = "0 * * * *") => ({ lane: "high", cron, payload });
  await withPool(parts(ran, [every(1), every(2)]), async ({ clock, sluice, pool }) => {
    await clock.advance(60 * MINUTE);
    assert.deepEqual(ran.splice(0).toSorted(), [1, 2]);
    const reloading = sluice.reload(
      { ...config([every(1), every(3, "30 * * * *")]) } as Parameters<typeof sluice.reload>[0],
    );
    await clock.advance(10);
    const { changes } = await reloading;
    assert.deepEqual(
      changes.filter(({ pointer }) => pointer.includes("schedules")).map(({ pointer, change }) => [
        pointer,
        change,
      ]),
      [["/pools/p/schedules/1", "changed"]],
    );
    assert.deepEqual(pool.snapshot().schedules.map(({ nextAtMs }) => nextAtMs), [
      START + 120 * MINUTE,
      START + 90 * MINUTE,
    ]);
    await clock.advance(60 * MINUTE);
    assert.deepEqual(ran, [3, 1]);
  });
});

Deno.test("a schedule says in its own time zone when it comes", async () => {
  const clock = new VirtualClock(Date.UTC(2026, 2, 28, 12));
  const ran: unknown[] = [];
  const schedules = [{ lane: "high", cron: "30 2 * * *", timezone: "Europe/Berlin", payload: 1 }];
  await withPool(parts(ran, schedules), async ({ pool }) => {
    const next = (): string => new Date(pool.snapshot().schedules[0]!.nextAtMs!).toISOString();
    await clock.advance(1);
    assert.equal(next(), "2026-03-29T01:00:00.000Z"); // 3:00 there: 2:30 does not exist
    await clock.advance(24 * 60 * MINUTE);
    assert.deepEqual([ran, next()], [[1], "2026-03-30T00:30:00.000Z"]);
  }, { clock });
});

Deno.test("a schedule whose payload does not fit its handler starts nothing", async () => {
  const handler = defineHandler({ payload: v.object({ to: v.string() }), run: () => {} });
  const schedules = [
    { lane: "high", cron: "0 * * * *", payload: { to: "all" } },
    { lane: "high", cron: "30 * * * *" },
  ];
  const config = {
    pools: {
      p: {
        handler: { use: handler },
        size: { min: 0, max: 1 },
        lanes: [{ name: "high" }],
        schedules,
      },
    },
  };

  await assert.rejects(start(config, { clock: new VirtualClock() }), {
    name: "TypeError",
    message: /^\/pools\/p\/schedules\/1\/payload: The payload does not fit its handler: /,
  });
});

const DAY = 24 * 60 * MINUTE;

/** Moves what schedules have done in a store to a time to come. */
function markAhead(store: MemoryStore, atMs: number): Store {
  return {
    open: (options) => store.open(options),
    get: (key) => {
      const entry = store.get(key);
      const value = { atMs };
      if (entry === undefined && key.startsWith("schedule/")) store.commit({}, { [key]: value });
      return store.get(key);
    },
    commit: (checks, sets) => store.commit(checks, sets),
    close: () => store.close(),
  };
}

for (const aheadMs of [5 * MINUTE, DAY, 3650 * DAY]) {
  Deno.test(`a schedule that a dead process has marked ${aheadMs / MINUTE} min ahead goes on within two minutes`, async () => {
    const ran: unknown[] = [];
    const lines: unknown[] = [];
    const log = { ...silentLogger(), warn: (message: string) => void lines.push(message) };
    const schedules = [{ lane: "high", cron: "* * * * *", payload: 1, catchUp: "all" as const }];
    await withBench(async (bench) => {
      await bench.start(parts(ran, schedules), { log });
      await bench.advance(1.5 * MINUTE);
      const early = ran.length;
      await bench.advance(3 * MINUTE);

      assert.deepEqual([early, ran.length], [0, 3]);
      assert.deepEqual(lines, [
        "A schedule was marked done up to a future time, by a clock that was ahead: it restarts now",
      ]);
    }, markAhead(new MemoryStore(), START + aheadMs));
  });
}

Deno.test("a schedule whose mark another process moves, since its clock is ahead, is left to that one", async () => {
  await withBench(async (bench) => {
    const ran: unknown[] = [];
    const clocks = [0, 5 * MINUTE].map((skewMs) => new VirtualClock(START + skewMs));
    const schedules = [{ lane: "high", cron: "*/1 * * * *", payload: 1 }];
    for (const clock of clocks) await bench.start(parts(ran, schedules), { clock });
    await bench.advance(10 * MINUTE, { stepMs: 500 });

    assert.ok(ran.length >= 9 && ran.length <= 11, `${ran.length} jobs`);
  });
});

Deno.test("a wall clock that is set back while the process runs costs a schedule no more than a minute", async () => {
  const ran: unknown[] = [];
  const schedules = [{ lane: "high", cron: "* * * * *", payload: 1, catchUp: "all" as const }];
  await withPool(parts(ran, schedules), async ({ clock }) => {
    clock.stepWall(DAY);
    await clock.advance(5.5 * MINUTE);
    const before = ran.length;
    clock.stepWall(-DAY);
    await clock.advance(5 * MINUTE);

    assert.equal(before, 105); // a hundred that were missed, at most
    assert.ok(ran.length - before >= 4 && ran.length - before <= 5, `${ran.length - before}`);
  });
});
