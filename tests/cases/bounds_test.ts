import assert from "node:assert/strict";
import { start } from "../../mod.ts";
import { ConfigError, RetryLater } from "../../src/contract/errors.ts";
import type { Job } from "../../src/contract/job.ts";
import type { JobHandle } from "../../src/runtime/handles.ts";
import { sleeper } from "../_virtual.ts";
import { Bench, FaultyStore, withCase } from "./_bench.ts";

const CONTROLLERS = ["age-scaler", "littles-law", "depth-scaler"] as const;

// B1
Deno.test("every lane has its worker from the first tick, beside a backlog that was there before", async () => {
  const bench = new Bench();
  const handler = sleeper(() => bench.clock, 5000);
  const lanes = [{ name: "a" }, { name: "b" }, { name: "c" }];
  const parts = { handler, lanes, size: { min: 3, max: 9 } };
  try {
    const before = await bench.start({ ...parts, size: { min: 0, max: 1 } });
    await before.pool.pause();
    for (let index = 0; index < 300; index++) before.pool.post({ lane: "c", payload: 5000 });
    await before.pool.resume("c");
    await before.pool.drain();
    const lanePolicy = { use: "reserved-lane", with: { reserve: { a: 1, b: 1 } } } as const;
    const { pool } = await bench.start({ ...parts, lanePolicy });
    await bench.settle();
    assert.equal(pool.snapshot().live, 3);
    await pool.resume();
    await bench.advance(12_000, { stepMs: 100 });

    for (const lane of ["b", "a"]) {
      const { live, lanes: views } = pool.snapshot();
      assert.ok(views[2]!.running > 0 && views[2]!.running <= live - 2);
      const job = await pool.enqueue({ lane, payload: 10 });
      await bench.advance(10);
      assert.equal((await job.done).state, "done");
    }
  } finally {
    await bench.stop();
  }
});

// B2
for (const controller of CONTROLLERS) {
  Deno.test(`one job at a time keeps ${controller} at the load offered, from an empty queue on`, async () => {
    const bench = new Bench();
    const handler = sleeper(() => bench.clock, 100);
    const size = { min: 1, max: 500 };
    await withCase({ handler, controller, size }, async ({ pool }) => {
      await bench.advance(1000);
      assert.deepEqual([pool.snapshot().live, pool.snapshot().target], [1, 1]);

      let peak = 0;
      for (let step = 0; step < 600; step++) {
        if (pool.snapshot().lanes[0]!.ready === 0) pool.post({ lane: "high", payload: 100 });
        await bench.advance(10);
        peak = Math.max(peak, pool.snapshot().live);
      }
      const { totals } = pool.snapshot();
      const load = totals.busyMs / 6000; // Little: mean number busy
      assert.ok(peak <= Math.max(2, load * 2 + 4), `${peak} at a load of ${load}`);
    }, { bench });
  });
}

// B5
for (const controller of CONTROLLERS) {
  for (const periodMs of [50, 1000]) {
    Deno.test(`${controller} does not follow a square wave of ${periodMs} ms up and down`, async () => {
      const bench = new Bench();
      const handler = sleeper(() => bench.clock, 20);
      await withCase({ handler, controller, size: { min: 1, max: 64 } }, async ({ pool }) => {
        for (let step = 0; step < 3000; step++) {
          const isOn = (step * 25) % periodMs < periodMs / 2;
          for (let index = 0; isOn && index < 5; index++) pool.post({ lane: "high", payload: 20 });
          await bench.advance(25, { stepMs: 25 });
        }

        const moves = bench.referee.events.flatMap((event) =>
          event.kind === "decided" && event.atMs > bench.clock.nowMs() - 60_000
            ? [Math.sign(event.decision.to - event.decision.from)]
            : []
        ).filter((move) => move !== 0);
        const reversals = moves.filter((move, index) => index > 0 && move !== moves[index - 1]);
        assert.ok(reversals.length <= 2, `${reversals.length} reversals in the last minute`);
        assert.ok(pool.snapshot().lanes[0]!.ready < 20);
      }, { bench });
    });
  }
}

// B6
Deno.test("a count that is no whole number is a fault that names the field, and nothing starts", async () => {
  const base = { handler: () => 1, size: { min: 1, max: 4 }, lanes: [{ name: "a" }] };
  const faults: readonly (readonly [object, RegExp])[] = [
    [{ size: { min: 2.5, max: 4 } }, /size\/min.*whole number.*2\.5/],
    [{ size: { min: 1, max: 4.5 } }, /size\/max.*whole number.*4\.5/],
    [{ lanes: [{ name: "a", maxRunning: 1.5 }] }, /maxRunning.*whole number.*1\.5/],
    [{ lanes: [{ name: "a", maxDepth: 0.5 }] }, /maxDepth.*whole number.*0\.5/],
    [{ lanes: [{ name: "a", attempts: 2.2 }] }, /attempts.*whole number.*2\.2/],
    [{ caps: [{ use: "fixed-cap", with: { workers: 2.5 } }] }, /caps\/0\/with\/workers/],
    [{ caps: [{ use: "db-pool-cap", with: { connections: 9.5 } }] }, /caps\/0\/with\/connections/],
    [{ controller: { use: "fixed", with: { workers: 1.5 } } }, /controller\/with\/workers/],
    [
      { lanePolicy: { use: "reserved-lane", with: { reserve: { a: 0.5 } } } },
      /lanePolicy\/with\/reserve/,
    ],
  ];
  for (const [parts, message] of faults) {
    const config = { pools: { p: { ...base, ...parts } } } as Parameters<typeof start>[0]; // has a fault
    await assert.rejects(start(config), (thrown) => {
      assert.ok(thrown instanceof ConfigError);
      assert.match(thrown.message, message);
      return true;
    });
  }
});

// B9
for (const failing of ["lease", "settle", "count", "renew"] as const) {
  for (const how of ["throw", "reject"] as const) {
    Deno.test(`a store that fails every ${failing} (${how}) is asked ever less, and told of once`, async () => {
      const store = new FaultyStore();
      const bench = new Bench(store);
      const handler = sleeper(() => bench.clock, 100);
      await withCase({ handler, size: { min: 2, max: 8 } }, async ({ pool }) => {
        await bench.start({ handler, size: { min: 1, max: 1 } }); // so that there is something to renew
        store.fault = (call) => call === failing ? how : undefined;
        const given = { lane: "high", payload: 100 };
        const jobs = await pool.enqueueAll(Array.from({ length: 1000 }, () => given));
        await bench.advance(90_000, { stepMs: 100 });

        const failures = store.calls.filter(({ failed }) => failed);
        assert.ok(failures.length > 12, `${failures.length} calls`);
        for (let from = 0; from < failures.length; from++) {
          const { atMs } = failures[from]!;
          let within = from;
          while (within < failures.length && failures[within]!.atMs < atMs + 1000) within++;
          assert.ok(within - from <= 12, `${within - from} failing calls in a second`);
        }
        const late = failures.filter(({ atMs }) => atMs > bench.clock.nowMs() - 60_000);
        assert.ok(late.length <= 2 * 13, `${late.length} calls in the last minute`);
        const gaps = new Set(late.slice(1).map(({ atMs }, index) => atMs - late[index]!.atMs));
        assert.ok(gaps.size >= late.length / 2, "no jitter");
        const told = bench.referee.events.filter(({ kind }) => kind === "store-failed");
        assert.ok(told.length >= 1 && told.length <= 2, `told ${told.length} times`); // once a process

        store.fault = () => undefined;
        await bench.advance(60_000, { stepMs: 200 });
        assert.equal(pool.snapshot().stale, false);
        await bench.referee.account(pool, jobs as JobHandle[]); // nothing refuses them
      }, { bench });
    });
  }
}

// B9
Deno.test("a store that answers late, with counts gone old, is asked once a tick for jobs that it has no more", async () => {
  const store = new FaultyStore();
  const bench = new Bench(store);
  store.after = bench.clock;
  store.latencyMs = 1;
  const parts = { handler: sleeper(() => bench.clock, 100), size: { min: 2, max: 2 } };
  try {
    const { pool } = await bench.start(parts);
    const adding = Array.from({ length: 6 }, () => pool.enqueue({ lane: "high", payload: 100 }));
    await bench.advance(50);
    store.fault = (call) => call === "count" ? "reject" : undefined;
    await bench.advance(30_000, { stepMs: 50 });

    const leases = store.calls.filter(({ call }) => call === "lease");
    assert.ok(leases.length < 30 * 25, `${leases.length} calls`);
    const jobs = await Promise.all(adding);
    await bench.referee.account(pool, jobs);
  } finally {
    await bench.stop();
  }
});

// B11
Deno.test("deferrals are no errors: a pool of which every second job comes back later stays as large", async () => {
  const bench = new Bench();
  const seen = new Set<string>();
  const sleep = sleeper(() => bench.clock, 100);
  const handler = async (job: Job, context: { signal: AbortSignal }): Promise<void> => {
    await sleep(job, context);
    if (Number(job.id.at(-1)!.charCodeAt(0)) % 2 === 0 && !seen.has(job.id)) {
      seen.add(job.id);
      throw new RetryLater(60_000, "not yet");
    }
  };
  const parts = { handler, size: { min: 1, max: 10 }, admission: "admit-all" } as const;
  await withCase(parts, async ({ pool }) => {
    const jobs: JobHandle[] = [];
    for (let step = 0; step < 200; step++) {
      for (let index = 0; index < 15; index++) {
        jobs.push(await pool.enqueue({ lane: "high", payload: 100 }));
      }
      await bench.advance(100, { stepMs: 100 });
      // From a cold start adaptive-cap knows no run times: it tries half of the pool, once, for 1.2 s.
      if (step > 20) assert.equal(pool.snapshot().live, 10);
    }
    const { totals } = pool.snapshot();
    assert.ok(totals.deferrals > 500, `${totals.deferrals}`);
    assert.equal(totals.failures, 0);
    await bench.advance(120_000, { stepMs: 200 });
    await bench.referee.account(pool, jobs);
    for (const { id } of jobs) assert.equal((await pool.find(id))?.attempt ?? 1, 1);
  }, { bench });
});
