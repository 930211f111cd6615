import assert from "node:assert/strict";
import { mostWithin } from "../_rate.ts";
import { type PoolParts, sleeper, withPool } from "../_virtual.ts";
import { type Bench, withBench } from "../cases/_bench.ts";
import { randomStream } from "../../src/base/random.ts";
import type { KeyRateInput } from "../../src/config/input.ts";
import { RetryLater } from "../../src/contract/errors.ts";
import type { Job } from "../../src/contract/job.ts";
import { keyRateOf } from "../../src/planning/key_rate.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";

/** When jobs of each key started. */
class Starts {
  readonly #byKey = new Map<string, number[]>();

  add({ key = "" }: Pick<Job, "key">, atMs: number): void {
    this.#byKey.set(key, [...this.of(key), atMs]);
  }

  of(key: string): readonly number[] {
    return this.#byKey.get(key) ?? [];
  }

  /** Throws if a key started more than `rates` let. */
  check(rates: readonly KeyRateInput[]): void {
    for (const [key, times] of this.#byKey) {
      for (const { calls, perMs } of key === "" ? [] : rates) {
        const most = mostWithin(times, perMs);
        assert.ok(most <= calls, `${most} of key ${key} in ${perMs} ms, ${calls} may`);
      }
    }
  }
}

function rated(ratesPerKey: readonly KeyRateInput[], more: PoolParts = {}): PoolParts {
  return {
    lanes: [{ name: "high" }, { name: "low", ratesPerKey }],
    lanePolicy: "strict-priority",
    size: { min: 4, max: 4 },
    leaseMs: 3000,
    ...more,
  };
}

function post(bench: Bench, jobs: number, key: string | undefined): void {
  const { processes } = bench;
  for (let count = 0; count < jobs; count++) {
    const { pool } = processes[count % processes.length]!;
    pool.post({ lane: "low", payload: 0, ...(key !== undefined && { key }) });
  }
}

Deno.test("keyRateOf() uses at least 99 % of the calls, and never lets more of them start", () => {
  const cases: readonly [KeyRateInput, number, number][] = [
    [{ calls: 2, perMs: 1000 }, 2, 1000],
    [{ calls: 10, perMs: 1000, burst: 1 }, 1, 100],
    [{ calls: 10, perMs: 1000, burst: 4 }, 2, 200],
    [{ calls: 3, perMs: 1000, burst: 50 }, 3, 1000],
    [{ calls: 10_000, perMs: 86_400_000 }, 100, 864_000],
    [{ calls: 150, perMs: 1000 }, 75, 500],
    [{ calls: 101, perMs: 1000 }, 100, 1000],
  ];
  for (const [rate, starts, perMs] of cases) {
    assert.deepEqual(keyRateOf(rate), { starts, perMs }, JSON.stringify(rate));
  }
});

for (
  const [rates, perSec] of [
    [[{ calls: 2, perMs: 1000 }], 2],
    [[{ calls: 10, perMs: 1000, burst: 1 }], 10],
    [[{ calls: 7, perMs: 3000 }], 7 / 3],
    [[{ calls: 5, perMs: 1000 }, { calls: 60, perMs: 60_000 }], 1],
  ] as const
) {
  for (const processes of [1, 3]) {
    Deno.test(`${JSON.stringify(rates)} are used by each key, and never exceeded, over ${processes} processes`, async () => {
      const starts = new Starts();
      await withBench(async (bench) => {
        const handler = (job: Job): void => starts.add(job, bench.clock.nowMs());
        for (let count = 0; count < processes; count++) {
          await bench.start(rated(rates, { handler }));
        }
        for (const key of ["a", "b", "c"]) post(bench, Math.ceil(perSec * 300), key);
        await bench.advance(10_000);
        post(bench, 20, undefined);
        await bench.advance(20);
        assert.equal(starts.of("").length, 20, "jobs without a key wait for none");
        await bench.advance(240_000, { stepMs: 50 });
        starts.check(rates);
        for (const key of ["a", "b", "c"]) {
          const used = starts.of(key).length / (250 * perSec);
          assert.ok(used >= 0.97, `${used} of key ${key}`);
        }
      });
    });
  }
}

Deno.test("jobs that wait for the rate of their key hold up none, and are no reason to grow or to reject", async () => {
  const clock = new VirtualClock();
  const starts = new Starts();
  const sleep = sleeper(() => clock, 20);
  const handler: PoolParts["handler"] = (job, context) => {
    starts.add(job, clock.nowMs());
    return sleep(job, context);
  };
  const rates = [{ calls: 2, perMs: 1000 }];
  const parts = rated(rates, { handler, size: { min: 1, max: 20 } });
  await withPool(parts, async ({ pool }) => {
    for (let count = 0; count < 500; count++) pool.post({ lane: "low", payload: 20, key: "noisy" });
    for (let second = 0; second < 60; second++) {
      pool.post({ lane: "low", payload: 20, key: `quiet ${second}` });
      await clock.advance(1000);
      assert.equal(starts.of(`quiet ${second}`).length, 1);
      const { live, lanes: [, lane], rateBound } = pool.snapshot();
      assert.ok(live <= 3, `${live} workers`);
      assert.deepEqual([lane!.ready, rateBound], [0, false]);
    }
    starts.check(rates);
    assert.ok(starts.of("noisy").length >= 119);
  }, { clock });
});

Deno.test("an urgent job does not wait for its key in another lane", async () => {
  const starts = new Starts();
  const lanes = [
    { name: "high", ratesPerKey: [{ calls: 1, perMs: 1000 }] },
    { name: "low", ratesPerKey: [{ calls: 1, perMs: 1000 }] },
  ];
  await withBench(async (bench) => {
    await bench.start(
      rated([], { lanes, handler: (job: Job) => starts.add(job, bench.clock.nowMs()) }),
    );
    post(bench, 20, "k");
    await bench.advance(5500);
    const before = starts.of("k").length;
    bench.processes[0]!.pool.post({ lane: "high", payload: 0, key: "k" });
    await bench.advance(10);
    assert.equal(starts.of("k").length, before + 1);
  });
});

Deno.test("jobs of a process that died count as started when others take them back", async () => {
  const starts = new Starts();
  const rates = [{ calls: 2, perMs: 60_000 }];
  await withBench(async (bench) => {
    const handlerOf = (ends: boolean) => (job: Job): Promise<void> | void => {
      starts.add(job, bench.clock.nowMs());
      return ends ? undefined : new Promise(() => {});
    };
    const own = { clock: new VirtualClock() };
    const dying = await bench.start(rated(rates, { handler: handlerOf(false) }), own);
    post(bench, 20, "k");
    await bench.settle();
    assert.equal(starts.of("k").length, 2);
    await bench.start(rated(rates, { handler: handlerOf(true) }));
    await bench.advance(200_000, { stepMs: 50, frozen: [dying] });
    starts.check(rates);
    assert.ok(starts.of("k").length >= 6, `${starts.of("k").length}`);
  });
});

for (const seed of [1, 2, 3, 4]) {
  Deno.test(`no key exceeds its rate and all jobs end, whatever becomes of attempts and processes (seed ${seed})`, async () => {
    const random = randomStream(seed);
    const rates = [{ calls: 3, perMs: 1000, burst: 3 }, { calls: 20, perMs: 20_000 }];
    const starts = new Starts();
    const clock = new VirtualClock();
    const handler: PoolParts["handler"] = async (job, context) => {
      starts.add(job, clock.nowMs());
      const chance = random();
      if (chance < 0.05) throw new Error("no luck");
      if (chance < 0.1) throw new RetryLater(random() * 500, "not now");
      if (chance < 0.15) context.overloaded(300);
      if (chance < 0.15) throw new RetryLater(300, "overloaded");
      await sleeper(() => clock, random() < 0.1 ? 2500 : random() * 60)(job, context);
    };
    const parts = rated(rates, {
      handler,
      timeoutMs: 2000,
      drainMs: 100,
      cooldown: { by: "key", after: 1, maxMs: 1000 },
    });
    const lane = parts.lanes![1]!;
    const given: PoolParts = {
      ...parts,
      lanes: [{ name: "high" }, { ...lane, attempts: 1000, backoff: { baseMs: 100 } }],
    };
    await withBench(async (bench) => {
      await bench.start(given, { clock });
      for (let round = 0; round < 12; round++) {
        while (bench.processes.length < 2) await bench.start(given, { clock });
        for (const key of ["a", "b", "c", undefined]) post(bench, Math.floor(random() * 12), key);
        await bench.advance(2000 + random() * 3000, { stepMs: 20 });
        const [stopping] = bench.processes.splice(0, 1);
        const stopped = stopping!.sluice.stop();
        await clock.advance(500);
        await stopped;
      }
      await bench.start(given, { clock });
      await bench.advance(200_000, { stepMs: 50 });
      starts.check(rates);
      const { lanes: [, low] } = bench.processes[0]!.pool.snapshot();
      assert.deepEqual([low!.ready, low!.blocked, low!.delayed, low!.running], [0, 0, 0, 0]);
    });
  });
}
