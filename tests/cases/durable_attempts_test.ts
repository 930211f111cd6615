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

for (const [where, withDatabase] of DATABASES) {
  // E2
  Deno.test(`a job ${where} that kills whoever runs it is charged at the claim, and dead after its attempts`, async () => {
    await withDatabase(async (bench) => {
      const parts = (clock: VirtualClock) => ({
        handler: sleeper(() => clock, 60_000),
        lanes: [{ name: "high", attempts: 3 }],
        leaseMs: 3000,
      });
      const watching = await bench.start({ ...parts(bench.clock), ...NO_WORKERS });
      const poison = await watching.pool.enqueue({ lane: "high", payload: 60_000 });
      for (let attempt = 1; attempt <= 3; attempt++) {
        const clock = new VirtualClock(bench.clock.nowMs());
        const victim = await bench.start(parts(clock), { clock });
        await bench.until(() => victim.seat.running.size > 0);
        assert.equal((await watching.pool.find(poison.id))?.attempt, attempt);
        bench.kill(victim);
        await bench.until(async () => (await watching.pool.find(poison.id))?.state !== "running");
      }

      const record = await watching.pool.find(poison.id);
      assert.deepEqual([record?.state, record?.reason, record?.attempt], ["dead", "attempts", 3]);
      assert.equal((await poison.done).state, "dead");
      assert.deepEqual(await watching.pool.change(poison.id, "remove"), {
        ok: true,
        state: "removed",
      });
    });
  });
}

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

// E4
Deno.test("a drain keeps the leases of what it waits for on a file, beside another holder", async () => {
  await withFile(async (bench) => {
    const parts = {
      handler: sleeper(() => bench.clock, 7500),
      leaseMs: 3000,
      drainMs: 30_000,
      size: { min: 2, max: 2 },
    };
    const leaving = await bench.start(parts);
    const given = { lane: "high", payload: 7500 };
    const jobs = await leaving.pool.enqueueAll([given, given]) as JobHandle[];
    await bench.advance(100);
    const draining = leaving.pool.drain();
    const other = await bench.start(parts);
    await bench.advance(12_000);

    const report = await draining;
    assert.deepEqual([report.handedBack, report.stuck], [[], []]);
    const kinds = bench.referee.events.map(({ kind }) => kind);
    assert.equal(kinds.filter((kind) => kind === "job-started").length, 2);
    assert.equal(kinds.filter((kind) => kind === "job-done").length, 2);
    assert.equal(kinds.includes("jobs-reaped") || kinds.includes("lease-lost"), false);
    await bench.referee.account(other.pool, jobs);
  });
});

// E6
Deno.test("a job on a file that a stop interrupts is back at once, uncharged, though it has one attempt", async () => {
  await withFile(async (bench) => {
    const parts = {
      handler: sleeper(() => bench.clock, 20_000),
      lanes: [{ name: "high", attempts: 1 }],
      drainMs: 5000,
      timeoutMs: 60_000,
      size: { min: 1, max: 1 },
    };
    const first = await bench.start(parts);
    const job = await first.pool.enqueue({ lane: "high", payload: 20_000 });
    await bench.advance(1000);
    const next = await bench.start(parts);
    const stopping = first.sluice.stop();
    await bench.advance(5500);
    assert.deepEqual((await stopping).handedBack, [job.id]);

    const starts = bench.referee.events.flatMap((event) =>
      event.kind === "job-started" ? [{ attempt: event.attempt, atMs: event.atMs }] : []
    );
    assert.deepEqual(starts.map(({ attempt }) => attempt), [1, 1]);
    const back = bench.referee.events.find(({ kind }) => kind === "job-handed-back")!;
    assert.ok(starts[1]!.atMs - back.atMs <= 100);
    await bench.advance(21_000, { stepMs: 250 });
    assert.equal((await next.pool.find(job.id))?.state, "done");
    await bench.referee.account(next.pool, [job]);
  });
});

for (const aheadMs of [40_000, -40_000]) {
  // E8
  Deno.test(`clocks ${aheadMs} ms apart take no job on a file from a holder that lives, nor its places`, async () => {
    await withFile(async (bench) => {
      const other = new VirtualClock(bench.clock.nowMs() + aheadMs);
      const parts = (clock: VirtualClock) => ({
        handler: sleeper(() => clock, 45_000),
        lanes: [{ name: "high", maxRunningPerKey: 1 }],
        leaseMs: 30_000,
        size: { min: 2, max: 2 },
        tickMs: 500,
      });
      const { pool } = await bench.start(parts(bench.clock));
      await bench.start(parts(other), { clock: other });
      const given = { lane: "high", payload: 45_000 };
      const jobs = await pool.enqueueAll(
        Array.from({ length: 8 }, (_, index) => ({ ...given, key: `k${index % 4}` })),
      ) as JobHandle[];
      await bench.advance(150_000, { stepMs: 1000 });

      const kinds = bench.referee.events.map(({ kind }) => kind);
      assert.equal(kinds.filter((kind) => kind === "job-started").length, 8);
      assert.equal(kinds.filter((kind) => kind === "job-done").length, 8);
      assert.equal(kinds.includes("jobs-reaped") || kinds.includes("lease-lost"), false);
      await bench.referee.account(pool, jobs);
    });
  });
}

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
