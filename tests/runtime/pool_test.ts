import assert from "node:assert/strict";
import { Fatal, RejectedError, RetryLater } from "../../src/contract/errors.ts";
import { type Job, type JobContext, LONGEST_DELAY_MS } from "../../src/contract/job.ts";
import type { JobHandle } from "../../src/runtime/handles.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { sleeper, withPool } from "../_virtual.ts";

Deno.test("Pool runs a posted job and tells how it ended", async () => {
  await withPool({ handler: (job: Job) => `did ${job.payload}` }, async ({ pool, clock }) => {
    const job = await pool.enqueue({ lane: "high", payload: "it" });
    await clock.settle();

    assert.deepEqual(await job.done, { state: "done", result: "did it" });
    assert.equal((await pool.find(job.id))?.state, "done");
  });
});

Deno.test("Pool starts at its minimum before any job", async () => {
  await withPool({ size: { min: 3, max: 9 } }, async ({ pool, clock }) => {
    await clock.settle();

    assert.equal(pool.snapshot().live, 3);
  });
});

Deno.test("Pool retries with back-off, then the job is dead with its error", async () => {
  const starts: number[] = [];
  const clock = new VirtualClock();
  const lanes = [{ name: "high", attempts: 3, backoff: { baseMs: 100, maxMs: 1000, jitter: 0 } }];
  const handler = (job: Job): never => {
    starts.push(clock.nowMs());
    throw new Error(`failed ${job.attempt}`);
  };
  await withPool({ handler, lanes }, async ({ pool }) => {
    const job = await pool.enqueue({ lane: "high", payload: 1 });
    await clock.advance(1000);

    assert.deepEqual(starts.map((at) => at - starts[0]!), [0, 100, 300]);
    assert.deepEqual(await job.done, { state: "dead", reason: "attempts", error: "failed 3" });
  }, { clock });
});

Deno.test("Pool ends a job at once on Fatal", async () => {
  const handler = (): never => {
    throw new Fatal("no such address");
  };
  await withPool({ handler }, async ({ pool, clock }) => {
    const job = await pool.enqueue({ lane: "low", payload: 1 });
    await clock.settle();

    const outcome = await job.done;
    assert.deepEqual(outcome, { state: "dead", reason: "fatal", error: "no such address" });
  });
});

Deno.test("Pool keeps the message of a handler that throws a string", async () => {
  const handler = (): never => {
    throw "plain words";
  };
  const lanes = [{ name: "high", attempts: 1 }];
  await withPool({ handler, lanes }, async ({ pool, clock }) => {
    const job = await pool.enqueue({ lane: "high", payload: 1 });
    await clock.settle();

    assert.equal((await job.done).error, "plain words");
  });
});

// C12
Deno.test("Pool spreads retries asked for by RetryLater, never before the time, uncharged", async () => {
  const starts: { readonly atMs: number; readonly attempt: number }[] = [];
  const clock = new VirtualClock();
  const began = clock.nowMs();
  const handler = (job: Job): void => {
    starts.push({ atMs: clock.nowMs() - began, attempt: job.attempt });
    if (clock.nowMs() - began < 60_000) throw new RetryLater(60_000, "429");
  };
  await withPool({ handler, size: { min: 30, max: 30 } }, async ({ pool }) => {
    for (let index = 0; index < 30; index++) pool.post({ lane: "high", payload: index });
    await clock.advance(59_999);
    assert.equal(starts.length, 30);
    await clock.advance(60_000);

    const again = starts.slice(30);
    assert.equal(again.length, 30);
    assert.ok(again.every(({ atMs, attempt }) => atMs >= 60_000 && attempt === 1));
    assert.ok(new Set(again.map(({ atMs }) => atMs)).size > 20);
    assert.equal(pool.snapshot().totals.deferrals, 30);
    assert.equal(pool.snapshot().totals.failures, 0);
  }, { clock });
});

Deno.test("RetryLater takes at most 100 years, and Pool holds one of another copy to that", async () => {
  const clock = new VirtualClock();
  const message = (ms: number) =>
    `Expected RetryLater ms to be at most 3153600000000 ms (100 years) but received ${ms}`;
  const handler = ({ payload }: Job): never => {
    throw Object.assign(new Error("of another copy"), { name: "RetryLater", ms: payload });
  };
  const lanes = [{ name: "high", attempts: 1, backoff: { jitter: 0 } }];

  assert.throws(() => new RetryLater(2 ** 53), { name: "RangeError", message: message(2 ** 53) });
  assert.throws(() => new RetryLater(Infinity), { message: message(Infinity) });
  assert.throws(() => new RetryLater(NaN), {
    message: "Expected RetryLater ms >= 0 but received NaN",
  });
  await withPool({ handler, lanes }, async ({ pool }) => {
    const long = await pool.enqueue({ lane: "high", payload: 2 ** 53 });
    const odd = await pool.enqueue({ lane: "high", payload: -1 });
    await clock.settle();

    assert.equal((await pool.find(long.id))?.dueAtMs, clock.nowMs() + LONGEST_DELAY_MS);
    assert.equal((await odd.done).reason, "attempts");
  }, { clock });
});

Deno.test("Pool aborts a handler at its time limit, and says so", async () => {
  const clock = new VirtualClock();
  const lanes = [{ name: "high", attempts: 1 }];
  const handler = sleeper(() => clock, 10_000);
  await withPool({ handler, lanes, timeoutMs: 500 }, async ({ pool }) => {
    const job = await pool.enqueue({ lane: "high", payload: null });
    await clock.advance(500);

    assert.deepEqual(await job.done, {
      state: "dead",
      reason: "attempts",
      error: "The job ran longer than timeoutMs (500)",
    });
    assert.equal(pool.snapshot().workers.some((worker) => worker.state === "stuck"), false);
  }, { clock });
});

Deno.test("Pool marks the worker of a handler that ignores its abort stuck, and replaces it below the cap only", async () => {
  const clock = new VirtualClock();
  const ends: (() => void)[] = [];
  const handler = (): Promise<void> => new Promise((resolve) => ends.push(resolve));
  const lanes = [{ name: "high", attempts: 1 }];
  const caps = [{ use: "fixed-cap", with: { workers: 2 } }] as const;
  await withPool(
    { handler, lanes, caps, timeoutMs: 100, size: { min: 2, max: 4 } },
    async ({ pool, events }) => {
      for (let index = 0; index < 4; index++) pool.post({ lane: "high", payload: index });
      await clock.advance(5000);

      const states = pool.snapshot().workers.map((worker) => worker.state);
      assert.deepEqual(states, ["stuck", "stuck"]);
      assert.equal(ends.length, 2);
      assert.equal(events.filter((event) => event.kind === "worker-stuck").length, 2);

      ends.forEach((end) => end());
      await clock.advance(200);
      assert.equal(ends.length, 4);
      ends.forEach((end) => end());
      await clock.advance(100);
      assert.equal(pool.snapshot().live, 2);
    },
    { clock },
  );
});

Deno.test("Pool cancels a job in each state", async () => {
  const clock = new VirtualClock();
  await withPool(
    { handler: sleeper(() => clock, 1000), size: { min: 1, max: 1 } },
    async ({ pool }) => {
      const running = await pool.enqueue({ lane: "high", payload: null });
      const waiting = await pool.enqueue({ lane: "high", payload: null });
      const delayed = await pool.enqueue({ lane: "high", payload: null, delayMs: 60_000 });
      await clock.advance(10);

      for (const job of [running, waiting, delayed]) {
        assert.equal((await pool.change(job.id, "cancel")).ok, true);
        await clock.settle();
        assert.equal((await job.done).state, "cancelled");
      }
      assert.equal((await pool.change(running.id, "cancel")).ok, false);
    },
    { clock },
  );
});

Deno.test("Pool holds maxDepth, with a time to come back", async () => {
  const lanes = [{ name: "high", maxDepth: 2, paused: true }];
  await withPool({ lanes }, async ({ pool }) => {
    const answers = await pool.enqueueAll([1, 2, 3].map((payload) => ({ lane: "high", payload })));

    assert.ok(answers[2] instanceof RejectedError);
    assert.equal(answers[2].reason, 'lane "high" is at its maxDepth of 2');
    assert.ok(answers[2].retryAfterMs > 0);
    assert.throws(() => pool.post({ lane: "high", payload: 4 }), RejectedError);
  });
});

Deno.test("Pool holds maxRunning of a lane while others go on", async () => {
  const clock = new VirtualClock();
  const lanes = [{ name: "high", maxRunning: 1 }, { name: "low" }];
  const parts = {
    handler: sleeper(() => clock, 100),
    lanes,
    size: { min: 4, max: 4 },
    lanePolicy: "strict-priority",
  } as const;
  await withPool(parts, async ({ pool }) => {
    for (let index = 0; index < 3; index++) {
      pool.post({ lane: "high", payload: null });
      pool.post({ lane: "low", payload: null });
    }
    await clock.settle();

    assert.deepEqual(pool.snapshot().lanes.map((lane) => lane.running), [1, 3]);
  }, { clock });
});

Deno.test("Pool runs a job after a delay beyond what a platform timer takes", async () => {
  await withPool({}, async ({ pool, clock }) => {
    const delayMs = 2 ** 31 + 5000;
    const job = await pool.enqueue({ lane: "low", payload: 1, delayMs });
    await clock.advance(delayMs - 1);
    assert.equal((await pool.find(job.id))?.state, "delayed");
    await clock.advance(1);

    assert.equal((await job.done).state, "done");
  });
});

Deno.test("Pool starts nothing of a paused lane, and its age does not count the pause", async () => {
  await withPool({}, async ({ pool, clock }) => {
    await pool.pause("low");
    pool.post({ lane: "low", payload: 1 });
    await clock.advance(10_000);
    const paused = pool.snapshot().lanes[1]!;
    assert.deepEqual([paused.ready, paused.blocked, paused.oldestWaitMs], [1, 0, 0]);
    for (const [state, count] of [["ready", 1], ["blocked", 0]] as const) { // as they are listed
      assert.equal((await pool.list({ state, limit: 9 })).jobs.length, count);
    }
    assert.equal(pool.snapshot().readyOlderThan(0), 0);
    assert.equal(pool.snapshot().target, 1);

    await pool.resume("low");
    await clock.settle();
    assert.equal(pool.snapshot().totals.completions, 1);
    assert.ok((pool.snapshot().lanes[1]!.window.waitMs?.p99 ?? 0) < 1);
  });
});

Deno.test("Pool overrides its bounds for a while", async () => {
  await withPool({ size: { min: 1, max: 8 } }, async ({ pool, clock }) => {
    pool.override({ target: 5 }, 1000);
    await clock.advance(100);
    assert.equal(pool.snapshot().live, 5);
    assert.equal(pool.snapshot().decision?.boundBy, "override");

    await clock.advance(120_000);
    assert.equal(pool.snapshot().live, 1);
    assert.equal(pool.snapshot().override, undefined);
  });
});

Deno.test("Pool refuses an override that does not fit", async () => {
  await withPool({ size: { min: 2, max: 8 } }, async ({ pool }) => {
    const cases: readonly [Parameters<typeof pool.override>[0], number, RegExp][] = [
      [{}, 10, /Expected an override with min, max or target but received none/],
      [{ max: 9 }, 10, /override max to be a whole number from 0 to size.max \(8\) but received 9/],
      [{ min: 3.5 }, 10, /override min to be a whole number from 0 to max \(8\) but received 3.5/],
      [
        { target: 1 },
        10,
        /override target to be a whole number from 2 to max \(8\) but received 1/,
      ],
      [
        { target: 3 },
        0,
        /Expected expiresInMs > 0 and at most 604800000 \(7 days\) but received 0/,
      ],
    ];
    for (const [bounds, ms, message] of cases) {
      assert.throws(() => pool.override(bounds, ms), { name: "RangeError", message });
    }
    await Promise.resolve();
  });
});

Deno.test("Pool opens what a worker owns once, and closes it when the worker leaves", async () => {
  const log: string[] = [];
  const { defineHandler } = await import("../../src/contract/plugin.ts");
  const handler = defineHandler({
    start: (id) => (log.push(`open ${id}`), { id }),
    run: (_job, { resource }: JobContext<{ id: string }>) => resource.id,
    stop: ({ id }) => void log.push(`close ${id}`),
  });
  await withPool({ handler, size: { min: 1, max: 1 } }, async ({ pool, clock }) => {
    const jobs: JobHandle[] = [];
    for (let index = 0; index < 3; index++) {
      jobs.push(await pool.enqueue({ lane: "high", payload: index }));
    }
    await clock.advance(100);
    assert.deepEqual(await Promise.all(jobs.map(async (job) => (await job.done).result)), [
      "w1",
      "w1",
      "w1",
    ]);
  });

  assert.deepEqual(log, ["open w1", "close w1"]);
});

Deno.test("Pool starts no worker in a loop when its start fails", async () => {
  const clock = new VirtualClock();
  let opened = 0;
  const { defineHandler } = await import("../../src/contract/plugin.ts");
  const handler = defineHandler({
    start: (): undefined => {
      opened++;
      throw new Error("connection refused");
    },
    run: () => 1,
  });
  await withPool({ handler, size: { min: 1, max: 1 } }, async ({ events }) => {
    await clock.advance(10_000);

    assert.ok(opened >= 5 && opened <= 8, `${opened}`);
    const failed = events.find((event) => event.kind === "worker-failed");
    assert.equal(failed?.error, "connection refused");
  }, { clock });
});

Deno.test("Pool serves fifo across lanes, also when several workers turn free at once", async () => {
  const clock = new VirtualClock();
  const order: unknown[] = [];
  const handler = (job: Job): Promise<void> => {
    order.push(job.payload);
    return new Promise((resolve) => clock.at(clock.nowMs() + 1000, resolve));
  };
  const parts = { handler, lanePolicy: "fifo", size: { min: 6, max: 6 } } as const;
  await withPool(parts, async ({ pool }) => {
    for (let index = 0; index < 6; index++) pool.post({ lane: "high", payload: "first" });
    await clock.advance(10);
    for (let index = 0; index < 12; index++) {
      pool.post({ lane: index % 2 === 0 ? "low" : "high", payload: index });
      await clock.advance(10);
    }
    await clock.advance(1000);
  }, { clock });

  assert.deepEqual(order.slice(6, 12).sort(), [0, 1, 2, 3, 4, 5]);
});
