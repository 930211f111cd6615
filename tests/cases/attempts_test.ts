import assert from "node:assert/strict";
import type { Job, JobContext } from "../../src/contract/job.ts";
import type { JobHandle } from "../../src/runtime/handles.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { sleeper } from "../_virtual.ts";
import { Bench, FaultyStore, type Process, withCase } from "./_bench.ts";

const ATTEMPTS = 3;

// E2
Deno.test("a job that kills whoever runs it is charged at the claim, and dead after its attempts", async () => {
  const bench = new Bench();
  const parts = (clock: VirtualClock) => ({
    handler: sleeper(() => clock, 60_000),
    lanes: [{ name: "high", attempts: ATTEMPTS }],
    leaseMs: 1000,
  });
  const dead: Process[] = [];
  try {
    const first = await bench.start({ ...parts(bench.clock), size: { min: 1, max: 1 } });
    await first.pool.pause();
    const poison = await first.pool.enqueue({ lane: "high", payload: 60_000 });
    await first.pool.resume();
    await bench.settle();
    // The first holder dies at once; each that takes over dies too.
    const clocks = [bench.clock, new VirtualClock(), new VirtualClock(), new VirtualClock()];
    dead.push(first);
    for (const clock of clocks.slice(1)) {
      const next = await bench.start(parts(clock), { clock });
      await bench.advance(3000, { frozen: dead });
      dead.push(next);
    }

    const survivor = dead.at(-1)!;
    const record = await survivor.pool.find(poison.id);
    assert.deepEqual([record?.state, record?.reason, record?.attempt], ["dead", "attempts", 3]);
    const attempts = bench.referee.events.flatMap((event) =>
      event.kind === "job-started" ? [event.attempt] : []
    );
    assert.deepEqual(attempts, [1, 2, 3]);
    assert.equal((await poison.done).state, "dead");
  } finally {
    await bench.stop();
  }
});

// E2
Deno.test("a job whose handler never ends is dead after its attempts, and its slots come back", async () => {
  const bench = new Bench();
  const wake: (() => void)[] = [];
  const handler = (job: Job): unknown =>
    job.payload === "poison" ? new Promise<void>((resolve) => wake.push(resolve)) : "ok";
  const lanes = [{ name: "high", attempts: ATTEMPTS, backoff: { baseMs: 10 } }];
  const parts = { handler, lanes, timeoutMs: 100, size: { min: 1, max: 6 } };
  await withCase(parts, async ({ pool }) => {
    const poison = await pool.enqueue({ lane: "high", payload: "poison" });
    await bench.advance(10_000, { stepMs: 50 });

    assert.deepEqual(await poison.done, {
      state: "dead",
      reason: "attempts",
      error: "The job ran longer than timeoutMs (100)",
    });
    assert.equal(wake.length, ATTEMPTS);
    const good = await pool.enqueue({ lane: "high", payload: "good" });
    await bench.advance(100);
    assert.equal((await good.done).state, "done");
    wake.forEach((end) => end());
    await bench.advance(100);
    assert.ok(pool.snapshot().workers.every(({ state }) => state === "idle"));
    await bench.referee.account(pool, [poison, good]);
  }, { bench });
});

// E2
Deno.test("a cancel works in any state", async () => {
  const bench = new Bench();
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
  await withCase({ handler, lanes, size: { min: 3, max: 3 } }, async ({ pool }) => {
    const states = {
      heeds: await pool.enqueue({ lane: "high", payload: "heeds", key: "k" }),
      deaf: await pool.enqueue({ lane: "high", payload: "deaf" }),
      blocked: await pool.enqueue({ lane: "high", payload: "heeds", key: "k" }),
      retried: await pool.enqueue({ lane: "high", payload: "throws" }),
      delayed: await pool.enqueue({ lane: "high", payload: "heeds", delayMs: 1000 }),
      paused: await pool.enqueue({ lane: "low", payload: "heeds" }),
    };
    await bench.advance(50);
    const ready: JobHandle[] = [];
    for (let index = 0; index < 3; index++) {
      ready.push(await pool.enqueue({ lane: "high", payload: "heeds" }));
    }
    await bench.advance(10);

    const jobs = [...Object.values(states), ...ready];
    for (const job of jobs.toReversed()) {
      assert.equal((await pool.change(job.id, "cancel")).ok, true);
    }
    await bench.advance(2000);
    for (const job of jobs) assert.equal((await job.done).state, "cancelled");
    await bench.referee.account(pool, jobs);
    const { lanes: views } = pool.snapshot();
    for (const { ready, blocked, delayed, running } of views) {
      assert.deepEqual([ready, blocked, delayed, running], [0, 0, 0, 0]);
    }
    wake.forEach((end) => end());
    const after = await pool.enqueue({ lane: "high", payload: "throws", key: "k" });
    await bench.advance(10);
    assert.equal((await pool.find(after.id))?.state, "delayed"); // its key is free again
  }, { bench });
});

// E2
Deno.test("a job whose holder is dead is cancelled, not run again", async () => {
  const bench = new Bench();
  const parts = { leaseMs: 1000, size: { min: 1, max: 1 } };
  const own = new VirtualClock();
  try {
    const handler = sleeper(() => own, 60_000);
    const dying = await bench.start({ ...parts, handler }, { clock: own });
    const job = await dying.pool.enqueue({ lane: "high", payload: 60_000 });
    await dying.clock.settle();
    const { pool } = await bench.start({ ...parts, handler: () => "ran" });
    assert.equal((await pool.change(job.id, "cancel")).ok, true);
    await bench.advance(5000, { frozen: [dying] });

    assert.equal((await pool.find(job.id))?.state, "cancelled");
    await bench.referee.account(pool, [job]);
  } finally {
    await bench.stop();
  }
});

for (const how of ["throw", "reject"] as const) {
  // E4
  Deno.test(`a drain carries the last ends to a store that fails (${how}) for a while`, async () => {
    const store = new FaultyStore();
    const bench = new Bench(store);
    await withCase({ handler: sleeper(() => bench.clock, 100) }, async ({ pool }) => {
      const job = await pool.enqueue({ lane: "high", payload: 100 });
      await bench.advance(50);
      store.fault = (call) => call === "settle" ? how : undefined;
      const draining = pool.drain();
      await bench.advance(2000);
      assert.equal((await pool.find(job.id))?.state, "running");
      store.fault = () => undefined;
      await bench.advance(5000);

      const report = await draining;
      assert.deepEqual([report.handedBack, report.stuck], [[], []]);
      assert.equal((await pool.find(job.id))?.state, "done");
      await bench.referee.account(pool, [job]);
    }, { bench });
  });
}

for (const kind of ["memory", "asynchronous"] as const) {
  // E4
  Deno.test(`a drain keeps the leases of what it waits for, beside another holder (${kind} store)`, async () => {
    const store = new FaultyStore();
    const bench = new Bench(kind === "memory" ? undefined : store);
    store.after = bench.clock;
    store.latencyMs = 5;
    const parts = {
      handler: sleeper(() => bench.clock, 2500),
      leaseMs: 1000,
      drainMs: 30_000,
      size: { min: 2, max: 2 },
    };
    try {
      const leaving = await bench.start(parts);
      const adding = [1, 2].map(() => leaving.pool.enqueue({ lane: "high", payload: 2500 }));
      await bench.advance(100);
      const jobs = await Promise.all(adding);
      const draining = leaving.pool.drain();
      await bench.advance(100);
      const other = await bench.start(parts); // joins while the drain is under way
      await bench.advance(4000);

      const report = await draining;
      assert.deepEqual([report.handedBack, report.stuck], [[], []]);
      const kinds = bench.referee.events.map(({ kind }) => kind);
      assert.equal(kinds.filter((kind) => kind === "job-started").length, 2);
      assert.equal(kinds.filter((kind) => kind === "job-done").length, 2);
      assert.equal(kinds.includes("jobs-reaped") || kinds.includes("lease-lost"), false);
      await bench.referee.account(other.pool, jobs);
    } finally {
      await bench.stop();
    }
  });

  // E6
  Deno.test(`a job that a stop interrupts is back at once, uncharged, for the next holder (${kind} store)`, async () => {
    const store = new FaultyStore();
    const bench = new Bench(kind === "memory" ? undefined : store);
    store.after = bench.clock;
    store.latencyMs = 5;
    const parts = {
      handler: sleeper(() => bench.clock, 20_000),
      lanes: [{ name: "high", attempts: 1 }],
      drainMs: 5000,
      timeoutMs: 60_000,
      size: { min: 1, max: 1 },
    };
    try {
      const first = await bench.start(parts);
      const adding = first.pool.enqueue({ lane: "high", payload: 20_000 });
      await bench.advance(1000);
      const job = await adding;
      const next = await bench.start(parts);
      const stopping = first.sluice.stop();
      await bench.advance(4900);
      assert.equal((await next.pool.find(job.id))?.attempt, 1);
      await bench.advance(200);
      assert.deepEqual((await stopping).handedBack, [job.id]);
      await bench.advance(200);

      const starts = bench.referee.events.flatMap((event) =>
        event.kind === "job-started" ? [[event.attempt, event.atMs]] : []
      );
      assert.deepEqual(starts.map(([attempt]) => attempt), [1, 1]);
      const back = bench.referee.events.find(({ kind }) => kind === "job-handed-back")!;
      assert.ok(starts[1]![1]! - back.atMs <= 100);
      await bench.advance(21_000, { stepMs: 100 });
      assert.equal((await next.pool.find(job.id))?.state, "done");
      await bench.referee.account(next.pool, [job]);
    } finally {
      await bench.stop();
    }
  });
}

// E8
for (const aheadMs of [40_000, -40_000]) {
  Deno.test(`clocks ${aheadMs} ms apart take no job from a holder that lives`, async () => {
    const bench = new Bench();
    const other = new VirtualClock(bench.clock.nowMs() + aheadMs);
    const parts = (clock: VirtualClock) => ({
      handler: sleeper(() => clock, 45_000),
      leaseMs: 30_000,
      size: { min: 2, max: 2 },
      tickMs: 500,
    });
    try {
      const { pool } = await bench.start(parts(bench.clock));
      await bench.start(parts(other), { clock: other });
      const jobs: JobHandle[] = [];
      for (let index = 0; index < 12; index++) {
        jobs.push(await pool.enqueue({ lane: "high", payload: 45_000 }));
      }
      await bench.advance(200_000, { stepMs: 500 });

      const kinds = bench.referee.events.map(({ kind }) => kind);
      assert.equal(kinds.filter((kind) => kind === "job-started").length, 12);
      assert.equal(kinds.filter((kind) => kind === "job-done").length, 12);
      assert.equal(kinds.includes("jobs-reaped") || kinds.includes("lease-lost"), false);
      await bench.referee.account(pool, jobs);
      for (const { seat } of bench.processes) assert.equal(seat.running.size, 0);
    } finally {
      await bench.stop();
    }
  });
}
