/**
 * What a pool keeps of its recent past, under a load that a look once a second does not see.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { PoolHandle } from "../../src/runtime/handles.ts";
import type { Sample } from "../../src/planning/history.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { whyOf } from "../../src/explain/reason.ts";
import { type PoolParts, sleeper, withPool } from "../_virtual.ts";

/** 50 jobs of 20 ms at each full second: 50/s, 1 worker busy on average, and the last of a burst waits. */
async function bursts(
  forMs: number,
  look: (pool: PoolHandle, clock: VirtualClock) => void,
  parts: PoolParts = {},
): Promise<void> {
  const clock = new VirtualClock();
  await withPool({
    handler: sleeper(() => clock),
    lanes: [{ name: "jobs", targetWaitMs: 50 }],
    size: { min: 1, max: 4 },
    admission: "admit-all",
    ...parts,
  }, async ({ pool }) => {
    for (let atMs = 0; atMs < forMs; atMs += 1_000) {
      for (let job = 0; job < 50; job++) pool.post({ lane: "jobs", payload: 20 });
      await clock.advance(1_000);
    }
    look(pool, clock);
  }, { clock });
}

/** Per second between each two samples. */
function rates(samples: readonly Sample[], count: (sample: Sample) => number): readonly number[] {
  return samples.slice(1).map((sample, index) => {
    const before = samples[index]!;
    return (count(sample) - count(before)) * 1_000 / (sample.atMs - before.atMs);
  });
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

Deno.test("A burst at each full second is in the samples: what came, how long it waited, how busy workers were", async () => {
  await bursts(100_000, (pool) => {
    const { samples } = pool.history();
    const { totals } = pool.snapshot();
    const waits = samples.slice(1).map(({ lanes }) => lanes[0]!.longestWaitMs);

    assert.ok(samples.length > 90, `${samples.length}`);
    assert.ok(Math.abs(mean(rates(samples, ({ arrivals }) => arrivals)) - 50) <= 2.5);
    assert.ok(Math.abs(mean(rates(samples, ({ busyMs }) => busyMs / 1_000)) - 1) <= 0.05);
    assert.ok(Math.min(...waits) >= 100, `${waits}`);
    assert.ok(samples.slice(1).every(({ lanes }) => lanes[0]!.mostReady >= 40));
    assert.ok(samples.slice(1).every(({ mostLive }) => mostLive >= 2));
    assert.equal(samples.at(-1)?.completions, totals.completions);
  });
});

Deno.test("An hour of bursts keeps sum and extremes of each minute", async () => {
  await bursts(600_000, (pool) => {
    const folded = pool.history().samples.slice(0, -120);

    assert.ok(folded.length >= 8, `${folded.length}`);
    for (const perSec of rates(folded, ({ arrivals }) => arrivals)) {
      assert.ok(Math.abs(perSec - 50) <= 2.5, `${perSec}`);
    }
    assert.ok(folded.slice(1).every(({ lanes }) => lanes[0]!.longestWaitMs >= 240));
    assert.ok(folded.slice(1).every((one) => one.leastLive < one.mostLive || one.live === 4));
  });
});

Deno.test("Lanes' counts of a sample add up to those of the pool, and late starts are counted", async () => {
  await bursts(30_000, (pool) => {
    const last = pool.history().samples.at(-1)!;
    const [lane] = last.lanes;

    assert.deepEqual(
      [lane?.arrivals, lane?.completions, lane?.failures, lane?.shed],
      [last.arrivals, last.completions, last.failures, last.shed],
    );
    assert.ok(lane!.late > lane!.starts / 2 && lane!.late < lane!.starts, `${lane!.late}`);
    assert.ok(lane!.waitedMs / lane!.starts > 50);
  });
});

Deno.test("What comes after a long rest is drawn as it came, not over the rest", async () => {
  const clock = new VirtualClock();
  await withPool({ handler: sleeper(() => clock) }, async ({ pool }) => {
    await clock.advance(60_000);
    for (let burst = 0; burst < 3; burst++) {
      for (let job = 0; job < 50; job++) pool.post({ lane: "high", payload: 20 });
      await clock.advance(60_000);
    }
    const { samples } = pool.history();
    const perSec = rates(samples, ({ arrivals }) => arrivals);

    assert.equal(perSec.filter((one) => one > 40).length, 3, `${perSec}`);
    assert.equal(perSec.filter((one) => one > 0 && one < 40).length, 0, `${perSec}`);
    assert.equal(samples.at(-1)?.arrivals, 150);
  }, { clock });
});

Deno.test("A pool that drains lives on: rates, samples and what runs, until it has ended", async () => {
  const clock = new VirtualClock();
  const parts = { size: { min: 3, max: 3 }, lanePolicy: "strict-priority", admission: "admit-all" };
  await withPool({ handler: sleeper(() => clock), ...parts }, async ({ pool }) => {
    for (let atMs = 0; atMs < 20_000; atMs += 100) {
      pool.post({ lane: "high", payload: 200 });
      await clock.advance(100);
    }
    for (const ms of [4_500, 90_000, 90_000, 1_000, 1_000]) pool.post({ lane: "low", payload: ms });
    await clock.advance(1_000);
    const startedAtMs = clock.nowMs();
    const drained = pool.drain(10_000);
    const shown = [];
    for (let second = 1; second <= 9; second++) {
      await clock.advance(1_000);
      const { window, lanes, drain, nowMs } = pool.snapshot();
      shown.push({
        running: lanes[1]!.running,
        done: window.completionsPerSec,
        leftMs: drain!.untilMs - nowMs,
        text: whyOf(pool.snapshot()),
        found: pool.diagnosis().length,
      });
    }

    assert.deepEqual(shown.map(({ running }) => running), [3, 3, 3, 2, 2, 2, 2, 2, 2]);
    assert.ok(shown[0]!.done > 5 && shown[8]!.done < shown[0]!.done / 2, JSON.stringify(shown));
    assert.deepEqual(shown.map(({ leftMs }) => leftMs / 1_000), [9, 8, 7, 6, 5, 4, 3, 2, 1]);
    assert.equal(
      shown[4]!.text,
      "Draining for 5 s: 2 jobs run: they have 5 s to end, or go back without a counted attempt; " +
        "2 wait and will be lost with this process: its store is in memory",
    );
    assert.ok(shown.every(({ found }) => found === 0)); // jobs wait since it drains
    const during = pool.history().samples.filter(({ atMs }) => atMs > startedAtMs);
    assert.ok(during.length >= 8, `${during.length}`);
    const running = during.map(({ lanes }) => lanes[1]!.running).slice(0, 8);
    assert.deepEqual(running, [3, 3, 3, 2, 2, 2, 2, 2]);
    assert.ok(during.every(({ target }) => target === 0));
    await clock.advance(2_000);
    const { handedBack, waiting } = await drained;
    assert.deepEqual([handedBack.length, waiting], [2, 4]);
    assert.equal(pool.history().samples.at(-1)?.live, 0);
  }, { clock });
});
