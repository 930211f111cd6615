import assert from "node:assert/strict";
import { defineController } from "../../src/contract/plugin.ts";
import type { PoolSnapshot } from "../../src/runtime/handles.ts";
import type { WindowStats } from "../../src/contract/view.ts";
import { sleeper, withPool } from "../_virtual.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";

Deno.test("A pool that rested reckons a burst at once, as one that ticked on would", async () => {
  const clock = new VirtualClock();
  const handler = sleeper(() => clock, 5_000);
  await withPool({ handler, size: { min: 1, max: 1 } }, async ({ pool, sluice }) => {
    await clock.advance(300_000);
    for (let index = 0; index < 100; index++) sluice.post("p", { lane: "high", payload: null });
    await clock.advance(60);

    const [high, low] = pool.snapshot().lanes;

    assert.ok(Math.abs(high!.arrivalsPerSec - 97.5) < 1, `${high!.arrivalsPerSec}`); // not 100 in 300 s
    assert.equal(low!.arrivalsPerSec, 0);
  }, { clock });
});

/** Half a minute of 50 jobs a second, then none, and what the pool looks like so long after. */
async function afterTraffic(ticks: boolean, looksAtMs: readonly number[]): Promise<PoolSnapshot[]> {
  const clock = new VirtualClock();
  const looks: PoolSnapshot[] = [];
  const signals = ticks ? { always: { use: () => 0 } } : {};
  await withPool({ handler: sleeper(() => clock), signals }, async ({ pool }) => {
    for (let atMs = 0; atMs < 30_000; atMs += 20) {
      pool.post({ lane: "high", payload: 10 });
      await clock.advance(20);
    }
    let atMs = 0;
    for (const lookAtMs of looksAtMs) {
      await clock.advance(lookAtMs - atMs);
      atMs = lookAtMs;
      looks.push(pool.snapshot());
    }
  }, { clock });
  return looks;
}

function figuresOf({ window, lanes }: PoolSnapshot): Record<string, number> {
  const [high] = lanes;
  return {
    smoothed: high?.arrivalsPerSec ?? NaN,
    in: window.arrivalsPerSec,
    done: high?.window.completionsPerSec ?? NaN,
    waits: high?.window.waitMs?.count ?? 0,
    runs: window.serviceMs?.count ?? 0,
    windowMs: window.windowMs,
  };
}

Deno.test("A pool at rest tells the rates that one that ticks on would: they fade, and are gone with the window", async () => {
  const at = [100, 1_000, 3_000, 9_000, 10_100, 60_000, 600_000];

  const resting = (await afterTraffic(false, at)).map(figuresOf);
  const ticking = (await afterTraffic(true, at)).map(figuresOf);
  const unseen = (await afterTraffic(false, at.slice(-1))).map(figuresOf);

  resting.forEach((figures, look) => {
    for (const [name, value] of Object.entries(figures)) {
      const wanted = ticking[look]?.[name] ?? NaN;
      assert.ok(
        Math.abs(value - wanted) <= 1 + wanted * 0.06,
        `${name} after ${at[look]} ms is ${value}, not ${wanted}`,
      );
    }
  });
  const none = { smoothed: 0, in: 0, done: 0, waits: 0, runs: 0 };
  for (const { windowMs, ...rates } of [...resting.slice(-3), ...unseen]) {
    assert.deepEqual(rates, none);
    assert.ok(windowMs! >= 9_500 && windowMs! <= 10_500, `${windowMs}`);
  }
});

Deno.test("A strategy that is asked when a rest ends sees an empty window, not that of before the rest", async () => {
  const clock = new VirtualClock();
  const seen: WindowStats[] = [];
  const controller = defineController({
    name: "watching",
    create: () => ({ window, size }) => {
      seen.push({ ...window });
      return { workers: size.min, reason: "" };
    },
  });
  const parts = { handler: sleeper(() => clock), controller, size: { min: 1, max: 2 } };
  await withPool(parts, async ({ pool }) => {
    for (let count = 0; count < 100; count++) {
      pool.post({ lane: "high", payload: 10 });
      await clock.advance(20);
    }
    await clock.advance(300_000);
    seen.length = 0;
    for (let count = 0; count < 2; count++) pool.post({ lane: "high", payload: 10 });
    await clock.advance(1);

    const [first] = seen;

    assert.equal(seen.length, 1);
    assert.ok((first?.windowMs ?? 0) <= 10_500, `${first?.windowMs}`);
    assert.equal(first?.completionsPerSec, 0);
    assert.equal(first?.serviceMs, undefined);
  }, { clock });
});

Deno.test("A paused pool goes on to tell how many jobs arrive, and knows their rate when it resumes", async () => {
  const clock = new VirtualClock();
  await withPool({ handler: sleeper(() => clock) }, async ({ pool }) => {
    await pool.pause();
    const rates: number[] = [];
    const add = async (forMs: number): Promise<void> => {
      for (let atMs = 0; atMs < forMs; atMs += 20) {
        pool.post({ lane: "high", payload: 0 });
        await clock.advance(20);
      }
      const [high] = pool.snapshot().lanes;
      rates.push(high!.arrivalsPerSec, pool.snapshot().window.arrivalsPerSec);
    };

    await add(30_000);
    await pool.resume();
    await add(200);

    for (const rate of rates) assert.ok(Math.abs(rate - 50) < 3, String(rates));
  }, { clock });
});
