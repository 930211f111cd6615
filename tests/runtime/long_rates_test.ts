import assert from "node:assert/strict";
import { mostWithin } from "../_rate.ts";
import type { PoolParts } from "../_virtual.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { LateState, starting } from "./_late_state.ts";
import { Bench, withBench } from "../cases/_bench.ts";

interface Long {
  readonly calls: number;
  readonly perMs: number;
  readonly burst?: number;
}

function paced(rates: readonly Long[], more: PoolParts = {}): PoolParts {
  return {
    handler: () => "ok",
    caps: [{ use: "api-rate-cap", with: { rates, headroom: 0 } }],
    lanePolicy: "strict-priority",
    admission: "admit-all",
    size: { min: 2, max: 2 },
    leaseMs: 3000,
    ...more,
  };
}

function startsOf({ referee }: Bench, lane?: string): number[] {
  return referee.events.flatMap((event) =>
    event.kind === "job-started" && event.lane === (lane ?? event.lane) ? [event.atMs] : []
  );
}

async function post(bench: Bench, jobs: number, lane = "low"): Promise<void> {
  const { pool } = bench.processes.at(-1)!;
  for (let count = 0; count < jobs; count++) pool.post({ lane, payload: 0 });
  await bench.settle();
}

const MINUTE = 60_000;

for (
  const { calls, perMs } of [
    { calls: 1, perMs: MINUTE },
    { calls: 7, perMs: MINUTE },
    { calls: 600, perMs: MINUTE },
    { calls: 30, perMs: 20_000 },
    { calls: 200, perMs: 1_200_000 },
  ]
) {
  for (const processes of perMs > MINUTE ? [1] : [1, 3]) {
    Deno.test(`${calls} calls in ${perMs} ms are used, and never exceeded, by ${processes} processes`, async () => {
      await withBench(async (bench) => {
        for (let count = 0; count < processes; count++) {
          await bench.start(paced([{ calls, perMs }]));
        }
        await post(bench, calls * 5);
        const fromMs = bench.clock.nowMs();
        await bench.advance(4 * perMs, { stepMs: perMs / 50 });
        const starts = startsOf(bench);

        assert.ok(mostWithin(starts, perMs) <= calls, `${mostWithin(starts, perMs)} of ${calls}`);
        const from = fromMs + perMs;
        const used = starts.filter((atMs) => atMs >= from && atMs < from + 3 * perMs).length;
        assert.ok(used >= Math.floor(0.99 * 3 * calls), `${used} of ${3 * calls}`);
      });
    });
  }
}

Deno.test("a long rate is not exceeded over restarts, and a restart loses nothing of it", async () => {
  await withBench(async (bench) => {
    const limit = { calls: 60, perMs: MINUTE };
    await bench.start(paced([limit]));
    await post(bench, 400);
    for (let restart = 0; restart < 12; restart++) {
      await bench.advance(9_700, { stepMs: 100 });
      const stopping = bench.processes.at(-1)!.sluice.stop();
      await bench.clock.advance(50);
      await stopping;
      bench.processes.pop();
      await bench.start(paced([limit]));
    }
    await bench.advance(10_000, { stepMs: 100 });
    const starts = startsOf(bench);

    assert.ok(mostWithin(starts, MINUTE) <= 60, `${mostWithin(starts, MINUTE)}`);
    assert.ok(starts.length >= 120, `${starts.length}`);
    await bench.advance(300_000, { stepMs: 5000 });
  });
});

Deno.test("of a long rate a process that dies takes no more than what it had drawn", async () => {
  await withBench(async (bench) => {
    const parts = paced([{ calls: 120, perMs: MINUTE }]);
    const dying = await bench.start(parts, { clock: new VirtualClock() });
    const staying = await bench.start(parts);
    await post(bench, 600);
    await bench.advance(20_000, { stepMs: 100 });
    const fromMs = staying.clock.nowMs();
    await bench.advance(3 * MINUTE, { stepMs: 500, frozen: [dying] });
    const starts = startsOf(bench);

    assert.ok(mostWithin(starts, MINUTE) <= 120, `${mostWithin(starts, MINUTE)}`);
    const used = starts.filter((atMs) => atMs > fromMs).length;
    assert.ok(used >= 3 * 120 - 5, `${used}`);
    await bench.advance(MINUTE, { stepMs: 500, frozen: [dying] });
  });
});

Deno.test("an urgent job does not wait for the pace of a day's rate, and a burst of others may", async () => {
  await withBench(async (bench) => {
    const rates = [{ calls: 20, perMs: 1000 }, { calls: 1000, perMs: 24 * 60 * MINUTE, burst: 50 }];
    await bench.start(paced(rates, { size: { min: 0, max: 4 } }));
    await post(bench, 200);
    await bench.advance(10_000);
    assert.equal(startsOf(bench).length, 50); // then one each 86.4 s

    await post(bench, 100, "high");
    await bench.advance(20_000);
    assert.equal(startsOf(bench, "high").length, 100);
    const waits = bench.referee.events.flatMap((event) =>
      event.kind === "job-started" && event.lane === "high" ? [event.waitMs] : []
    );
    assert.ok(Math.max(...waits) <= 5_000, `${Math.max(...waits)}`); // by 20 a second
    await bench.advance(10_000);
    assert.ok(startsOf(bench, "low").length <= 51);
    for (const lane of ["low", "high"]) {
      for (const { id } of (await bench.processes[0]!.pool.list({ lane, limit: 500 })).jobs) {
        await bench.processes[0]!.pool.change(id, "cancel");
      }
    }
  });
});

for (const latencyMs of [5, 100]) {
  Deno.test(`a long rate is used though the record is ${latencyMs} ms away, and held while it cannot be reached`, async () => {
    const store: LateState = new LateState(() => bench.clock, latencyMs);
    const bench = new Bench(store);
    try {
      const first = starting(bench.start(paced([{ calls: 200, perMs: 20_000 }])));
      await bench.clock.advance(500);
      await first;
      await post(bench, 1_500);
      await bench.advance(60_000, { stepMs: 100 });
      const before = startsOf(bench);
      assert.ok(before.length >= 0.97 * 600, `${before.length}`);

      store.fails = true;
      await bench.advance(10_000, { stepMs: 100 });
      const during = startsOf(bench).length - before.length;
      assert.ok(during <= 15, `${during}`); // what it had drawn
      store.fails = false;
      await bench.advance(30_000, { stepMs: 100 });
      const starts = startsOf(bench);
      assert.ok(mostWithin(starts, 20_000) <= 200);
      assert.ok(starts.length >= before.length + 250, `${starts.length}`);
      await bench.advance(60_000, { stepMs: 1_000 });
    } finally {
      await bench.stop();
    }
  });
}
