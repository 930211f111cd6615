import assert from "node:assert/strict";
import { start } from "../../mod.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { configOf, ok, type PoolParts, startPool, stopPool, withPool } from "../_virtual.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Two to four workers by day, six to eight at noon, none at night. Tests begin at midnight, UTC. */
const SIZES: PoolParts = {
  handler: ok,
  size: { min: 1, max: 8 },
  sizes: [
    { cron: "0 8 * * *", min: 2, max: 4 },
    { cron: "0 12 * * *", min: 6, max: 8 },
    { cron: "0 13 * * *", min: 2, max: 4 },
    { cron: "0 18 * * *", min: 0, max: 0 },
  ],
};

Deno.test("the bounds of size whose time came last hold, from a start at any time on", async () => {
  await withPool(SIZES, async ({ clock, pool }) => {
    const seen: string[] = [];
    for (let hour = 0; hour < 24; hour++) {
      await clock.advance(MINUTE);
      const { size: { min, max }, live } = pool.snapshot();
      assert.ok(live >= min && live <= max, `${live} at ${hour}`);
      seen.push(`${min}-${max}`);
      await clock.advance(HOUR - MINUTE);
    }

    assert.deepEqual(seen, [
      ...Array(8).fill("0-0"), // since yesterday evening
      ...Array(4).fill("2-4"),
      "6-8",
      ...Array(5).fill("2-4"),
      ...Array(6).fill("0-0"),
    ]);
  });
});

Deno.test("before any of its times size itself holds, and jobs wait while no worker is allowed", async () => {
  const parts = {
    ...SIZES,
    sizes: [{ cron: "0 18 1 1 *", min: 0, max: 0 }, {
      cron: "0 20 1 1 *",
      min: 1,
      max: 2,
    }],
  };
  await withPool(parts, async ({ clock, pool }) => {
    // A year ago was the last time of both: these hold until this year's.
    assert.deepEqual(pool.snapshot().size, { min: 1, max: 2 });
    await clock.advance(20 * HOUR - 5000);
    const { id } = await pool.enqueue({ lane: "high", payload: 1 });
    await clock.advance(4000);
    assert.equal((await pool.find(id))?.state, "ready");
    await clock.advance(2000);
    assert.equal((await pool.find(id))?.state, "done");
  });
  await withPool({ ...SIZES, sizes: [{ cron: "0 0 29 2 *", min: 0, max: 0 }] }, ({ pool }) => {
    assert.deepEqual(pool.snapshot().size, { min: 1, max: 8 }); // more than 400 days ago
    return Promise.resolve();
  });
});

Deno.test("an override holds over bounds by time, and ends at theirs", async () => {
  await withPool(SIZES, async ({ clock, pool }) => {
    await clock.advance(9 * HOUR);
    pool.override({ min: 5, max: 7 }, 10 * HOUR);
    await clock.advance(4 * HOUR);
    assert.deepEqual(pool.snapshot().size, { min: 5, max: 7 });
    pool.clearOverride();
    assert.deepEqual(pool.snapshot().size, { min: 2, max: 4 });
  });
});

Deno.test("a reload changes bounds by time at once, and takes them away", async () => {
  const virtual = await startPool(SIZES);
  const { clock, pool, sluice } = virtual;
  await clock.advance(9 * HOUR);
  const sizes = [{ cron: "0 6 * * *", min: 3, max: 5 }];
  const { changes } = await sluice.reload(configOf({ ...SIZES, sizes }));
  assert.deepEqual(changes.map(({ pointer }) => pointer), ["/pools/p/sizes"]);
  await clock.advance(100);
  assert.deepEqual([pool.snapshot().size, pool.snapshot().live], [{ min: 3, max: 5 }, 3]);
  await sluice.reload(configOf({ ...SIZES, sizes: [] }));
  assert.deepEqual(pool.snapshot().size, { min: 1, max: 8 });
  await clock.advance(24 * HOUR);
  assert.deepEqual(pool.snapshot().size, { min: 1, max: 8 });
  await stopPool(virtual);
});

Deno.test("times of bounds go by their time zone", async () => {
  const clock = new VirtualClock(Date.UTC(2026, 6, 1, 5));
  const sizes = [
    { cron: "0 8 * * *", timezone: "Europe/Berlin", min: 2, max: 3 },
    { cron: "0 20 * * *", timezone: "Europe/Berlin", min: 0, max: 1 },
  ];
  const sluice = await start(configOf({ ...SIZES, sizes }), { clock });
  assert.deepEqual(sluice.pool("p").snapshot().size, { min: 0, max: 1 });
  await clock.advance(HOUR + 100);
  assert.deepEqual(sluice.pool("p").snapshot().size, { min: 2, max: 3 }); // 6:00 UTC is 8:00 in summer
  await stopPool({ clock, sluice });
});
