import assert from "node:assert/strict";
import { MemoryStore } from "../../stores/memory/mod.ts";
import { LateState, starting } from "./_late_state.ts";
import type { JobContext } from "../../src/contract/job.ts";
import type { Store } from "../../src/contract/store.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { type PoolParts, sleeper } from "../_virtual.ts";
import { Bench, type Process, withBench } from "../cases/_bench.ts";

/** Counts what runs over all processes. */
class Gauge {
  running = 0;
  most = 0;
  readonly samples: number[] = [];

  /** A handler that is counted while it runs. */
  counted(handler: ReturnType<typeof sleeper>): ReturnType<typeof sleeper> {
    return async (job, context) => {
      this.most = Math.max(this.most, ++this.running);
      try {
        return await handler(job, context);
      } finally {
        this.running--;
      }
    };
  }

  /** Moves time, and looks every 10 ms. */
  async watch(bench: Bench, ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 10) {
      await bench.advance(10);
      this.samples.push(this.running);
    }
  }

  /** Mean of what ran while it watched. */
  get mean(): number {
    return this.samples.reduce((sum, running) => sum + running, 0) / this.samples.length;
  }
}

/** A pool whose workers all processes together have ten of. */
function tenWorkers(bench: Bench, gauge: Gauge, more: PoolParts = {}): PoolParts {
  return {
    handler: gauge.counted(sleeper(() => bench.clock, 100)),
    size: { min: 1, max: 20 },
    controller: { use: "fixed", with: { workers: 20 } },
    caps: [{ use: "fixed-cap", with: { workers: 10 }, scope: "cluster" }],
    leaseMs: 3000,
    adaptive: false,
    ...more,
  };
}

for (const latencyMs of [0, 8]) {
  Deno.test(`a worker cap holds over processes that join and leave, and is used in full, answers taking ${latencyMs} ms`, async () => {
    const store: Store = latencyMs === 0
      ? new MemoryStore()
      : new LateState(() => bench.clock, latencyMs);
    const bench = new Bench(store);
    const gauge = new Gauge();
    try {
      const first = starting(bench.start(tenWorkers(bench, gauge), { cap: 10 }));
      await bench.clock.advance(100);
      const { pool } = await first;
      for (let index = 0; index < 3000; index++) pool.post({ lane: "high", payload: 100 });
      await bench.advance(500);
      for (let count = 0; count < 3; count++) {
        const next = starting(bench.start(tenWorkers(bench, gauge), { cap: 10 }));
        await bench.clock.advance(300);
        await next;
      }
      await bench.advance(500);
      await gauge.watch(bench, 3000);
      const leaving = bench.processes[0]!.sluice.stop();
      await gauge.watch(bench, 3000);
      await leaving;

      assert.equal(gauge.most, 10);
      assert.ok(gauge.mean >= 9.8, `${gauge.mean} of 10 ran`);
      const [, ...staying] = bench.processes;
      assert.ok(staying.every((process) => process.pool.snapshot().busy >= 3));
    } finally {
      await bench.stop();
    }
  });
}

Deno.test("permits of a worker cap go where the load is", async () => {
  await withBench(async (bench) => {
    const gauge = new Gauge();
    const [one, other] = await Promise.all(["high", "low"].map((name) => {
      const parts = { controller: "age-scaler", lanes: [{ name }] };
      return bench.start(tenWorkers(bench, gauge, parts), { cap: 10 });
    })) as [Process, Process]; // two names, two processes
    await bench.advance(500);
    for (const [hot, idle] of [[one, other], [other, one], [one, other]] as const) {
      const lane = hot === one ? "high" : "low";
      for (let index = 0; index < 200; index++) hot.pool.post({ lane, payload: 100 });
      await bench.advance(600);

      assert.deepEqual([hot.pool.snapshot().busy, idle.pool.snapshot().busy], [9, 0]);
      await bench.advance(2500);
      assert.equal(hot.pool.snapshot().lanes[0]!.ready, 0);
    }
    assert.ok(gauge.most <= 10);
  });
});

Deno.test("a rate goes where the load is, a second after it was given up", async () => {
  await withBench(async (bench) => {
    const parts = (lane: string): PoolParts => ({
      handler: () => "ok",
      lanes: [{ name: lane }],
      caps: [{ use: "api-rate-cap", with: { callsPerSec: 20, headroom: 0 } }],
      leaseMs: 3000,
    });
    const one = await bench.start(parts("high"));
    const other = await bench.start(parts("low"));
    await bench.advance(500);
    const startsOf = (process: typeof one): number => process.pool.snapshot().totals.starts;
    for (const [hot, lane] of [[one, "high"], [other, "low"]] as const) {
      for (let index = 0; index < 100; index++) hot.pool.post({ lane, payload: 0 });
      await bench.advance(2500);
      const before = startsOf(hot);
      await bench.advance(1000);
      assert.equal(startsOf(hot) - before, 20);
      await bench.advance(3000);
    }
    const starts = bench.referee.events.flatMap((event) =>
      event.kind === "job-started" ? [event.atMs] : []
    );
    assert.equal(starts.length, 200);
    for (let index = 20; index < starts.length; index++) {
      assert.ok(starts[index]! - starts[index - 20]! >= 1000);
    }
  });
});

Deno.test("a decision says how much of a cluster cap is this process's", async () => {
  await withBench(async (bench) => {
    const gauge = new Gauge();
    const one = await bench.start(tenWorkers(bench, gauge), { cap: 10 });
    const other = await bench.start(tenWorkers(bench, gauge), { cap: 10 });
    for (let index = 0; index < 200; index++) one.pool.post({ lane: "high", payload: 100 });
    await bench.advance(1000);

    for (const { pool } of [one, other]) {
      const cap = pool.snapshot().decision?.proposals.find(({ by }) => by === "fixed-cap");
      assert.match(cap!.reason, /: 5 of 10 here$/);
    }
  });
});

Deno.test("what a dead process held is used again within a lease, and not before that one has stopped", async () => {
  await withBench(async (bench) => {
    const gauge = new Gauge();
    const one = await bench.start(tenWorkers(bench, gauge), { cap: 10 });
    const own = new VirtualClock();
    const dying = await bench.start(
      { ...tenWorkers(bench, gauge), handler: gauge.counted(sleeper(() => own, 100)) },
      { clock: own, cap: 10 },
    );
    for (let index = 0; index < 400; index++) one.pool.post({ lane: "high", payload: 100 });
    await bench.advance(1000);
    assert.equal(one.pool.snapshot().busy, 5);
    await bench.advance(2000, { frozen: [dying] });
    assert.equal(one.pool.snapshot().busy, 5);
    await bench.advance(1000, { frozen: [dying] });
    assert.equal(one.pool.snapshot().busy, 10);
  });
});

Deno.test("a process that cannot reach the record starts nothing once its lease is old, and aborts what runs", async () => {
  const store: LateState = new LateState(() => bench.clock, 1);
  const bench = new Bench(store);
  const aborts: number[] = [];
  const handler = (_: unknown, { signal }: JobContext): Promise<never> =>
    new Promise((_, reject) => {
      signal.addEventListener("abort", () => {
        aborts.push(bench.clock.nowMs());
        reject(signal.reason);
      });
    });
  try {
    const first = starting(bench.start(tenWorkers(bench, new Gauge(), { handler }), { cap: 10 }));
    await bench.clock.advance(50);
    const { pool } = await first;
    const second = starting(bench.start(tenWorkers(bench, new Gauge(), { handler }), { cap: 10 }));
    await bench.clock.advance(50);
    await second;
    await bench.advance(300);
    for (let index = 0; index < 20; index++) pool.post({ lane: "high", payload: 1 });
    await bench.advance(300);
    const running = (): number =>
      bench.processes.flatMap(({ pool }) => pool.snapshot().lanes)
        .reduce((sum, lane) => sum + lane.running, 0);
    assert.equal(running(), 10);
    store.fails = true;
    const fromMs = bench.clock.nowMs();
    await bench.advance(2800);
    assert.equal(aborts.length, 10);
    assert.ok(aborts.every((atMs) => atMs - fromMs <= 0.9 * 3000));
    assert.deepEqual(bench.processes.map(({ pool }) => pool.snapshot().limit), [0, 0]);
    store.fails = false;
    await bench.advance(1000);
    assert.equal(running(), 10);
  } finally {
    await bench.stop();
  }
});

/** Waits of bursts that come to two processes in turn: the one with work has to get the other's permits. */
async function hotWaits(reportMs: number): Promise<{ readonly p50: number; readonly p95: number }> {
  const store: LateState = new LateState(() => bench.clock, 2);
  const bench = new Bench(store);
  try {
    for (const name of ["high", "low"]) {
      const caps = [{
        use: "fixed-cap",
        with: { workers: 10 },
        scope: "cluster" as const,
        reportMs,
      }];
      const parts: PoolParts = { ...tenWorkers(bench, new Gauge()), lanes: [{ name }], caps };
      const handler = sleeper(() => bench.clock, 20);
      const process = starting(
        bench.start({ ...parts, controller: "age-scaler", handler }, { cap: 10 }),
      );
      await bench.clock.advance(200);
      await process;
    }
    for (let burst = 0; burst < 20; burst++) {
      const { pool } = bench.processes[burst % 2]!;
      const lane = pool.snapshot().lanes[0]!.name;
      for (let index = 0; index < 60; index++) pool.post({ lane, payload: 20 });
      await bench.clock.advance(1500);
    }
    const waits = bench.referee.events.flatMap((event) =>
      event.kind === "job-started" ? [event.waitMs] : []
    ).toSorted((a, b) => a - b);
    assert.equal(waits.length, 1200);
    return { p50: waits[600]!, p95: waits[1140]! };
  } finally {
    await bench.stop();
  }
}

// The figures of docs/caps.md. With all ten workers at hand: 60 and 100 ms.
for (const [reportMs, p50, p95] of [[10, 110, 170], [50, 150, 210], [200, 410, 490]] as const) {
  Deno.test(`jobs of the process that has the work wait ${p50} ms, reporting every ${reportMs} ms`, async () => {
    const waits = await hotWaits(reportMs);

    assert.ok(waits.p50 <= p50 && waits.p95 <= p95, `${waits.p50} and ${waits.p95} ms`);
  });
}
