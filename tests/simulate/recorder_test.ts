import assert from "node:assert/strict";
import { Fatal, RetryLater } from "../../mod.ts";
import type { ConfigInput } from "../../src/config/input.ts";
import type { PoolEvent } from "../../src/contract/event.ts";
import { randomStream } from "../../src/base/random.ts";
import { ScenarioRecorder } from "../../src/simulate/recorder.ts";
import type { LaneLoad, ScenarioInput } from "../../src/simulate/mod.ts";
import { simulate } from "../../src/simulate/mod.ts";
import type { PoolHandle } from "../../src/runtime/handles.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { type PoolParts, type Virtual, withPool } from "../_virtual.ts";

/** What a job of a test does: run so long, then end as it says. */
interface Work {
  readonly ms: number;
  readonly ends?: readonly ("failed" | "deferred" | "fatal")[];
  readonly secret?: string;
}

const PARTS: PoolParts = {
  size: { min: 2, max: 8 },
  lanes: [
    { name: "high", attempts: 3, backoff: { baseMs: 100, maxMs: 100, jitter: 0 } },
    { name: "low", targetWaitMs: null, maxDepth: 40 },
  ],
};

/** Lets `play` work on a pool, records it and answers what was recorded and what happened. */
async function recorded(
  play: (virtual: Virtual) => Promise<void>,
  parts: PoolParts = PARTS,
): Promise<{ readonly scenario: ScenarioInput; readonly events: readonly PoolEvent[] }> {
  const clock = new VirtualClock();
  const runs = new Map<string, number>();
  const handler = (job: { readonly id: string; readonly payload: unknown }): Promise<string> => {
    const work = job.payload as Work; // the tests enqueue nothing else
    const run = runs.get(job.id) ?? 0;
    runs.set(job.id, run + 1);
    return new Promise((resolve, reject) => {
      clock.at(clock.nowMs() + work.ms, () => {
        const end = work.ends?.[run];
        if (end === undefined) resolve("done");
        else if (end === "deferred") reject(new RetryLater(250, "not now"));
        else reject(end === "fatal" ? new Fatal("never") : new Error("failed"));
      });
    });
  };
  let scenario: ScenarioInput | undefined;
  let heard: readonly PoolEvent[] = [];
  await withPool({ ...parts, handler }, async (virtual) => {
    const { pool, sluice } = virtual;
    await clock.advance(100);
    const recorder = new ScenarioRecorder(clock.nowMs(), lanesOf(pool));
    const unobserve = sluice.observe((event) => recorder.take(event));
    await play(virtual);
    unobserve();
    heard = virtual.events;
    const span = { name: "test", from: "here", endMs: clock.nowMs() };
    scenario = (await recorder.finish(span)).scenario;
  }, { clock });
  assert(scenario !== undefined);
  return { scenario, events: heard };
}

function lanesOf(pool: PoolHandle): ConstructorParameters<typeof ScenarioRecorder>[1] {
  return pool.snapshot().lanes.map(({ name, ready, blocked, meanServiceMs }) => {
    return { pool: pool.name, lane: name, waiting: ready + blocked, meanServiceMs };
  });
}

function lane(scenario: ScenarioInput, name: string): LaneLoad {
  const found = scenario.pools.p?.lanes[name];
  assert(found !== undefined);
  return found;
}

/** The p-quantile by nearest rank. */
function quantile(values: readonly number[], p: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)] ?? NaN;
}

Deno.test("Recorder hears when jobs came and how long they ran", async () => {
  const { scenario } = await recorded(async ({ clock, pool }) => {
    pool.post({ lane: "high", payload: { ms: 20 } });
    await clock.advance(50);
    pool.post({ lane: "high", payload: { ms: 30 } });
    await clock.advance(450);
  });

  assert.equal(scenario.durationMs, 500);
  assert.deepEqual(lane(scenario, "high"), {
    arrivals: { kind: "trace", atMs: [0, 50] },
    serviceMs: { kind: "trace", runs: [20, 30] },
  });
  assert.deepEqual(Object.keys(scenario.pools.p?.lanes ?? {}), ["high"]);
});

Deno.test("Recorder tells failed, deferred and fatal attempts, and jobs that nobody saw the end of", async () => {
  const { scenario } = await recorded(async ({ clock, pool }) => {
    const { ends, ...plain } = { ms: 10, ends: ["failed", "deferred"] as const };
    pool.post({ lane: "high", payload: { ...plain, ends } });
    pool.post({ lane: "high", payload: { ms: 5, ends: ["failed", "failed", "failed"] } });
    pool.post({ lane: "high", payload: { ms: 7, ends: ["fatal"] } });
    await clock.advance(1000);
    pool.post({ lane: "high", payload: { ms: 5000 } });
    await clock.advance(100);
  });

  assert.deepEqual(lane(scenario, "high").serviceMs, {
    kind: "trace",
    runs: [
      [{ failedMs: 10 }, { deferredMs: 10, forMs: 250 }, 10],
      [{ failedMs: 5 }, { failedMs: 5 }, { failedMs: 5 }],
      { failedMs: 7, fatal: true },
      null,
    ],
  });
  assert.equal(scenario.recorded?.unknown, 1);
});

Deno.test("Recorder writes neither payloads nor keys, and tells keys apart", async () => {
  const { scenario } = await recorded(async ({ clock, pool }) => {
    for (const key of ["customer-ann", "customer-bob", "customer-ann", undefined]) {
      const job = { lane: "high", payload: { ms: 5, secret: "PAYLOAD-TEXT" } };
      pool.post(key === undefined ? job : { ...job, key });
    }
    await clock.advance(200);
  });

  const text = JSON.stringify(scenario);
  const { keys } = lane(scenario, "high");
  assert(Array.isArray(keys));
  assert.doesNotMatch(text, /PAYLOAD|customer|ann|bob/);
  assert.deepEqual(keys.map((key) => keys.indexOf(key)), [0, 1, 0, 3]);
  assert.match(keys[0], /^[0-9a-f]{8}$/);
  assert.equal(keys[3], null);
});

Deno.test("Recorder hashes keys anew in each recording", async () => {
  const play = async ({ clock, pool }: Virtual): Promise<void> => {
    pool.post({ lane: "high", payload: { ms: 5 }, key: "k" });
    await clock.advance(200);
  };

  const [first, second] = [await recorded(play), await recorded(play)];

  assert.notDeepEqual(lane(first.scenario, "high").keys, lane(second.scenario, "high").keys);
});

Deno.test("Recorder takes jobs that waited before for a backlog, delayed ones for arrivals when they are due", async () => {
  const clock = new VirtualClock();
  const recorder = await new Promise<ScenarioRecorder>((resolve, reject) => {
    withPool({
      ...PARTS,
      size: { min: 1, max: 1 },
      handler: () => new Promise((done) => void clock.at(clock.nowMs() + 40, () => done("ok"))),
    }, async ({ pool, sluice }) => {
      for (let count = 0; count < 4; count++) pool.post({ lane: "low", payload: 1 });
      await clock.advance(10); // one runs, three wait
      const recorder = new ScenarioRecorder(clock.nowMs(), lanesOf(pool));
      sluice.observe((event) => recorder.take(event));
      pool.post({ lane: "high", payload: 1, delayMs: 500 });
      await clock.advance(80); // two of the three have started
      resolve(recorder);
    }, { clock }).catch(reject);
  });
  const at = clock.nowMs();

  const early = (await recorder.finish({ name: "", from: "", endMs: at })).scenario;
  const late = (await recorder.finish({ name: "", from: "", endMs: at + 1000 })).scenario;

  assert(early !== undefined && late !== undefined);
  assert.equal(lane(early, "low").backlog, 3);
  assert.deepEqual(Object.keys(early.pools.p?.lanes ?? {}), ["low"]);
  assert.deepEqual(lane(late, "high").arrivals, { kind: "trace", atMs: [500] });
});

Deno.test("Recorder counts jobs that were turned away as arrivals", async () => {
  const { scenario } = await recorded(async ({ clock, pool }) => {
    for (let count = 0; count < 60; count++) {
      try {
        pool.post({ lane: "low", payload: { ms: 10 }, key: `k${count}` });
      } catch {
        // its lane is full
      }
    }
    await clock.advance(2000);
  });

  const { arrivals, serviceMs, keys } = lane(scenario, "low");
  assert(arrivals?.kind === "trace" && serviceMs.kind === "trace" && Array.isArray(keys));
  assert.equal(arrivals.atMs.length, 60);
  assert.equal(serviceMs.runs.filter((run) => run === null).length, scenario.recorded?.unknown);
  assert.ok((scenario.recorded?.unknown ?? 0) >= 10);
  assert.equal(new Set(keys).size, 60);
});

Deno.test("Recorder says which lanes have no run time, and takes the mean of before where there is one", async () => {
  const lanes = [
    { pool: "p", lane: "new", waiting: 1, meanServiceMs: 0 },
    { pool: "p", lane: "old", waiting: 2, meanServiceMs: 33.333 },
  ];
  const recorder = new ScenarioRecorder(0, lanes);

  const { scenario, blind, jobs } = await recorder.finish({ name: "", from: "", endMs: 100 });

  assert.deepEqual([jobs, blind], [3, ["p/new"]]);
  assert(scenario !== undefined);
  assert.deepEqual(lane(scenario, "new").serviceMs, { kind: "fixed", ms: 0 });
  assert.deepEqual(lane(scenario, "old").serviceMs, { kind: "fixed", ms: 33.33 });
});

Deno.test("Recorder answers no scenario where nothing came", async () => {
  const recorder = new ScenarioRecorder(0, [{
    pool: "p",
    lane: "high",
    waiting: 0,
    meanServiceMs: 5,
  }]);
  recorder.take({ kind: "draining", atMs: 1, pool: "p" });
  recorder.take({
    kind: "job-done",
    atMs: 2,
    pool: "p",
    lane: "gone",
    id: "1",
    attempt: 1,
    serviceMs: 1,
  });

  const { scenario, jobs } = await recorder.finish({ name: "", from: "", endMs: 100 });

  assert.deepEqual([scenario, jobs], [undefined, 0]);
});

Deno.test("a recording, simulated on the same config, comes to what the live run came to", async () => {
  const draw = randomStream(7);
  const { scenario, events } = await recorded(async ({ clock, pool }) => {
    for (let count = 0; count < 4000; count++) {
      await clock.advance(draw() * (count % 1000 < 500 ? 10 : 3));
      const fails = draw() < 0.02;
      const work = { ms: 5 + draw() * 30, ...fails ? { ends: ["failed"] as const } : {} };
      try {
        pool.post({ lane: draw() < 0.7 ? "high" : "low", payload: work, key: `k${count % 7}` });
      } catch {
        // its lane is full
      }
    }
    await clock.advance(3000);
  });
  const config = { pools: { p: { handler: "sleep", ...PARTS } } } as ConfigInput; // the parts have all that is required

  const report = await simulate(config, scenario, { seed: 1 });

  for (const name of ["high", "low"]) {
    const own = events.filter((event) => "lane" in event && event.lane === name);
    const waits = own.flatMap((event) => event.kind === "job-started" ? [event.waitMs] : []);
    const count = (kind: PoolEvent["kind"]) => own.filter((event) => event.kind === kind).length;
    const found = report.pools.p?.lanes[name];
    assert(found?.waitMs != null);
    const { arrived, started, done, waitMs } = found;
    assert.equal(arrived, count("job-added") + count("job-shed"));
    near(started, count("job-started"), 0.01 * arrived);
    near(done, count("job-done"), 0.01 * arrived);
    near(waitMs.p50, quantile(waits, 0.5), 2 + 0.02 * waitMs.p50);
    near(waitMs.p95, quantile(waits, 0.95), 2 + 0.02 * waitMs.p95);
  }
});

function near(actual: number, expected: number, within: number): void {
  assert.ok(
    Math.abs(actual - expected) <= within,
    `${actual} is not within ${within} of ${expected}`,
  );
}

Deno.test("Recorder makes a scenario of a backlog alone, and none where nothing came or waited", async () => {
  const lane = { pool: "p", lane: "low", meanServiceMs: 7 };
  const span = { name: "mail", from: "http://127.0.0.1:8787", endMs: 1000 };

  const { scenario, jobs } = await new ScenarioRecorder(0, [{ ...lane, waiting: 3 }]).finish(span);
  const nothing = await new ScenarioRecorder(0, [{ ...lane, waiting: 0 }]).finish(span);

  assert.equal(jobs, 3);
  assert.equal(nothing.scenario, undefined);
  assert(scenario !== undefined);
  const { pools } = await simulate({
    pools: { p: { handler: "sleep", size: { min: 1, max: 1 }, lanes: [{ name: "low" }] } },
  }, scenario);
  assert.equal(pools["p"]?.lanes["low"]?.done, 3);
});
