import assert from "node:assert/strict";
import type { Job, JobContext } from "../../src/contract/job.ts";
import { METRICS, readPool } from "../../src/telemetry/catalog.ts";
import { quantile } from "../../src/base/stats.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { sleeper } from "../_virtual.ts";
import { Bench, withCase } from "./_bench.ts";

/** Waits of the jobs of a lane that started since `sinceMs`, sorted. */
function waitsOf(bench: Bench, lane: string, sinceMs: number): number[] {
  return bench.referee.events.flatMap((event) =>
    event.kind === "job-started" && event.lane === lane && event.atMs >= sinceMs
      ? [event.waitMs]
      : []
  ).sort((a, b) => a - b);
}

// D1
Deno.test("a lane waits no longer than its target beside lanes whose jobs run 100 times longer", async () => {
  const bench = new Bench();
  const lanes = [
    { name: "urgent", weight: 4, targetWaitMs: 50 },
    { name: "report", weight: 1 },
    { name: "batch", weight: 1 },
  ];
  const parts = { handler: sleeper(() => bench.clock, 20), lanes, size: { min: 2, max: 8 } };
  await withCase({ ...parts, admission: "admit-all" }, async ({ pool }) => {
    const began = bench.clock.nowMs();
    for (let second = 0; second < 60; second++) {
      for (let index = 0; index < 3; index++) {
        pool.post({ lane: "report", payload: 2000 });
        pool.post({ lane: "batch", payload: 2000 });
      }
      for (let slot = 0; slot < 20; slot++) {
        pool.post({ lane: "urgent", payload: 20 });
        await bench.advance(50, { stepMs: 50 });
      }
    }

    const waits = waitsOf(bench, "urgent", began + 5000);
    assert.ok(waits.length > 1000, `${waits.length}`);
    assert.ok(quantile(waits, 0.99) <= 50, `p99 ${quantile(waits, 0.99)}`);
    const { lanes: [, report, batch] } = pool.snapshot();
    assert.ok(report!.ready + batch!.ready > 100); // all workers had more than enough to do
    assert.ok(report!.servedMs > 100_000, `${report!.servedMs}`);
  }, { bench });
});

for (const lanePolicy of ["reserved-lane", "strict-priority"] as const) {
  // D4
  Deno.test(`a job that failed keeps its lane and is the next pick when due, for ${lanePolicy}`, async () => {
    const bench = new Bench();
    const sleep = sleeper(() => bench.clock, 10);
    const handler = async (job: Job, context: JobContext): Promise<void> => {
      await sleep(job, context);
      if (job.lane === "high" && job.attempt < 4) throw new Error("once more");
    };
    const lanes = [{ name: "high", backoff: { baseMs: 100, jitter: 0.5 } }, { name: "low" }];
    const parts = { handler, lanes, lanePolicy, size: { min: 2, max: 2 } };
    await withCase({ ...parts, admission: "admit-all" }, async ({ pool }) => {
      for (let index = 0; index < 1000; index++) pool.post({ lane: "low", payload: 10 });
      const job = await pool.enqueue({ lane: "high", payload: 10 });
      await bench.advance(2000);

      assert.deepEqual(await job.done, { state: "done", result: undefined });
      const waits = waitsOf(bench, "high", 0);
      assert.equal(waits.length, 4);
      assert.ok(waits.every((waitMs) => waitMs <= 10), `${waits}`); // one batch job at most
      assert.ok(pool.snapshot().lanes[1]!.ready > 100);
      await bench.advance(6000, { stepMs: 100 });
    }, { bench });
  });
}

// D4
Deno.test("a job whose holder died keeps its lane and is the next pick", async () => {
  const bench = new Bench();
  const handler = (clock: VirtualClock) => sleeper(() => clock, 10);
  const parts = { leaseMs: 1000, size: { min: 1, max: 1 }, admission: "admit-all" } as const;
  const own = new VirtualClock();
  try {
    const dying = await bench.start({ ...parts, handler: handler(own) }, { clock: own });
    const job = await dying.pool.enqueue({ lane: "high", payload: 10 });
    await dying.clock.settle();
    const { pool } = await bench.start({ ...parts, handler: handler(bench.clock) });
    const behind = await pool.enqueue({ lane: "high", payload: 10, delayMs: 1000 });
    for (let index = 0; index < 1000; index++) pool.post({ lane: "low", payload: 10 });
    await bench.advance(5000, { frozen: [dying] });

    const { events } = bench.referee;
    const reapedAtMs = events.find((event) => event.kind === "jobs-reaped")!.atMs;
    const again = events.find((event) =>
      event.kind === "job-started" && event.id === job.id && event.attempt === 2
    )!;
    assert.ok(again.atMs - reapedAtMs <= 10, `${again.atMs - reapedAtMs} ms`);
    assert.equal((await pool.find(job.id))?.state, "done");
    assert.equal((await behind.done).state, "done");
    const reaped = METRICS.find(({ name }) => name === "sluice_jobs_reaped_total");
    assert.deepEqual(reaped?.read(readPool(pool)), [[{ pool: "p" }, 1]]);
    assert.ok(pool.snapshot().lanes[1]!.ready > 100);
    await bench.advance(10_000, { stepMs: 100 });
  } finally {
    await bench.stop();
  }
});

// D7
Deno.test("a tenant bound by its key holds no other tenant back, however long its backlog", async () => {
  for (const backlog of [10, 10_000]) {
    const bench = new Bench();
    const parts = {
      handler: sleeper(() => bench.clock, 500),
      lanes: [{ name: "low", maxRunningPerKey: 1 }],
      size: { min: 2, max: 4 },
    };
    await withCase(parts, async ({ pool }) => {
      for (let index = 0; index < backlog; index++) {
        pool.post({ lane: "low", payload: 500, key: "x" });
      }
      await bench.advance(1200, { stepMs: 100 });
      const mine = await pool.enqueue({ lane: "low", payload: 500, key: "y" });
      await bench.advance(1, { stepMs: 1 });
      const free = await pool.enqueue({ lane: "low", payload: 500 });
      await bench.advance(1, { stepMs: 1 });

      for (const { id } of [mine, free]) assert.equal((await pool.find(id))?.state, "running");
      assert.equal(pool.snapshot().lanes[0]!.blocked, backlog - 3);
      const page = await pool.list({ limit: 20_000, state: "blocked" });
      for (const { id } of page.jobs) await pool.change(id, "cancel");
      await bench.advance(1000);
      assert.equal(pool.snapshot().lanes[0]!.running, 0);
    }, { bench });
  }
});
