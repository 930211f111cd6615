import assert from "node:assert/strict";
import { Prefetch } from "../../src/runtime/prefetch.ts";
import { pause } from "../../src/time/clock.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { SkewedClock } from "../chaos/clock.ts";
import { type PoolParts, sleeper, withPool } from "../_virtual.ts";
import { type Scene, type SceneOptions, withHeld } from "./_held.ts";

const RATE = 20;
const LATENCY_MS = 40;
const WORKERS = 8;

/** Jobs that sleep for their payload on the clock of the scene that runs. */
let clock = new VirtualClock();
const handler = sleeper(() => clock);

/** Many jobs of 10 ms, and a rate that holds them back. */
const RATED: PoolParts = {
  handler,
  size: { min: WORKERS, max: WORKERS },
  caps: [{ use: "api-rate-cap", with: { callsPerSec: RATE, headroom: 0 } }],
  admission: "admit-all",
};

/** As many workers as take all that they get. */
const FIXED: PoolParts = {
  handler,
  size: { min: WORKERS, max: WORKERS },
  caps: [],
  admission: "admit-all",
};

function withRate(test: (scene: Scene) => Promise<void>, parts: PoolParts = {}): Promise<void> {
  return withHeld({ latencyMs: LATENCY_MS, parts: { ...RATED, ...parts } }, async (scene) => {
    clock = scene.clock;
    post(scene, 300, 10);
    await clock.advance(500);
    await test(scene);
  });
}

function withWorkers(
  options: Partial<SceneOptions>,
  test: (scene: Scene) => Promise<void>,
): Promise<void> {
  const parts = { ...FIXED, ...options.parts };
  return withHeld({ latencyMs: LATENCY_MS, ...options, parts }, async (scene) => {
    clock = scene.clock;
    await test(scene);
  });
}

function post({ pool }: Scene, jobs: number, ms: number, lane = "high"): void {
  for (let count = 0; count < jobs; count++) pool.post({ lane, payload: ms });
}

Deno.test("a start rate is used in full though each lease takes 40 ms, and never exceeded", async () => {
  await withRate(async ({ starts }) => {
    await clock.advance(10_000);

    const stamps = starts();
    // Each start in the place of another comes at most a timer's ms later than it may.
    stamps.slice(RATE).forEach((atMs, index) => {
      assert.ok(atMs - stamps[index]! >= 1000, "the rate");
    });
    const fromMs = stamps[3 * RATE]!; // the first places are spread over the second
    const within = stamps.filter((atMs) => atMs >= fromMs && atMs < fromMs + 6_000);
    assert.ok(within.length >= 6 * RATE - 1, `${within.length} in 6 s`);
  });
});

Deno.test("a job that is leased ahead and cancelled before its start does not run", async () => {
  await withRate(async ({ pool, events, held, untilHeld }) => {
    await untilHeld();
    const id = held().at(-1)!; // it starts last: the cancel is there first
    const changing = pool.change(id, "cancel");
    await clock.advance(2_000);
    await changing;

    const told = events.filter((event) => "id" in event && event.id === id);
    assert.deepEqual([...new Set(told.map(({ kind }) => kind))], ["job-added", "job-cancelled"]);
  });
});

Deno.test("a pool that stops hands back what is leased ahead, no attempt charged", async () => {
  await withRate(async ({ sluice, untilHeld, told }) => {
    await untilHeld();
    const stopping = sluice.stop();
    await clock.advance(5_000);
    const { handedBack, waiting } = await stopping;

    const back = told("job-handed-back");
    assert.ok(back.length > 0);
    assert.ok(new Set(told("job-started")).isDisjointFrom(new Set(back)));
    assert.deepEqual(handedBack, []); // no attempt was interrupted
    assert.equal(waiting, 300 - told("job-started").length);
  });
});

Deno.test("a job that is leased ahead goes back once its lane is paused", async () => {
  await withRate(async ({ pool, starts, held, untilHeld }) => {
    await untilHeld();
    const pausing = pool.pause("high");
    await clock.advance(1);
    await pausing;
    const before = starts().length;
    await clock.advance(3_000);
    assert.deepEqual([starts().length, held()], [before, []]);

    await pool.resume("high");
    await clock.advance(3_000);
    assert.ok(starts().length >= before + 2 * RATE);
    assert.deepEqual(pool.snapshot().totals.failures, 0);
  });
});

Deno.test("a job is never leased ahead with its last attempt, for a rate or for short jobs", async () => {
  const lanes = [{ name: "high", attempts: 1 }, { name: "low" }];
  const unheld = async ({ held, starts }: Scene): Promise<void> => {
    for (let ms = 0; ms < 2_000; ms++) {
      await clock.advance(1);
      assert.deepEqual(held(), []);
    }
    assert.ok(starts().length > RATE);
  };
  await withRate(unheld, { lanes });
  await withWorkers({ parts: { lanes } }, async (scene) => {
    post(scene, 300, 20);
    await unheld(scene);
  });
});

for (const latencyMs of [10, 20, 60, 200]) {
  for (const leaseCalls of [1, 6]) {
    Deno.test(`8 workers of 20 ms jobs are busy though each lease takes ${latencyMs} ms, ${leaseCalls} at once`, async () => {
      await withWorkers({ latencyMs, leaseCalls }, async (scene) => {
        const { pool } = scene;
        post(scene, 4_000, 20);
        await clock.advance(2_000);
        const beforeMs = pool.snapshot().totals.busyMs;
        await clock.advance(3_000);
        const busy = (pool.snapshot().totals.busyMs - beforeMs) / (3_000 * WORKERS);

        assert.ok(busy >= 0.95, `busy ${busy.toFixed(2)} of the time`);
      });
    });
  }
}

Deno.test("workers that get free one after the other, each with a question, leave room to lease ahead", async () => {
  await withWorkers({ latencyMs: 100, leaseCalls: 2 }, async (scene) => {
    for (let sent = 0; sent < 1_000; sent++) {
      post(scene, 1, 20);
      await clock.advance(3); // workers can do more
    }

    const left = 1_000 - scene.starts().length;
    assert.ok(left <= 100, `${left} have not started`);
  });
});

Deno.test("what is leased ahead counts as ready, and what runs counts as running", async () => {
  await withWorkers({}, async (scene) => {
    const { pool, held, untilHeld } = scene;
    post(scene, 1_000, 20);
    await untilHeld();
    await clock.advance(200);
    for (let ms = 0; ms < 100; ms++) {
      await clock.advance(1);
      const { lanes: [lane], busy, totals } = pool.snapshot();
      assert.ok(held().length > 0);
      assert.ok(lane!.running <= WORKERS && busy <= WORKERS);
      // What a lease that is on its way has taken is in neither.
      assert.ok(lane!.ready <= 1_000 - totals.starts);
      assert.ok(lane!.ready >= held().length);
    }
  });
});

Deno.test("an urgent job passes all that is leased ahead of lower lanes", async () => {
  await withWorkers({}, async (scene) => {
    const { events, untilHeld } = scene;
    post(scene, 1_000, 20, "low");
    await untilHeld();
    await clock.advance(300);
    const addedAtMs = clock.nowMs();
    post(scene, 1, 20, "high");
    await clock.advance(1_000);

    const start = events.find((event) => event.kind === "job-started" && event.lane === "high");
    // Stored, leased, and a worker that is free next: each of them runs for 20 ms at most.
    assert.ok(start!.atMs - addedAtMs <= 2 * LATENCY_MS + 21, `${start!.atMs - addedAtMs} ms`);
  });
});

Deno.test("maxRunning holds for jobs that run, whatever is leased ahead", async () => {
  const lanes = [{ name: "high" }, { name: "low", maxRunning: 3 }];
  await withWorkers({ parts: { lanes } }, async (scene) => {
    post(scene, 600, 20, "low");
    await clock.advance(300);
    let most = 0;
    const beforeMs = scene.pool.snapshot().totals.busyMs;
    for (let ms = 0; ms < 1_000; ms++) {
      await clock.advance(1);
      most = Math.max(most, scene.pool.snapshot().lanes[1]!.running);
    }
    const busy = scene.pool.snapshot().totals.busyMs - beforeMs;
    assert.equal(most, 3);
    assert.ok(busy >= 0.95 * 3 * 1_000, `${busy} ms`);
  });
});

Deno.test("what was leased ahead goes back within a second where a lane's jobs become long", async () => {
  await withWorkers({}, async (scene) => {
    post(scene, 200, 20);
    await clock.advance(400);
    post(scene, 50, 20_000);
    await clock.advance(5_000);

    assert.deepEqual(scene.held(), []);
    assert.ok(scene.told("job-handed-back").length < 100);
  });
});

Deno.test("after a suspension nothing starts that was leased ahead before it", async () => {
  let process: SkewedClock | undefined;
  const own = (base: VirtualClock): SkewedClock => process = new SkewedClock(base, 0);
  const handler: PoolParts["handler"] = ({ payload }) => pause(process!, Number(payload));
  await withWorkers({ own, parts: { handler, leaseMs: 3_000 } }, async (scene) => {
    const { pool, held, untilHeld, told } = scene;
    post(scene, 500, 20);
    await untilHeld();
    await clock.advance(100);
    const ahead = held();
    process!.stall(5_000);
    await clock.advance(4_999);
    process!.stall(0);
    const isIn = (ids: readonly string[]) => (id: string): boolean => ids.includes(id);
    const before = told("job-started");
    await pool.resume(); // a turn, before any timer that has been due meanwhile
    await clock.advance(1);

    const waited = ahead.filter((id) => !before.includes(id));
    assert.ok(waited.length > WORKERS);
    assert.ok(!waited.some(isIn(told("job-started"))));
    await clock.advance(5_000);
    assert.equal(pool.snapshot().totals.completions, 500);
  });
});

Deno.test("long jobs are not leased ahead, nor what a store gives at once", async () => {
  const calls = countCalls();
  try {
    await withWorkers({}, async (scene) => {
      post(scene, 60, 2_000);
      await clock.advance(10_000);
      assert.ok(scene.starts().length >= 32);
    });
    for (const parts of [FIXED, RATED]) {
      await withPool(parts, async ({ clock: own, pool }) => {
        clock = own;
        for (let count = 0; count < 100; count++) pool.post({ lane: "high", payload: 1 });
        await own.advance(10_000);
        assert.equal(pool.snapshot().totals.completions, 100);
      });
    }
    assert.equal(calls(), 0);
  } finally {
    calls.end();
  }
});

/** Counts calls of anything that holds jobs. */
function countCalls(): (() => number) & { end(): void } {
  const own = Prefetch.prototype;
  const before = Object.getOwnPropertyDescriptors(own);
  let count = 0;
  for (const [name, { value }] of Object.entries(before)) {
    if (name === "constructor" || typeof value !== "function") continue;
    Object.defineProperty(own, name, {
      ...before[name as keyof typeof before],
      value(this: Prefetch, ...rest: readonly unknown[]): unknown {
        count++;
        return Reflect.apply(value, this, rest);
      },
    });
  }
  return Object.assign(() => count, { end: () => void Object.defineProperties(own, before) });
}

Deno.test("nothing is leased ahead, to go back again, while the only worker is stuck", async () => {
  let stuck: (() => void) | undefined;
  const parts = {
    size: { min: 1, max: 1 },
    timeoutMs: 1000,
    caps: [{ use: "fixed-cap", with: { workers: 1 } }],
    handler: ({ payload }: { readonly payload: unknown }): unknown =>
      payload === "deaf" && stuck === undefined
        ? new Promise<void>((resolve) => stuck = resolve)
        : "done",
  };
  await withWorkers({ parts }, async ({ pool, leases, told, ...scene }) => {
    for (let job = 0; job < 20; job++) pool.post({ lane: "high", payload: job });
    await scene.clock.advance(2000);
    pool.post({ lane: "high", payload: "deaf" });
    await scene.clock.advance(5000);
    assert.equal(told("worker-stuck").length, 1);
    const before = leases.length;
    for (let job = 0; job < 20; job++) pool.post({ lane: "high", payload: job });

    await scene.clock.advance(10_000);

    assert.deepEqual([leases.length - before, told("job-handed-back")], [0, []]);
    stuck!();
    await scene.clock.advance(5000);
    assert.equal(told("job-done").length, 41);
  });
});
