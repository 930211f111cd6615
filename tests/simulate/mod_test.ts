import assert from "node:assert/strict";
import fc from "fast-check";
import type { ConfigInput, PoolInput } from "../../src/config/input.ts";
import { simulate } from "../../src/simulate/mod.ts";
import type { LaneLoad, Report, ScenarioInput } from "../../src/simulate/mod.ts";

/** A config of one pool `p` with lanes `high` and `low`, whose handler cannot be loaded. */
function config(parts: Partial<PoolInput> = {}): ConfigInput {
  const lanes = [{ name: "high" }, { name: "low" }];
  const pool = { handler: "./no/such.ts", size: { min: 2, max: 8 }, lanes, ...parts };
  return { pools: { p: pool } };
}

/** A scenario of ten seconds for it. */
function scenario(
  lanes: Readonly<Record<string, LaneLoad>>,
  parts: Partial<ScenarioInput> = {},
): ScenarioInput {
  return { durationMs: 10_000, pools: { p: { lanes } }, ...parts };
}

function poisson(perSec: number, ms = 20): LaneLoad {
  return { arrivals: { kind: "poisson", perSec }, serviceMs: { kind: "exponential", ms } };
}

function lane(report: Report, name: string): Report["pools"][string]["lanes"][string] {
  const found = report.pools.p?.lanes[name];
  assert(found !== undefined);
  return found;
}

/** Holds its size, whatever the load. */
function sized(workers: number): Partial<PoolInput> {
  return { size: { min: workers, max: workers }, admission: "admit-all" };
}

Deno.test("simulate() gives the same report for the same seed, and another for another", async () => {
  const load = scenario({ high: poisson(200), low: { ...poisson(20, 100), failRate: 0.1 } });

  const first = JSON.stringify(await simulate(config(), load, { seed: 7 }));
  const again = JSON.stringify(await simulate(config(), load, { seed: 7 }));
  const other = JSON.stringify(await simulate(config(), load, { seed: 8 }));

  assert.equal(first, again);
  assert.notEqual(first, other);
});

Deno.test("simulate() loads no handler, opens no store, reads no token and no signal", async () => {
  const all: ConfigInput = {
    store: { use: "deno-kv", with: { path: "/no/such/folder/queue.db" } },
    admin: { tokens: { admin: { env: "SLUICE_NO_SUCH_TOKEN" } } },
    pools: {
      p: {
        handlers: { a: { use: "./a.ts", with: { key: { env: "NONE" } } }, b: "npm:nothing" },
        size: { min: 1, max: 2 },
        lanes: [{ name: "high" }],
        signals: { load: { use: "./signal.ts" } },
      },
    },
  };

  const report = await simulate(all, scenario({ high: poisson(10) }));

  assert(lane(report, "high").done > 50);
});

Deno.test("simulate() draws of each lane from a stream of its own", async () => {
  const dedicated = config({
    ...sized(4),
    lanePolicy: { use: "dedicated-lanes", with: { workers: { high: 2, low: 2 } } },
  });

  const quiet = await simulate(dedicated, scenario({ high: poisson(50), low: poisson(1) }));
  const busy = await simulate(dedicated, scenario({ high: poisson(50), low: poisson(90) }));

  assert.notDeepEqual(lane(quiet, "low"), lane(busy, "low"));
  assert.deepEqual(lane(quiet, "high"), lane(busy, "high"));
});

Deno.test("simulate() agrees with M/M/1: P(wait > t) = rho exp(-(mu - lambda) t)", async () => {
  const load = scenario({ high: poisson(40) }, { durationMs: 1_000_000 });

  const report = await simulate(config({ ...sized(1), tickMs: 10_000 }), load);

  const { p95, p99 } = lane(report, "high").waitMs!;
  const wait = (share: number): number => 1000 * Math.log(0.8 / share) / (50 - 40);
  assert(Math.abs(p95 - wait(0.05)) < 0.1 * wait(0.05), `p95 ${p95}`);
  assert(Math.abs(p99 - wait(0.01)) < 0.1 * wait(0.01), `p99 ${p99}`);
});

Deno.test("simulate() makes a knee serve no more than its slots can", async () => {
  const knee = (collapse: number): ScenarioInput =>
    scenario({
      high: {
        arrivals: { kind: "even", perSec: 800 },
        serviceMs: { kind: "knee", ms: 20, slots: 10, collapse },
      },
    });

  const plain = await simulate(config(sized(32)), knee(0));
  const collapsing = await simulate(config(sized(32)), knee(0.05));

  // 10 slots / 20 ms, and 1 / (1 + 0.05 (32 - 10)) of it
  assert(Math.abs(lane(plain, "high").perSec - 500) < 10);
  assert(Math.abs(lane(collapsing, "high").perSec - 238) < 10);
});

Deno.test("simulate() repeats what fails and what is deferred", async () => {
  const flaky = { ...poisson(20), failRate: 0.5, deferRate: 0.2, deferMs: 10 };
  const lanes = [{ name: "high", attempts: 3, backoff: { baseMs: 10 } }];

  const report = await simulate(config({ lanes }), scenario({ high: flaky }));

  const { arrived, started, done, dead, left } = lane(report, "high");
  assert.equal(arrived, done + dead + left);
  assert(started > 1.7 * arrived); // 1 + 1/2 + 1/4 attempts of which a fifth does not count
  assert(Math.abs(dead / arrived - 1 / 8) < 0.06, `${dead} of ${arrived}`);
});

Deno.test("simulate() counts the wait of a retry from when it is due", async () => {
  const lanes = [{ name: "high", attempts: 2, backoff: { baseMs: 3000, jitter: 0 } }];
  const load = {
    arrivals: { kind: "even", perSec: 10 },
    serviceMs: { kind: "fixed", ms: 20 },
    failRate: 0.3,
  } as const;

  const { started, arrived, waitMs, sojournMs } = lane(
    await simulate(config({ lanes }), scenario({ high: load })),
    "high",
  );

  assert(started > 1.1 * arrived);
  assert(waitMs!.max < 100, `${waitMs!.max}`);
  assert(sojournMs!.max >= 3040);
});

Deno.test("simulate() plays slow and failing downstreams", async () => {
  const lanes = [{ name: "high", attempts: 1 }];
  const load = {
    arrivals: { kind: "even", perSec: 10 },
    serviceMs: { kind: "fixed", ms: 20 },
  } as const;
  const play = (kind: "slow" | "down"): Promise<Report> =>
    simulate(
      config({ lanes }),
      scenario({ high: load }, { faults: [{ kind, atMs: 4950, forMs: 1000 }] }),
    );

  const slow = lane(await play("slow"), "high");
  const down = lane(await play("down"), "high");

  assert.deepEqual([slow.done, slow.sojournMs], [99, { p50: 20, p95: 60, p99: 60, max: 60 }]);
  assert.deepEqual([down.done, down.dead], [89, 10]);
});

Deno.test("simulate() makes the store fail: the pool holds on and goes on after it", async () => {
  const load = scenario({ high: poisson(50) }, {
    durationMs: 20_000,
    faults: [{ kind: "store-error", atMs: 5000, forMs: 1000 }],
  });

  const { arrived, done, shed, left, dead } = lane(await simulate(config(), load), "high");

  assert.equal(dead, 0);
  assert(shed > 30 && shed < 70, `${shed} could not be stored`);
  assert.equal(done, arrived - shed - left);
  assert(left < 10);
});

Deno.test("simulate() kills a process: others take its jobs over, and nothing is lost", async () => {
  const load = scenario({ high: { ...poisson(100, 50) } }, {
    durationMs: 20_000,
    graceMs: 10_000,
    peers: 2,
    faults: [{ kind: "kill", atMs: 5000, forMs: 3000 }],
  });

  const report = await simulate(config({ leaseMs: 3000, size: { min: 2, max: 16 } }), load);

  const { arrived, started, done, dead, left, sojournMs } = lane(report, "high");
  assert.deepEqual([done, dead, left], [arrived, 0, 0]);
  assert(started > arrived, "what ran in the dead process ran again");
  assert(sojournMs!.max > 1500, "once its lease was over");
  assert.deepEqual(
    [...new Set(report.pools.p!.decisions.map((decision) => decision.process))],
    [0, 1, 2],
  );
});

// E7
for (
  const [where, leastMs, mostMs] of [["a file", 0, 1000], ["a network", 30_000, 45_000]] as const
) {
  Deno.test(`simulate() has the jobs of a killed process taken over as over ${where}`, async () => {
    const place = where === "a file" ? { path: "/no/such/queue.db" } : { url: "https://no.such" };
    const load = scenario({
      high: { arrivals: { kind: "trace", atMs: [0] }, serviceMs: { kind: "fixed", ms: 500 } },
    }, {
      durationMs: 60_000,
      faults: [{ kind: "kill", atMs: 100, forMs: 24 }],
    });

    const report = await simulate({ ...config(), store: { use: "deno-kv", with: place } }, load);

    const { done, started, sojournMs } = lane(report, "high");
    assert.deepEqual([done, started], [1, 2]);
    assert(sojournMs!.max >= leastMs && sojournMs!.max <= mostMs, `${sojournMs!.max} ms`);
  });
}

Deno.test("simulate() has a survivor on one file take over at its next heartbeat", async () => {
  const load = scenario({ high: { ...poisson(50, 50) } }, {
    durationMs: 30_000,
    graceMs: 5000,
    peers: 2,
    faults: [{ kind: "kill", atMs: 5000, forMs: 24_000 }],
  });
  const store = { use: "deno-kv", with: { path: "/no/such/queue.db" } };
  const report = await simulate({ ...config({ leaseMs: 3000 }), store }, load);

  const { sojournMs, left } = lane(report, "high");
  assert.equal(left, 0);
  assert(sojournMs!.max <= 1500, `${sojournMs!.max} ms`);
});

Deno.test("simulate() of four processes grows to at most 1.3 times what one would", async () => {
  const phases = [{ untilMs: 5000, perSec: 50 }, { untilMs: 10_000, perSec: 800 }];
  const load = {
    arrivals: { kind: "poisson", phases },
    serviceMs: { kind: "fixed", ms: 20 },
  } as const;
  const pool = config({ size: { min: 1, max: 32 } });

  const one = await simulate(pool, scenario({ high: load }));
  const four = await simulate(pool, scenario({ high: load }, { peers: 4 }));

  const [alone, together] = [one, four].map((report) => report.pools.p!.workers.peak);
  assert(together! <= 1.3 * alone!, `${together} against ${alone}`);
});

Deno.test("simulate() tells what is amiss at the end", async () => {
  const load = scenario({ high: poisson(120) }, { durationMs: 120_000 });

  const { diagnosis } = (await simulate(config({ size: { min: 1, max: 2 } }), load)).pools.p!;
  const quiet = await simulate(config(), scenario({ high: poisson(20) }, { durationMs: 120_000 }));

  assert.equal(diagnosis[0]?.code, "at-capacity");
  assert.deepEqual(quiet.pools.p!.diagnosis.filter(({ code }) => code === "at-capacity"), []);
});

Deno.test("simulate() shows over time what it counts in all", async () => {
  const load = scenario({
    high: { ...poisson(200), failRate: 0.1 },
    low: { ...poisson(90, 100), backlog: 500 },
  });
  const lanes = [{ name: "high", attempts: 1 }, { name: "low", targetWaitMs: null, ttlMs: 2000 }];

  const { series, ...pool } = (await simulate(config({ lanes }), load)).pools.p!;

  const sum = (counts: readonly number[]): number => counts.reduce((a, b) => a + b, 0);
  for (const [name, { arrived, done, dead, shed, waitMs }] of Object.entries(pool.lanes)) {
    const seen = series.lanes[name]!;
    assert.equal(sum(seen.arrived), arrived - (name === "low" ? 500 : 0));
    assert.deepEqual([sum(seen.done), sum(seen.dead), sum(seen.shed)], [done, dead, shed]);
    assert.equal(Math.max(...seen.ageMs.map((ms) => ms ?? 0)) >= waitMs!.max, true);
  }
  assert(sum(series.lanes["high"]!.dead) > 50 && sum(series.lanes["low"]!.dead) > 50);
  assert.deepEqual([series.lanes["high"]!.targetWaitMs, series.lanes["low"]!.targetWaitMs], [
    ...[50, null],
  ]);
  assert.deepEqual([series.bucketMs, series.untilMs, series.limit.length], [50, 10_000, 200]);
  assert.deepEqual([...new Set(series.limit)], [8]);
  assert.deepEqual([...new Set(series.min)], [2]);
});

Deno.test("simulate() shows the age of jobs that never start, and none while no process lives", async () => {
  const stuck = { backlog: 3, serviceMs: { kind: "fixed", ms: 60_000 } } as const;
  const load = scenario({ high: stuck }, {
    faults: [{ kind: "kill", atMs: 6000, forMs: 2000 }],
  });

  const { series } = (await simulate(config(sized(1)), load)).pools.p!;

  const { bucketMs, lanes: { high }, limit } = series;
  const at = (atMs: number): number => atMs / bucketMs - 1;
  assert.equal(high!.ageMs[at(5000)], 5000);
  assert.deepEqual([high!.ageMs[at(7000)], limit[at(7000)]], [null, null]);
  assert.equal(limit[at(9000)], 1);
});

Deno.test("simulate() keeps as little of a day as of a minute", async () => {
  const load = scenario({ high: poisson(0.1) }, { durationMs: 86_400_000 });

  const { series } = (await simulate(config({ tickMs: 10_000 }), load)).pools.p!;

  assert.deepEqual([series.bucketMs, series.limit.length], [500_000, 173]);
});

Deno.test("simulate() ends with a drain, if the scenario says so", async () => {
  const load = { low: { backlog: 10, serviceMs: { kind: "fixed", ms: 1500 } } } as const;
  const play = (drain: boolean): Promise<Report> =>
    simulate(config(sized(4)), scenario(load, { durationMs: 1000, drain }));

  assert.deepEqual([lane(await play(false), "low").done, lane(await play(true), "low").done], [
    0,
    4,
  ]);
});

Deno.test("simulate() is interrupted and reports on what was played", async () => {
  const interrupt = new AbortController();
  let told = 0;
  const onProgress = (share: number): void => {
    told = share;
    if (share > 0.01) interrupt.abort();
  };

  const load = scenario({ high: poisson(50) }, { durationMs: 14_400_000 });
  const report = await simulate(config(), load, { signal: interrupt.signal, onProgress });

  assert.equal(report.interrupted, true);
  assert(told > 0.01 && told < 0.5);
  assert(Math.abs(report.durationMs - told * 14_400_000) < 1);
  assert(Math.abs(lane(report, "high").perSec - 50) < 2);
});

Deno.test("simulate() plays in real time, and leaves nothing behind", async () => {
  const load = scenario({
    high: { arrivals: { kind: "even", perSec: 100 }, serviceMs: { kind: "fixed", ms: 10 } },
    low: { backlog: 1, serviceMs: { kind: "fixed", ms: 60_000 } },
  }, { durationMs: 300, graceMs: 200 });

  const report = await simulate(config(), load, { realTime: true });

  assert.equal(lane(report, "high").arrived, 30);
  assert.equal(lane(report, "high").done, 30);
  assert(lane(report, "high").sojournMs!.p50 >= 10);
  assert.equal(lane(report, "low").left, 1);
});

Deno.test("simulate() counts every job once, whatever the load and the faults", async () => {
  const loads = fc.record({
    arrivals: fc.oneof(
      fc.record({
        kind: fc.constantFrom("even", "poisson"),
        perSec: fc.integer({ min: 0, max: 200 }),
      }),
      fc.record({
        kind: fc.constant("on-off"),
        perSec: fc.integer({ min: 1, max: 300 }),
        onMs: fc.integer({ min: 1, max: 900 }),
        offMs: fc.integer({ min: 1, max: 900 }),
      }),
    ),
    backlog: fc.integer({ min: 0, max: 50 }),
    serviceMs: fc.oneof(
      fc.record({ kind: fc.constant("exponential"), ms: fc.integer({ min: 0, max: 100 }) }),
      fc.record({ kind: fc.constant("lognormal"), ms: fc.constant(30), cv: fc.constant(1.5) }),
    ),
    failRate: fc.constantFrom(0, 0.2),
    deferRate: fc.constantFrom(0, 0.1),
    keys: fc.constantFrom(undefined, 3),
  });
  const faults = fc.array(
    fc.record({
      kind: fc.constantFrom("slow", "down", "refuse", "store-error", "block", "kill"),
      atMs: fc.integer({ min: 0, max: 2500 }),
      forMs: fc.integer({ min: 1, max: 1500 }),
    }),
    { maxLength: 3 },
  );
  const parts = fc.record({
    peers: fc.integer({ min: 1, max: 3 }),
    drain: fc.boolean(),
    graceMs: fc.constantFrom(0, 500),
    seed: fc.nat(),
    faults,
  });
  const lanes = [
    { name: "high", maxRunningPerKey: 2, attempts: 2, backoff: { baseMs: 50 } },
    { name: "low", maxDepth: 60, ttlMs: 800 },
  ];

  await fc.assert(
    fc.asyncProperty(loads, loads, parts, async (high, low, more) => {
      const load = scenario({ high, low } as never, { durationMs: 3000, ...more } as never);
      const report = await simulate(config({ lanes, leaseMs: 600, drainMs: 300 }), load);

      for (const counts of Object.values(report.pools.p!.lanes)) {
        const { started, done, left, dead, shed } = counts;
        assert(left >= 0 && dead >= 0 && shed >= 0);
        assert(done <= started);
      }
      const { min, mean, peak } = report.pools.p!.workers;
      assert(min <= mean && mean <= peak && peak <= 8 * (more.peers + more.faults.length));
    }),
    { numRuns: 30 },
  );
});
