import assert from "node:assert/strict";
import { RetryLater } from "../../src/contract/errors.ts";
import type { Job } from "../../src/contract/job.ts";
import type { JobHandle } from "../../src/runtime/handles.ts";
import { defineHandler } from "../../src/contract/plugin.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { sleeper } from "../_virtual.ts";
import { Bench, FaultyStore, withCase } from "./_bench.ts";

const HOUR_MS = 3_600_000;

const CONTROLLERS = [
  "age-scaler",
  { use: "age-scaler", with: { rule: "step" } },
  { use: "depth-scaler", with: { growAbove: 5 } },
  "littles-law",
] as const;

for (const controller of CONTROLLERS) {
  const name = typeof controller === "string" ? controller : JSON.stringify(controller.with);

  // A1
  Deno.test(`a job that is due later is no backlog, for ${name}`, async () => {
    const bench = new Bench();
    const handler = ({ payload }: Job): string => {
      if (payload === "later") throw new RetryLater(10 * HOUR_MS, "closed until morning");
      if (payload === "fails") throw new Error("down");
      return "ok";
    };
    const backoff = { baseMs: 10 * HOUR_MS, maxMs: 10 * HOUR_MS, jitter: 0 };
    const lanes = [{ name: "high", backoff, attempts: 2 }];
    await withCase({ handler, lanes, controller, size: { min: 1, max: 20 } }, async ({ pool }) => {
      const jobs: JobHandle[] = [];
      jobs.push(await pool.enqueue({ lane: "high", payload: "ok", delayMs: 10 * HOUR_MS }));
      for (const payload of ["later", "fails"]) {
        jobs.push(await pool.enqueue({ lane: "high", payload }));
      }
      await bench.advance(1000);

      for (let hour = 0; hour < 9; hour++) {
        await bench.advance(HOUR_MS, { stepMs: HOUR_MS / 4 });
        const { lanes: [lane], target, live } = pool.snapshot();
        assert.deepEqual([lane?.ready, lane?.delayed, lane?.oldestWaitMs], [0, 3, 0]);
        assert.deepEqual([target, live], [1, 1]);
      }
      const rawAgeMs = bench.clock.nowMs() - (await pool.find(jobs[1]!.id))!.createdAtMs;
      assert.ok(rawAgeMs >= 9 * HOUR_MS);
      await pool.change(jobs[1]!.id, "cancel");
      await bench.advance(HOUR_MS * 2, { stepMs: HOUR_MS });
      await bench.referee.account(pool, jobs);
      assert.ok((pool.snapshot().lanes[0]!.window.waitMs?.p99 ?? 0) < 1);
    }, { bench });
  });

  // A2
  Deno.test(`jobs that their key holds back start no worker, for ${name}`, async () => {
    const bench = new Bench();
    const parts = {
      handler: sleeper(() => bench.clock, 200),
      controller,
      size: { min: 1, max: 50 },
      lanes: [{ name: "high", maxRunningPerKey: 1 }],
    };
    await withCase(parts, async ({ pool }) => {
      const given = { lane: "high", payload: 200, key: "k" };
      const jobs = await pool.enqueueAll(Array.from({ length: 500 }, () => given));
      await bench.advance(5000, { stepMs: 50 });

      const { lanes: [lane], target } = pool.snapshot();
      assert.ok(target <= 2, `${target}`);
      assert.equal(lane?.running, 1);
      assert.ok(lane.blocked > 400 && lane.oldestWaitMs < 1);
      assert.equal(jobs.every((job) => !(job instanceof Error)), true);
      await bench.advance(120_000, { stepMs: 500 });
      await bench.referee.account(pool, jobs as JobHandle[]); // none was refused, as just said
    }, { bench });
  });
}

// A2
Deno.test("a decision says that jobs are blocked which no worker could run", async () => {
  const bench = new Bench();
  const parts = {
    handler: sleeper(() => bench.clock, 200),
    size: { min: 1, max: 50 },
    lanes: [{ name: "high", maxRunningPerKey: 1 }],
  };
  try {
    const { pool } = await bench.start(parts);
    for (let index = 0; index < 500; index++) pool.post({ lane: "high", payload: 200, key: "k" });
    await bench.settle();
    const other = await bench.start(parts);
    await bench.advance(1000);

    const { sentence, inputs, to } = other.pool.snapshot().decision!;
    assert.deepEqual([to, inputs.ready, inputs.blocked], [1, 0, 499]);
    assert.match(sentence, /499 blocked that no worker could run: hold 1/);
  } finally {
    await bench.stop();
  }
});

// A1
Deno.test("a pause ages no job: an hour of it is no backlog once it ends", async () => {
  const bench = new Bench();
  const parts = { handler: sleeper(() => bench.clock, 100), size: { min: 1, max: 50 } };
  await withCase({ ...parts, admission: "admit-all" }, async ({ pool }) => {
    await pool.pause("low");
    for (let index = 0; index < 20; index++) pool.post({ lane: "low", payload: 100 });
    await bench.advance(HOUR_MS, { stepMs: HOUR_MS / 4 });
    assert.equal(pool.snapshot().target, 1);

    await pool.resume("low");
    await bench.advance(10, { stepMs: 10 });
    const { lanes: [, lane] } = pool.snapshot();
    assert.ok(lane!.ready > 0 && lane!.oldestWaitMs <= 10, `${lane!.oldestWaitMs}`);
    await bench.advance(5000, { stepMs: 100 });
    assert.ok(
      bench.referee.events.every((event) => event.kind !== "job-started" || event.waitMs < 5000),
    );
    assert.equal(pool.snapshot().totals.completions, 20);
  }, { bench });
});

// A5
for (const how of ["throw", "reject"] as const) {
  Deno.test(`counts that cannot be read (${how}) leave the size alone, stale, and lose nothing`, async () => {
    const store = new FaultyStore();
    const bench = new Bench(store);
    const parts = { handler: sleeper(() => bench.clock, 1000), size: { min: 1, max: 12 } };
    await withCase(parts, async ({ pool }) => {
      const given = { lane: "low", payload: 1000 };
      const jobs = await pool.enqueueAll(Array.from({ length: 1000 }, () => given));
      await bench.advance(2000);
      const before = pool.snapshot();
      assert.equal(before.live, 12);

      store.fault = (call) => call === "count" ? how : undefined;
      let stale = 0;
      for (let second = 0; second < 120; second++) {
        await bench.advance(1000, { stepMs: 100 });
        const { target, live } = pool.snapshot();
        assert.deepEqual([target, live], [12, 12]);
        if (pool.snapshot().stale) stale++;
      }
      assert.equal(stale, 120);
      const failed = bench.referee.events.filter(({ kind }) => kind === "store-failed");
      assert.equal(failed.length, 1);

      store.fault = () => undefined;
      await bench.advance(120_000, { stepMs: 500 });
      assert.equal(pool.snapshot().stale, false);
      await bench.referee.account(pool, jobs as JobHandle[]); // nothing refuses them
    }, { bench });
  });

  Deno.test(`a pool at no worker whose counts could not be read (${how}) starts soon after they can`, async () => {
    const store = new FaultyStore();
    store.fault = (call) => call === "count" ? how : undefined;
    const bench = new Bench(store);
    const parts = { handler: sleeper(() => bench.clock, 100), size: { min: 0, max: 4 } };
    await withCase(parts, async ({ pool }) => {
      const given = { lane: "low", payload: 100 };
      const jobs = await pool.enqueueAll(Array.from({ length: 100 }, () => given));
      await bench.advance(120_000, { stepMs: 100 });
      assert.equal(pool.snapshot().stale, true);

      store.fault = () => undefined;
      await bench.advance(10_000); // the longest pause with its jitter
      assert.ok(pool.snapshot().totals.starts > 0);
      await bench.advance(10_000);
      await bench.referee.account(pool, jobs as JobHandle[]); // nothing refuses them
    }, { bench });
  });
}

// A7
Deno.test("workers that take three ticks to start are never started twice, under any controller", async () => {
  for (const controller of CONTROLLERS) {
    const bench = new Bench();
    let open = 0;
    let most = 0;
    const handler = defineHandler({
      start: () => {
        most = Math.max(most, ++open);
        return new Promise<number>((resolve) =>
          bench.clock.at(bench.clock.nowMs() + 150, () => resolve(1))
        );
      },
      run: () => new Promise<void>((resolve) => bench.clock.at(bench.clock.nowMs() + 20, resolve)),
      stop: () => void open--,
    });
    const caps = [{ use: "fixed-cap", with: { workers: 9 } }] as const;
    await withCase({ handler, controller, caps, size: { min: 2, max: 30 } }, async ({ pool }) => {
      const given = { lane: "high", payload: 1 };
      const jobs = await pool.enqueueAll(Array.from({ length: 100 }, () => given));
      for (let step = 0; step < 200; step++) {
        await bench.advance(10);
        const { workers, target } = pool.snapshot();
        const staying = workers.filter(({ state }) => state !== "retiring" && state !== "stuck");
        assert.ok(staying.length <= Math.max(2, target), `${staying.length} of ${target}`);
      }

      assert.ok(most > 2 && most <= 9, `${most}`);
      await bench.referee.account(pool, jobs as JobHandle[]); // nothing refuses them
    }, { bench, cap: 9 });
  }
});

// A1, B2
Deno.test("a pool that starts on delayed jobs alone stays at its minimum", async () => {
  const clock = new VirtualClock();
  const bench = new Bench();
  await withCase({ size: { min: 0, max: 9 } }, async ({ pool }) => {
    await pool.enqueueAll(
      Array.from({ length: 50 }, () => ({ lane: "low", payload: 1, delayMs: 60_000 })),
    );
    for (let step = 0; step < 59; step++) {
      await bench.advance(1000, { stepMs: 250 });
      assert.equal(pool.snapshot().workers.length, 0);
    }
    await bench.advance(3000);

    assert.equal(pool.snapshot().totals.completions, 50);
  }, { bench, clock: bench.clock });
  assert.equal(clock.nextAtMs(), undefined);
});
