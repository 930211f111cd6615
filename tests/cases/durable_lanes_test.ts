import assert from "node:assert/strict";
import { RetryLater } from "../../src/contract/errors.ts";
import type { Job, JobContext } from "../../src/contract/job.ts";
import { defineController } from "../../src/contract/plugin.ts";
import { randomStream } from "../../src/base/random.ts";
import type { JobHandle } from "../../src/runtime/handles.ts";
import { quantile } from "../../src/base/stats.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { sleeper } from "../_virtual.ts";
import { type DurableBench, withFile } from "./_durable.ts";

const HOUR_MS = 3_600_000;

/** Waits of the jobs of a lane that started since `sinceMs`, sorted. */
function waitsOf(bench: DurableBench, lane: string, sinceMs: number): number[] {
  return bench.referee.events.flatMap((event) =>
    event.kind === "job-started" && event.lane === lane && event.atMs >= sinceMs
      ? [event.waitMs]
      : []
  ).sort((a, b) => a - b);
}

// A1
Deno.test("a job that is due later is no backlog on a file either, and still none after a restart", async () => {
  await withFile(async (bench) => {
    let runs = 0;
    const handler = ({ payload, attempt }: Job): string => {
      if (++runs > 9) return "too often"; // or a fault would keep time from moving
      if (payload === "fails" && attempt === 1) throw new Error("down");
      if (payload === "later") throw new RetryLater(12 * HOUR_MS, "closed until morning");
      return "ok";
    };
    const backoff = { baseMs: 12 * HOUR_MS, maxMs: 12 * HOUR_MS, jitter: 0 };
    const lanes = [{ name: "high", backoff, attempts: 2 }];
    const parts = { handler, lanes, size: { min: 0, max: 20 } };
    const first = await bench.start(parts);
    const delayMs = 12 * HOUR_MS;
    const jobs = [
      await first.pool.enqueue({ lane: "high", payload: "ok", delayMs }),
      await first.pool.enqueue({ lane: "high", payload: "fails" }),
      await first.pool.enqueue({ lane: "high", payload: "later" }),
    ];
    await bench.until(() => first.pool.snapshot().lanes[0]!.delayed === 3);
    await bench.leave(first);

    const { pool } = await bench.start(parts);
    await bench.advance(5000);
    for (let hour = 0; hour < 11; hour++) {
      await bench.advance(HOUR_MS, { stepMs: HOUR_MS / 4 });
      const { lanes: [lane], target, workers } = pool.snapshot();
      assert.deepEqual([lane?.ready, lane?.delayed, lane?.oldestWaitMs], [0, 3, 0]);
      assert.deepEqual([target, workers.length], [0, 0]);
    }
    await pool.change(jobs[2]!.id, "cancel");
    await bench.advance(2 * HOUR_MS, { stepMs: 60_000 });

    await bench.referee.account(pool, jobs);
    for (const { id } of jobs.slice(0, 2)) assert.equal((await pool.find(id))?.state, "done");
  });
});

// A2
Deno.test("jobs on a file that their key holds back start no worker in any process, and the decision says so", async () => {
  await withFile(async (bench) => {
    const parts = {
      handler: sleeper(() => bench.clock, 200),
      size: { min: 1, max: 50 },
      lanes: [{ name: "high", maxRunningPerKey: 1 }],
    };
    const { pool } = await bench.start(parts);
    const other = await bench.start(parts);
    const given = { lane: "high", payload: 200, key: "k" };
    const jobs = await pool.enqueueAll(Array.from({ length: 500 }, () => given)) as JobHandle[];
    await bench.advance(4000);

    for (const process of [pool, other.pool]) {
      const { lanes: [lane], target, decision } = process.snapshot();
      assert.ok(target <= 2, `${target}`);
      assert.ok(lane!.blocked > 400 && lane!.oldestWaitMs < 100, `${lane!.oldestWaitMs}`);
      assert.match(decision!.latest ?? "", /\d+ blocked that no worker could run/);
    }
    assert.equal(bench.referee.running, 1);
    await bench.referee.account(pool, jobs, "known");
  });
});

// B1
Deno.test("a pool that starts on a file with a backlog has its minimum at once, and idle lanes keep their workers", async () => {
  await withFile(async (bench) => {
    const handler = sleeper(() => bench.clock, 5000);
    const lanes = [{ name: "a" }, { name: "b" }, { name: "c" }];
    const lanePolicy = { use: "reserved-lane", with: { reserve: { a: 1, b: 1 } } } as const;
    const parts = { handler, lanes, lanePolicy, size: { min: 3, max: 9 } };
    const before = await bench.start({ ...parts, lanePolicy: "fifo", size: { min: 0, max: 1 } });
    await before.pool.pause();
    const given = { lane: "c", payload: 5000 };
    await before.pool.enqueueAll(Array.from({ length: 100 }, () => given));
    await bench.leave(before);

    const { pool } = await bench.start(parts);
    await bench.settle();
    assert.equal(pool.snapshot().live, 3);
    await pool.resume();
    await bench.advance(6000);
    for (const lane of ["b", "a"]) {
      const { live, lanes: views } = pool.snapshot();
      assert.ok(views[2]!.running > 0 && views[2]!.running <= live - 2);
      const job = await pool.enqueue({ lane, payload: 10 });
      await bench.advance(100);
      assert.equal((await pool.find(job.id))?.state, "done");
    }
  });
});

// D1
Deno.test("a lane on a file waits no longer than its target beside lanes whose jobs run 100 times longer", async () => {
  await withFile(async (bench) => {
    const lanes = [
      { name: "urgent", weight: 4, targetWaitMs: 50 },
      { name: "report", weight: 1 },
      { name: "batch", weight: 1 },
    ];
    const parts = { handler: sleeper(() => bench.clock, 20), lanes, size: { min: 2, max: 8 } };
    const { pool } = await bench.start({ ...parts, admission: "admit-all" });
    const began = bench.clock.nowMs();
    for (let second = 0; second < 20; second++) {
      for (const lane of ["report", "batch"]) {
        const long = { lane, payload: 2000 };
        await pool.enqueueAll([long, long, long]);
      }
      for (let slot = 0; slot < 20; slot++) {
        await pool.enqueue({ lane: "urgent", payload: 20 });
        await bench.advance(50, { stepMs: 25 });
      }
    }

    const waits = waitsOf(bench, "urgent", began + 5000);
    assert.ok(waits.length > 250, `${waits.length}`);
    assert.ok(quantile(waits, 0.99) <= 50, `p99 ${quantile(waits, 0.99)}`);
    const { lanes: [, report, batch] } = pool.snapshot();
    assert.ok(report!.ready + batch!.ready > 30); // all workers had more than enough to do
    assert.ok(report!.servedMs > 30_000, `${report!.servedMs}`);
  });
});

// D4
Deno.test("a job on a file that failed, or whose holder died, keeps its lane and is the next pick", async () => {
  await withFile(async (bench) => {
    const handlerOf = (clock: VirtualClock) => {
      const sleep = sleeper(() => clock, 20);
      return async (job: Job, context: JobContext): Promise<void> => {
        await sleep(job, context);
        if (job.payload === "fails" && job.attempt < 3) throw new Error("once more");
      };
    };
    const lanes = [{ name: "high", backoff: { baseMs: 100, jitter: 0 } }, { name: "low" }];
    const parts = { lanes, leaseMs: 3000, admission: "admit-all" } as const;
    const size = { min: 1, max: 1 };
    const own = new VirtualClock();
    const dying = await bench.start({ ...parts, size, handler: handlerOf(own) }, { clock: own });
    const orphan = await dying.pool.enqueue({ lane: "high", payload: 60_000 });
    await bench.quiet();
    assert.equal((await dying.pool.find(orphan.id))?.state, "running");
    bench.kill(dying);
    const handler = handlerOf(bench.clock);
    const { pool } = await bench.start({ ...parts, handler, size: { min: 2, max: 2 } });
    await pool.enqueueAll(Array.from({ length: 1000 }, () => ({ lane: "low", payload: 50 })));
    const failing = await pool.enqueue({ lane: "high", payload: "fails" });
    await bench.advance(8000);

    assert.equal((await pool.find(failing.id))?.state, "done");
    const { events } = bench.referee;
    const waits = events.flatMap((event) =>
      event.kind === "job-started" && event.id === failing.id ? [event.waitMs] : []
    );
    assert.equal(waits.length, 3);
    assert.ok(waits.every((waitMs) => waitMs <= 100), `${waits}`); // a batch job and a step of time
    const reapedAtMs = events.find((event) => event.kind === "jobs-reaped")!.atMs;
    const again = events.find((event) =>
      event.kind === "job-started" && event.id === orphan.id && event.attempt === 2
    )!;
    assert.ok(again.atMs - reapedAtMs <= 100, `${again.atMs - reapedAtMs} ms`);
    assert.ok(pool.snapshot().lanes[1]!.ready > 100);
  });
});

// D7
Deno.test("a tenant on a file that its key binds holds no other tenant back, however long its backlog", async () => {
  await withFile(async (bench) => {
    const lanes = [{ name: "low", maxRunningPerKey: 1 }];
    const handler = sleeper(() => bench.clock, 500);
    const { pool } = await bench.start({ handler, lanes, size: { min: 2, max: 4 } });
    const given = { lane: "low", payload: 500, key: "x" };
    await pool.enqueueAll(Array.from({ length: 1500 }, () => given));
    await bench.advance(1200);
    const mine = await pool.enqueue({ lane: "low", payload: 500, key: "y" });
    const free = await pool.enqueue({ lane: "low", payload: 500 });
    await bench.advance(50);

    for (const { id } of [mine, free]) assert.equal((await pool.find(id))?.state, "running");
    assert.ok(pool.snapshot().lanes[0]!.blocked >= 1490);
    await bench.advance(1000);
    for (const { id } of [mine, free]) assert.equal((await pool.find(id))?.state, "done");
  });
});

// G2
Deno.test("jobs arrive on a file as workers leave, hundreds of times, and none is lost", async () => {
  await withFile(async (bench) => {
    const chance = randomStream(7, "file");
    let wanted = 1;
    const wanting = defineController({
      name: "wanting",
      create: () => () => ({ workers: wanted, reason: "told so" }),
    });
    const parts = {
      controller: wanting,
      handler: sleeper(() => bench.clock, 5),
      size: { min: 0, max: 6 },
      tickMs: 5,
    };
    const { pool } = await bench.start(parts);
    const adding: Promise<JobHandle>[] = [];
    for (let cycle = 0; cycle < 300; cycle++) {
      wanted = Math.floor(chance() * 4);
      const delayMs = chance() < 0.2 ? 5 : 0;
      adding.push(pool.enqueue({ lane: "high", payload: Math.floor(chance() * 11), delayMs }));
      await bench.advance(5, { stepMs: 5 }); // arrival, end of a run and tick fall together
      if (wanted === 0) wanted = 1;
    }
    await bench.until(() => pool.snapshot().totals.completions === 300);

    await bench.referee.account(pool, await Promise.all(adding));
  });
});
