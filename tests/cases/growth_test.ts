import assert from "node:assert/strict";
import type { Job } from "../../src/contract/job.ts";
import { defineController } from "../../src/contract/plugin.ts";
import { randomStream } from "../../src/base/random.ts";
import type { JobHandle } from "../../src/runtime/handles.ts";
import { sleeper } from "../_virtual.ts";
import { Bench, withCase } from "./_bench.ts";

/** A controller that wants what a variable says. */
function wanting(wanted: () => number): ReturnType<typeof defineController> {
  return defineController({
    name: "wanting",
    create: () => () => ({ workers: wanted(), reason: "told so" }),
  });
}

for (const retirement of ["cooperative", "idle-only"] as const) {
  // G1
  Deno.test(`twenty shrinks in a row with all workers busy stop at the minimum, and growth is whole (${retirement})`, async () => {
    const bench = new Bench();
    let wanted = 8;
    const parts = {
      controller: wanting(() => wanted),
      retirement,
      handler: sleeper(() => bench.clock, 3000),
      size: { min: 3, max: 12 },
      tickMs: 50,
    };
    await withCase(parts, async ({ pool }) => {
      const jobs: JobHandle[] = [];
      for (let index = 0; index < 8; index++) {
        jobs.push(await pool.enqueue({ lane: "high", payload: 3000 }));
      }
      await bench.advance(100);
      assert.equal(pool.snapshot().busy, 8);

      for (let call = 0; call < 20; call++) {
        wanted = 7 - (call % 8); // down to 0, again and again
        await bench.advance(50, { stepMs: 50 });
        assert.ok(pool.snapshot().live >= 3);
      }
      wanted = 10;
      await bench.advance(100);
      assert.equal(pool.snapshot().live, 10);
      await bench.advance(2000);
      assert.equal(pool.snapshot().live, 10);
      await bench.referee.account(pool, jobs);
      assert.equal(pool.snapshot().totals.completions, 8);
      wanted = 0;
      for (let call = 0; call < 20; call++) {
        await bench.advance(50, { stepMs: 50 });
        assert.ok(pool.snapshot().live >= 3);
      }
      pool.post({ lane: "high", payload: 1 });
      await bench.advance(200);
      assert.equal(pool.snapshot().live, 3);
    }, { bench });
  });
}

// G1
Deno.test("the worker that became idle last serves first, so that the others can be seen to be too many", async () => {
  const bench = new Bench();
  const parts = { handler: sleeper(() => bench.clock, 10), size: { min: 4, max: 4 } };
  await withCase(parts, async ({ pool }) => {
    for (let index = 0; index < 4; index++) pool.post({ lane: "high", payload: 10 + index });
    await bench.advance(100);
    const last = pool.snapshot().workers.toSorted((a, b) => b.sinceMs - a.sinceMs)[0]!.id;
    for (let index = 0; index < 20; index++) {
      pool.post({ lane: "high", payload: 10 });
      await bench.advance(20);
    }

    const done = pool.snapshot().workers.map(({ id, jobsDone }) => [id === last, jobsDone]);
    assert.deepEqual(done.filter(([isLast]) => isLast), [[true, 21]]);
    assert.deepEqual(done.filter(([isLast]) => isLast !== true).map(([, count]) => count), [
      1,
      1,
      1,
    ]);
  }, { bench });
});

// G2
for (const retirement of ["cooperative", "idle-only"] as const) {
  Deno.test(`a thousand times a job arrives as a worker leaves, and none is lost (${retirement})`, async () => {
    const bench = new Bench();
    const chance = randomStream(7, retirement);
    let wanted = 1;
    const parts = {
      controller: wanting(() => wanted),
      retirement,
      handler: sleeper(() => bench.clock, 5),
      size: { min: 0, max: 6 },
      tickMs: 5,
      lanePolicy: "strict-priority",
    } as const;
    await withCase(parts, async ({ pool, seat }) => {
      const jobs: JobHandle[] = [];
      for (let cycle = 0; cycle < 1000; cycle++) {
        wanted = Math.floor(chance() * 4);
        const delayMs = chance() < 0.2 ? 5 : 0;
        jobs.push(
          await pool.enqueue({ lane: "high", payload: Math.floor(chance() * 11), delayMs }),
        );
        await bench.advance(5, { stepMs: 5 }); // arrival, end of a run and tick fall together
        if (wanted === 0) wanted = 1;
      }
      await bench.advance(10_000, { stepMs: 50 });

      await bench.referee.account(pool, jobs);
      assert.equal(pool.snapshot().totals.completions, 1000);
      assert.equal(seat.handlers, 0);
    }, { bench });
  });
}

// G3
Deno.test("a rate holds that one worker alone would exceed, with two calls a job and a few workers", async () => {
  const bench = new Bench();
  const calls: number[] = [];
  const sleep = sleeper(() => bench.clock, 10);
  const handler = async (job: Job, context: { signal: AbortSignal }): Promise<void> => {
    for (let call = 0; call < 2; call++) {
      calls.push(bench.clock.nowMs());
      await sleep(job, context);
    }
  };
  const caps = [{ use: "api-rate-cap", with: { callsPerSec: 30, callsPerJob: 2 } }] as const;
  await withCase({ handler, caps, size: { min: 1, max: 8 } }, async ({ pool }) => {
    for (let index = 0; index < 400; index++) {
      try {
        pool.post({ lane: "low", payload: 10 });
      } catch {
        // shed: only what is called counts here
      }
    }
    await bench.advance(10_000);
    for (let index = 30; index < calls.length; index++) {
      assert.ok(calls[index]! - calls[index - 30]! >= 980); // the second call of a job varies
    }
    assert.ok(calls.length > 220, `${calls.length}`);
  }, { bench });
});

// G3
Deno.test("a rate is used in full, however far apart the ticks are", async () => {
  const bench = new Bench();
  const caps = [{ use: "api-rate-cap", with: { callsPerSec: 10, headroom: 0 } }] as const;
  const parts = { caps, tickMs: 60_000, size: { min: 1, max: 1 }, admission: "admit-all" } as const;
  await withCase({ ...parts, controller: "depth-scaler" }, async ({ pool }) => {
    for (let index = 0; index < 100; index++) pool.post({ lane: "low", payload: 1 });
    await bench.advance(5500);

    assert.equal(pool.snapshot().totals.starts, 56); // one at once, and one each interval
    await bench.advance(5000);
  }, { bench });
});

// G4
Deno.test("an API ten times slower gets no more workers than the cap that its healthy time gives", async () => {
  const bench = new Bench();
  let serviceMs = 20;
  const handler = (job: Job, context: { signal: AbortSignal }): unknown =>
    sleeper(() => bench.clock)({ ...job, payload: serviceMs }, context);
  const caps = [{
    use: "api-rate-cap",
    with: { callsPerSec: 100, serviceMs: 20, headroom: 0 },
  }] as const;
  const parts = {
    ...{ handler, caps, size: { min: 1, max: 50 } },
    admission: "admit-all",
    adaptive: false,
  } as const;
  await withCase(parts, async ({ pool }) => {
    for (let step = 0; step < 1000; step++) {
      if (step === 300) serviceMs = 200;
      if (step === 700) serviceMs = 20;
      for (let index = 0; index < 2; index++) pool.post({ lane: "low", payload: null });
      await bench.advance(20, { stepMs: 20 });
      assert.ok(pool.snapshot().workers.length <= 4);
      assert.ok(pool.snapshot().limit <= 4);
    }
  }, { bench, cap: 4 });
});
