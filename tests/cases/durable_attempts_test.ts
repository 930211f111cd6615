import assert from "node:assert/strict";
import { RetryLater } from "../../src/contract/errors.ts";
import type { Job, JobContext } from "../../src/contract/job.ts";
import type { JobHandle } from "../../src/runtime/handles.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { sleeper } from "../_virtual.ts";
import { DATABASES, withFile } from "./_durable.ts";

/** A process that enqueues and looks, and runs nothing. */
const NO_WORKERS = {
  size: { min: 0, max: 1 },
  caps: [{ use: "fixed-cap", with: { workers: 0 } }],
} as const;

// E2
Deno.test("a cancel works in any state of a job on a file, from another process too", async () => {
  await withFile(async (bench) => {
    const wake: (() => void)[] = [];
    const handler = (job: Job, { signal }: JobContext): unknown =>
      new Promise<void>((resolve, reject) => {
        if (job.payload === "throws") return reject(new Error("down"));
        wake.push(resolve);
        if (job.payload === "heeds") signal.addEventListener("abort", () => reject(signal.reason));
      });
    const lanes = [
      { name: "high", maxRunningPerKey: 1, backoff: { baseMs: 60_000 } },
      { name: "low", paused: true },
    ];
    const own = new VirtualClock();
    const parts = { handler, lanes, leaseMs: 3000 };
    const dying = await bench.start({ ...parts, size: { min: 1, max: 1 } }, { clock: own });
    const orphan = await dying.pool.enqueue({ lane: "high", payload: "heeds", key: "o" });
    await bench.until(() => dying.seat.running.size > 0);
    const { pool } = await bench.start({ ...parts, size: { min: 3, max: 3 } });
    const other = await bench.start({ ...parts, ...NO_WORKERS });
    bench.kill(dying);
    const jobs: JobHandle[] = [
      orphan,
      await pool.enqueue({ lane: "high", payload: "heeds", key: "k" }),
      await pool.enqueue({ lane: "high", payload: "deaf" }),
      await pool.enqueue({ lane: "high", payload: "heeds", key: "k" }),
      await pool.enqueue({ lane: "high", payload: "throws" }),
      await pool.enqueue({ lane: "high", payload: "heeds", delayMs: 1000 }),
      await pool.enqueue({ lane: "low", payload: "heeds" }),
    ];
    await bench.advance(100);
    for (let index = 0; index < 3; index++) {
      jobs.push(await pool.enqueue({ lane: "high", payload: "heeds" }));
    }
    await bench.advance(50);
    const states = await Promise.all(jobs.map(async ({ id }) => (await pool.find(id))?.state));
    assert.deepEqual([...new Set(states)].sort(), ["blocked", "delayed", "ready", "running"]);

    for (const job of jobs.toReversed()) {
      assert.equal((await other.pool.change(job.id, "cancel")).ok, true, job.id);
    }
    await bench.advance(5000);
    for (const { id } of jobs) assert.equal((await pool.find(id))?.state, "cancelled", id);
    for (const { ready, blocked, delayed, running } of pool.snapshot().lanes) {
      assert.deepEqual([ready, blocked, delayed, running], [0, 0, 0, 0]);
    }
    wake.forEach((end) => end());
    for (const key of ["k", "o"]) { // their keys are free again
      const after = await pool.enqueue({ lane: "high", payload: "throws", key });
      await bench.advance(100);
      assert.equal((await pool.find(after.id))?.state, "delayed");
    }
  });
});

for (const [where, withDatabase] of DATABASES) {
  // F2
  Deno.test(`${where} a retry and a new job of one unique key come to one job, and the lane goes on`, async () => {
    await withDatabase(async (bench) => {
      const handler = (job: Job): string => {
        if (job.payload === "fails once" && job.attempt === 1) throw new Error("down");
        return String(job.payload);
      };
      const lanes = [{ name: "high", backoff: { baseMs: 1000, jitter: 0 } }];
      const { pool } = await bench.start({ handler, lanes });
      const there = (await bench.start({ handler, lanes })).pool;
      const dedupeKey = "k";
      const first = await pool.enqueue({ lane: "high", payload: "fails once", dedupeKey });
      await bench.advance(200);
      assert.equal((await pool.find(first.id))?.state, "delayed");
      const doubles = [
        await there.enqueue({ lane: "high", payload: "second", dedupeKey }),
        await there.enqueue({ lane: "high", payload: "third", dedupeKey, delayMs: 500 }),
      ];
      const others = await there.enqueueAll(Array.from({ length: 20 }, (_, index) => (
        { lane: "high", payload: index, dedupeKey: `other ${index}` }
      ))) as JobHandle[];
      await bench.advance(100);

      for (const { id } of others) assert.equal((await pool.find(id))?.state, "done");
      for (const job of doubles) assert.deepEqual([job.duplicate, job.id], [true, first.id]);
      await bench.advance(1500);
      assert.deepEqual(await first.done, { state: "done", result: "fails once" });
      const after = await there.enqueue({ lane: "high", payload: "fifth", dedupeKey });
      await bench.advance(100);
      assert.deepEqual(await after.done, { state: "done", result: "fifth" });
      await bench.referee.account(pool, [first, after, ...others]);
    });
  });
}

for (const [where, withDatabase] of DATABASES) {
  // F2
  Deno.test(`${where} a retry and queued jobs of one serial key run one after the other, over two processes`, async () => {
    await withDatabase(async (bench) => {
      const order: string[] = [];
      let running = 0;
      const sleep = sleeper(() => bench.clock, 50);
      const handler = async (job: Job, context: JobContext): Promise<void> => {
        assert.equal(++running, 1);
        order.push(`${job.payload} ${job.attempt}`);
        await sleep({ payload: 50 }, context);
        running--;
        if (job.payload === "A" && job.attempt < 3) throw new Error("down");
      };
      const lanes = [{ name: "high", maxRunningPerKey: 1, backoff: { baseMs: 60, jitter: 0 } }];
      const parts = { handler, lanes, size: { min: 4, max: 4 } };
      const { pool } = await bench.start(parts);
      await bench.start(parts);
      const jobs = await pool.enqueueAll(["A", "B", "C", "D"].map((payload) => (
        { lane: "high", payload, key: "k" }
      ))) as JobHandle[];
      await bench.until(async () => (await pool.find(jobs[0]!.id))?.state === "done");
      await bench.advance(500);

      await bench.referee.account(pool, jobs);
      assert.deepEqual(order.slice(0, 2), ["A 1", "B 1"]);
      assert.deepEqual(order.toSorted(), ["A 1", "A 2", "A 3", "B 1", "C 1", "D 1"]);
    });
  });
}

// C12
Deno.test("jobs on a file that were told to come back in a minute come back spread out, never before", async () => {
  await withFile(async (bench) => {
    const tries = new Map<string, number[]>();
    const handler = (job: Job, context: JobContext): void => {
      const at = tries.get(job.id) ?? [];
      tries.set(job.id, [...at, bench.clock.nowMs()]);
      if (at.length < 2) {
        context.overloaded(60_000);
        throw new RetryLater(60_000, "429");
      }
    };
    const size = { min: 30, max: 30 };
    const { pool } = await bench.start({ handler, size, cooldown: false }); // of each job alone
    const jobs = await pool.enqueueAll(
      Array.from({ length: 30 }, (_, payload) => ({ lane: "high", payload })),
    ) as JobHandle[];
    await bench.advance(180_000, { stepMs: 250 });

    await bench.referee.account(pool, jobs);
    for (let attempt = 1; attempt <= 2; attempt++) {
      for (const at of tries.values()) assert.ok(at[attempt]! - at[attempt - 1]! >= 60_000);
      const times = [...tries.values()].map((at) => at[attempt]!).sort((a, b) => a - b);
      for (let index = 8; index < 30; index++) {
        assert.ok(times[index]! - times[index - 8]! > 100, `${times.map((at) => at - times[0]!)}`);
      }
    }
  });
});
