import assert from "node:assert/strict";
import { assertRate, mostWithin } from "../_rate.ts";
import { type PoolParts, sleeper, withPool } from "../_virtual.ts";
import { withBench } from "../cases/_bench.ts";
import { withHeld } from "./_held.ts";
import type { PoolEvent } from "../../src/contract/event.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";

interface LaneRate {
  readonly calls: number;
  readonly perMs: number;
  readonly lane?: string;
}

function rated(rates: readonly LaneRate[], more: PoolParts = {}): PoolParts {
  return {
    handler: () => "ok",
    caps: [{ use: "api-rate-cap", with: { rates, headroom: 0 } }],
    lanePolicy: "strict-priority",
    admission: "admit-all",
    size: { min: 2, max: 2 },
    ...more,
  };
}

function startsOf(events: readonly PoolEvent[], lane: string): number[] {
  return events.flatMap((event) =>
    event.kind === "job-started" && event.lane === lane ? [event.atMs] : []
  );
}

function longestWait(events: readonly PoolEvent[], lane: string): number {
  return Math.max(
    ...events.flatMap((event) =>
      event.kind === "job-started" && event.lane === lane ? [event.waitMs] : []
    ),
  );
}

const LOW = { calls: 5, perMs: 1000, lane: "low" };

Deno.test("a lane's own rate holds its jobs and is used in full, and no other lane waits for it", async () => {
  await withPool(rated([LOW]), async ({ pool, clock, events }) => {
    for (let count = 0; count < 200; count++) pool.post({ lane: "low", payload: 0 });
    for (let count = 0; count < 200; count++) {
      pool.post({ lane: "high", payload: 0 });
      await clock.advance(100);
    }

    const low = startsOf(events, "low");
    assertRate(low, 5);
    assert.ok(low.length >= 0.99 * 100, `${low.length}`);
    assert.equal(longestWait(events, "high"), 0);
    const { lanes: [, lane], rateBound } = pool.snapshot();
    assert.deepEqual([rateBound, lane!.ready, lane!.blocked], [true, 200 - low.length, 0]);
    assert.equal(lane!.oldestWaitMs, 20_000);
  });
});

Deno.test("jobs that a lane's own rate holds back are no reason to grow", async () => {
  const clock = new VirtualClock();
  const parts = rated([LOW], { handler: sleeper(() => clock, 20), size: { min: 1, max: 20 } });
  await withPool(parts, async ({ pool }) => {
    for (let count = 0; count < 500; count++) pool.post({ lane: "low", payload: 20 });
    for (let second = 0; second < 20; second++) {
      await clock.advance(1_000);
      assert.ok(pool.snapshot().live <= 2, `${pool.snapshot().live} workers`);
    }
  }, { clock });
});

Deno.test("a lane's own rate and that of all hold at once", async () => {
  await withPool(rated([LOW, { calls: 12, perMs: 1000 }]), async ({ pool, clock, events }) => {
    for (const lane of ["high", "low"]) {
      for (let count = 0; count < 300; count++) pool.post({ lane, payload: 0 });
    }
    await clock.advance(35_000);

    const [high, low] = [startsOf(events, "high"), startsOf(events, "low")];
    assertRate([...high, ...low], 12);
    assertRate(low, 5);
    assert.equal(high.length, 300);
    assert.ok(low.length >= 40, `${low.length}`); // once the others are done
  });
});

for (const latencyMs of [5, 40]) {
  Deno.test(`a lane's own rate is used though each lease takes ${latencyMs} ms`, async () => {
    await withHeld({ latencyMs, parts: rated([LOW]) }, async ({ pool, clock, events, told }) => {
      for (let count = 0; count < 200; count++) pool.post({ lane: "low", payload: 0 });
      for (let count = 0; count < 100; count++) {
        pool.post({ lane: "high", payload: 0 });
        await clock.advance(200);
      }

      const low = startsOf(events, "low");
      assertRate(low, 5);
      assert.ok(low.length >= 97, `${low.length} of 100`);
      assert.ok(told("job-handed-back").length <= 20, `${told("job-handed-back").length} back`);
      assert.ok(longestWait(events, "high") <= 3 * latencyMs);
    });
  });
}

Deno.test("three processes hold a lane's own rates together, of a second and of a minute", async () => {
  for (const rate of [LOW, { calls: 120, perMs: 60_000, lane: "low" }]) {
    await withBench(async (bench) => {
      for (let count = 0; count < 3; count++) {
        await bench.start(rated([rate], { leaseMs: 3000 }));
        await bench.advance(500, { stepMs: 50 });
      }
      const fromMs = bench.clock.nowMs();
      for (let count = 0; count < 400; count++) {
        bench.processes[count % 3]!.pool.post({ lane: "low", payload: 0 });
      }
      await bench.advance(60_000, { stepMs: 100 });

      const low = startsOf(bench.referee.events, "low");
      assert.ok(mostWithin(low, rate.perMs) <= rate.calls);
      const after = low.filter((atMs) => atMs >= fromMs + 10_000).length;
      assert.ok(after >= 0.95 * 50_000 * rate.calls / rate.perMs, `${after}`);
      await bench.advance(240_000, { stepMs: 1000 });
    });
  }
});
