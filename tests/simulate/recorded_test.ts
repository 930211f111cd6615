import assert from "node:assert/strict";
import { RecordedAttempts, runsInTurn } from "../../src/simulate/recorded.ts";
import { scenarioText } from "../../src/simulate/scenario_text.ts";
import { type LaneLoad, type LaneReport, simulate } from "../../src/simulate/mod.ts";

const CONFIG = {
  pools: {
    p: {
      handler: "sleep",
      size: { min: 4, max: 4 },
      lanes: [{
        name: "only",
        attempts: 3,
        maxRunningPerKey: 1,
        backoff: { baseMs: 100, maxMs: 100, jitter: 0 },
      }],
    },
  },
};

/** What a load comes to in two seconds, on four workers and three attempts. */
async function played(load: LaneLoad): Promise<LaneReport> {
  const { pools } = await simulate(CONFIG, {
    durationMs: 2000,
    pools: { p: { lanes: { only: load } } },
  });
  const report = pools.p?.lanes.only;
  assert(report !== undefined);
  return report;
}

Deno.test("runsInTurn() gives each job its run, and begins anew after the last", () => {
  const next = runsInTurn([5, [{ failedMs: 1 }, 2], 7], () => 0);

  assert.deepEqual(Array.from({ length: 4 }, next), [5, { place: 1 }, 7, 5]);
});

Deno.test("runsInTurn() draws what nobody saw from what is known", () => {
  const draws = [0, 0.99];
  const next = runsInTurn([null, 5, null, { failedMs: 7 }], () => draws.shift() ?? 0);

  assert.deepEqual(Array.from({ length: 4 }, next), [5, 5, { place: 3 }, { place: 3 }]);
});

Deno.test("RecordedAttempts tells one attempt after the other, of each job for itself", () => {
  const attempts = new RecordedAttempts([[{ failedMs: 3 }, { deferredMs: 4, forMs: 50 }, 5]]);
  const next = (id: string) => attempts.next(id, { place: 0 });

  assert.deepEqual(next("a"), { ms: 3, end: "failed", forMs: 0 });
  assert.deepEqual(next("b"), { ms: 3, end: "failed", forMs: 0 });
  assert.deepEqual(next("a"), { ms: 4, end: "deferred", forMs: 50 });
  assert.deepEqual(next("a"), { ms: 5, end: "done", forMs: 0 });
  assert.deepEqual(next("a"), { ms: 3, end: "failed", forMs: 0 });
  assert.equal(attempts.next("c", 20), undefined);
});

Deno.test("simulate() plays recorded attempts: failures, deferrals, and what fails for good", async () => {
  const { arrived, started, done, dead, sojournMs } = await played({
    arrivals: { kind: "trace", atMs: [0, 100, 200, 300] },
    serviceMs: {
      kind: "trace",
      runs: [
        10,
        [{ failedMs: 10 }, { deferredMs: 10, forMs: 300 }, 10],
        { failedMs: 10, fatal: true },
        { failedMs: 10 },
      ],
    },
  });

  // One, three, one, and three attempts: all that the lane allows.
  assert.deepEqual([arrived, started, done, dead], [4, 8, 2, 2]);
  assert.deepEqual([sojournMs?.p50, sojournMs?.max], [10, 10 + 100 + 10 + 300 + 10]);
});

// E6
Deno.test("RecordedAttempts ends a job whose last recorded attempt was a deferral", () => {
  const attempts = new RecordedAttempts([{ deferredMs: 4, forMs: 50 }, [{ failedMs: 3 }, {
    deferredMs: 4,
    forMs: 50,
  }]]);
  const next = (place: number) => attempts.next(`${place}`, { place })?.end;

  assert.deepEqual([next(0), next(0), next(0)], ["deferred", "done", "deferred"]);
  assert.deepEqual([next(1), next(1), next(1)], ["failed", "deferred", "done"]);
});

// E6
Deno.test("simulate() plays a recorded deferral for exactly as long as it took", async () => {
  const config = structuredClone(CONFIG);
  config.pools.p.lanes[0]!.backoff.jitter = 1;
  const { pools } = await simulate(config, {
    durationMs: 5000,
    pools: {
      p: {
        lanes: {
          only: {
            arrivals: { kind: "trace", atMs: [0, 10, 20, 30] },
            serviceMs: { kind: "trace", runs: [{ deferredMs: 5, forMs: 1000 }] },
          },
        },
      },
    },
  });
  const { done, started, sojournMs } = pools.p!.lanes.only!;

  assert.deepEqual([done, started], [4, 8]);
  assert.deepEqual([sojournMs?.p50, sojournMs?.max], [1010, 1010]);
});

Deno.test("simulate() gives each job its recorded key", async () => {
  const load = {
    arrivals: { kind: "trace", atMs: [0, 0, 0, 0] },
    serviceMs: { kind: "fixed", ms: 100 },
  } as const;

  const one = await played({ ...load, keys: ["a", "a", "a", "a"] });
  const some = await played({ ...load, keys: ["a", "b", null, "a"] });

  assert.equal(one.sojournMs?.max, 400);
  assert.equal(some.sojournMs?.max, 200);
});

Deno.test("simulate() plays recorded runs of made-up arrivals over and over", async () => {
  const { done, sojournMs } = await played({
    arrivals: { kind: "even", perSec: 10 },
    serviceMs: { kind: "trace", runs: [10, 30] },
  });

  assert.equal(done, 19);
  assert.deepEqual([sojournMs?.p50, sojournMs?.max], [10, 30]);
});

Deno.test("scenarioText() writes JSON of at most 100 characters a line", () => {
  const scenario = {
    name: "x",
    durationMs: 1000,
    pools: {
      p: {
        lanes: {
          only: {
            arrivals: { kind: "trace", atMs: Array.from({ length: 200 }, (_, at) => at * 5) },
            serviceMs: { kind: "trace", runs: [1, [{ failedMs: 2 }, 3], null] },
            keys: [],
          },
        },
      },
    },
  } as const;

  const text = scenarioText(scenario);

  assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(scenario)));
  assert.ok(text.split("\n").every((line) => line.length <= 100));
  assert.ok(text.length < 200 * 10 + 500);
});
