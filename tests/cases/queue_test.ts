import assert from "node:assert/strict";
import * as v from "valibot";
import { RejectedError } from "../../src/contract/errors.ts";
import type { Job, JobContext } from "../../src/contract/job.ts";
import { defineHandler } from "../../src/contract/plugin.ts";
import type { JobHandle } from "../../src/runtime/handles.ts";
import { sleeper } from "../_virtual.ts";
import { Bench, withCase } from "./_bench.ts";

// F2
Deno.test("a retry and a new job of one unique key: the new one is a duplicate, and the lane goes on", async () => {
  const bench = new Bench();
  const handler = (job: Job): string => {
    if (job.payload === "fails once" && job.attempt === 1) throw new Error("down");
    return String(job.payload);
  };
  const lanes = [{ name: "high", backoff: { baseMs: 1000, jitter: 0 } }];
  await withCase({ handler, lanes }, async ({ pool }) => {
    const dedupeKey = "k";
    const first = await pool.enqueue({ lane: "high", payload: "fails once", dedupeKey });
    const queued = await pool.enqueue({ lane: "high", payload: "second", dedupeKey });
    await bench.advance(100);
    const whileRetrying = await pool.enqueue({ lane: "high", payload: "third", dedupeKey });
    const later = await pool.enqueue({ lane: "high", payload: "fourth", dedupeKey, delayMs: 500 });
    const others: JobHandle[] = [];
    for (let index = 0; index < 20; index++) {
      others.push(
        await pool.enqueue({ lane: "high", payload: index, dedupeKey: `other ${index}` }),
      );
    }
    await bench.advance(100);

    for (const job of others) assert.equal((await job.done).state, "done");
    for (const job of [queued, whileRetrying, later]) {
      assert.deepEqual([job.duplicate, job.id], [true, first.id]);
    }
    await bench.advance(1000);
    assert.deepEqual(await later.done, { state: "done", result: "fails once" });
    const after = await pool.enqueue({ lane: "high", payload: "fifth", dedupeKey });
    await bench.advance(10);
    assert.deepEqual(await after.done, { state: "done", result: "fifth" });
    await bench.referee.account(pool, [first, after, ...others]);
  }, { bench });
});

// F2
Deno.test("a retry and a queued job of one serial key run one after the other", async () => {
  const bench = new Bench();
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
  await withCase({ handler, lanes, size: { min: 4, max: 4 } }, async ({ pool }) => {
    const jobs: JobHandle[] = [];
    for (const payload of ["A", "B", "C", "D"]) {
      jobs.push(await pool.enqueue({ lane: "high", payload, key: "k" }));
    }
    await bench.advance(2000);

    for (const job of jobs) assert.equal((await job.done).state, "done");
    assert.deepEqual(order, ["A 1", "B 1", "C 1", "D 1", "A 2", "A 3"]);
    await bench.referee.account(pool, jobs);
  }, { bench });
});

const HOUR_MS = 3_600_000;

for (const bounded of ["maxDepth", "deadlineMs", "ttlMs"] as const) {
  // F5
  Deno.test(`twice what a pool can do for an hour is refused with a time to come back, and forgotten soon (${bounded})`, async () => {
    const bench = new Bench();
    const bounds = { maxDepth: 40, deadlineMs: 8000, ttlMs: 8000 };
    const lanes = [{ name: "high", targetWaitMs: 5000, [bounded]: bounds[bounded] }];
    const parts = {
      handler: sleeper(() => bench.clock, 1000),
      lanes,
      size: { min: 4, max: 4 },
      controller: { use: "fixed", with: { workers: 4 } }, // an hour of plans is not the point
      tickMs: 500,
      ...(bounded === "ttlMs" ? { admission: "admit-all" } as const : {}),
    };
    await withCase(parts, async ({ pool }) => {
      const jobs: JobHandle[] = [];
      let refused = 0;
      let deepest = 0;
      for (let second = 0; second < HOUR_MS / 1000; second++) {
        for (let index = 0; index < 8; index++) {
          try {
            jobs.push(await pool.enqueue({ lane: "high", payload: 1000 }));
          } catch (thrown) {
            assert.ok(thrown instanceof RejectedError && thrown.retryAfterMs > 0);
            refused++;
          }
        }
        await bench.advance(1000, { stepMs: 1000 });
        deepest = Math.max(deepest, pool.snapshot().lanes[0]!.ready);
      }
      const { totals } = pool.snapshot();
      assert.ok(totals.completions > 0.9 * 4 * 3600, `${totals.completions}`); // busy to the end
      assert.ok(deepest <= 80, `${deepest} deep`);
      if (bounded === "ttlMs") assert.ok(jobs.length - totals.completions > 10_000);
      else assert.ok(refused > 10_000, `${refused}`);
      assert.equal(pool.snapshot().target, 4);

      await bench.advance(15_000, { stepMs: 500 }); // the load is over
      const lane = pool.snapshot().lanes[0]!;
      assert.deepEqual([lane.ready, lane.oldestWaitMs, lane.running], [0, 0, 0]);
      const after = await pool.enqueue({ lane: "high", payload: 10 });
      await bench.advance(20);
      assert.equal((await after.done).state, "done");
      await bench.referee.account(pool, jobs);
    }, { bench });
  });
}

// F7
Deno.test("what no store could keep is refused at the enqueue, by name, and nothing is stored", async () => {
  const payload = v.strictObject({ to: v.string() });
  const handler = defineHandler({ payload, run: ({ payload: { to } }) => to });
  const cycle: Record<string, unknown> = { to: "a" };
  cycle.self = cycle;
  await withCase({ handler }, async ({ pool }, bench) => {
    const good = { lane: "high", payload: { to: "a" } };
    const faults: readonly (readonly [object, RegExp])[] = [
      [{ payload: { to: 7 } }, /does not fit its handler: to: .*Expected string but received 7/],
      [{ payload: { to: "a", cc: "b" } }, /does not fit its handler: .*cc/],
      [{ payload: cycle }, /nested deeper than 100; is there a cycle\?/],
      [{ payload: { to: NaN } }, /at \/to cannot be stored: it is NaN/],
      [{ payload: new Map() }, /an object of class Map/],
      [
        { key: "k".repeat(1025) },
        /Expected key to be a text of 1 to 1024 characters but received 1025/,
      ],
      [{ key: "" }, /Expected key to be a text of 1 to 1024 characters/],
      [
        { dedupeKey: "k".repeat(2048) },
        /Expected dedupeKey .* 1 to 1024 characters but received 2048/,
      ],
      [{ delayMs: -1 }, /Expected delayMs >= 0 ms but received -1/],
      [{ ttlMs: NaN }, /Expected ttlMs >= 0 ms but received NaN/],
      [{ lane: "hihg" }, /No lane of pool "p" is named "hihg": did you mean "high"\?/],
    ];
    for (const [parts, message] of faults) {
      await assert.rejects(pool.enqueue({ ...good, ...parts }), message);
    }
    assert.equal((await pool.list({ limit: 9 })).jobs.length, 0);
    assert.equal(bench.referee.events.some(({ kind }) => kind === "job-added"), false);
    const answers = await pool.enqueueAll([{ ...good, payload: { to: 7 } }, good]);
    await bench.advance(10);
    assert.ok(answers[0] instanceof TypeError);
    await bench.referee.account(pool, [answers[1] as JobHandle]); // this one was good
  });
});

// F7
Deno.test("a job whose payload a newer handler does not take is dead at once, without a retry", async () => {
  const bench = new Bench();
  const older = defineHandler({ payload: v.strictObject({ to: v.string() }), run: () => "old" });
  const newer = defineHandler({
    payload: v.strictObject({ to: v.array(v.string()) }),
    run: () => "new",
  });
  try {
    const before = await bench.start({ handler: older });
    await before.pool.pause();
    const stale = await before.pool.enqueue({ lane: "high", payload: { to: "a" } });
    const { pool } = await bench.start({ handler: newer });
    const draining = before.pool.drain();
    await bench.advance(100);
    await draining;
    const good = await pool.enqueue({ lane: "high", payload: { to: ["a"] } });
    await pool.resume();
    await bench.advance(100);

    const record = await pool.find(stale.id);
    assert.deepEqual([record?.state, record?.reason, record?.attempt], ["dead", "payload", 1]);
    assert.match(record?.error ?? "", /does not fit its handler: to: .*Expected Array/);
    assert.deepEqual(await good.done, { state: "done", result: "new" });
    await bench.referee.account(pool, [stale, good]);
  } finally {
    await bench.stop();
  }
});
