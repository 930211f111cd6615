/**
 * Each finding in a scenario on a real pool in which it appears, and in one close to it in which it
 * does not.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { Finding, FindingCode } from "../../src/explain/diagnose.ts";
import { codesOf, diagnosisOf, played, type Scenario } from "./diagnose/_load.ts";

/** One lane of 20 ms jobs. */
const ONE_LANE = [{ name: "jobs", targetWaitMs: 50 }];

/** Lanes of the lanes experiment: urgent jobs beside a backlog of batch jobs. */
const LANES = [{ name: "high", targetWaitMs: 50 }, { name: "low", targetWaitMs: null }];

/** Batch jobs of 100 to 300 ms. */
function batchMs(_: number, random: () => number): number {
  return 100 + 200 * random();
}

async function one(code: FindingCode, scenario: Scenario): Promise<Finding> {
  const found = (await diagnosisOf(scenario)).filter((finding) => finding.code === code);
  assert.equal(found.length, 1, `${code} is told once`);
  return found[0]!;
}

Deno.test("diagnose() says at-capacity, when age is over target at the limit for a minute", async () => {
  const scenario: Scenario = {
    pool: {
      size: { min: 1, max: 8 },
      lanes: ONE_LANE,
      caps: [{ use: "db-pool-cap", with: { connections: 2 } }],
      admission: "admit-all",
    },
    streams: [{ lane: "jobs", perSec: 120 }],
    forMs: 70_000,
  };

  const finding = await one("at-capacity", scenario);
  const spike = await diagnosisOf({ ...scenario, forMs: 55_000 });
  const below = await diagnosisOf({ ...scenario, streams: [{ lane: "jobs", perSec: 90 }] });

  assert.match(
    finding.saw,
    /^For 1 min 2 workers, all that cap "db-pool-cap" allows, were not enough: 100 % of the jobs of lane "jobs" started later than the target of 50 ms, the oldest waits/,
  );
  assert.equal(finding.numbers.limit, 2);
  assert.equal(
    finding.change,
    'Raise cap "db-pool-cap" from 2 to 3, or shed jobs (an admission such as shed-at-cap)',
  );
  assert.equal(finding.setting, "cap:db-pool-cap");
  assert.deepEqual(codesOf(spike), []);
  assert.deepEqual(codesOf(below), []);
});

Deno.test("diagnose() says at-capacity without advice to shed, when shed-at-cap let a backlog in", async () => {
  const finding = await one("at-capacity", {
    pool: {
      size: { min: 1, max: 8 },
      caps: [{ use: "db-pool-cap", with: { connections: 2 } }],
    },
    streams: [],
    backlog: 1_000,
    forMs: 70_000,
  });

  assert.equal(finding.numbers.shedPerSec, 0);
  assert.equal(finding.change, 'Raise cap "db-pool-cap" above 2, or wait: no more come');
});

Deno.test("diagnose() says at-capacity with what is shed, when a start rate binds and the door sheds", async () => {
  const scenario: Scenario = {
    pool: {
      size: { min: 1, max: 32 },
      lanes: ONE_LANE,
      caps: [{ use: "api-rate-cap", with: { callsPerSec: 100 } }],
    },
    streams: [{ lane: "jobs", perSec: 150 }],
    forMs: 70_000,
  };

  const finding = await one("at-capacity", scenario);

  assert.match(finding.saw, /^For 1 min the start rate of cap "api-rate-cap" was not enough: /);
  assert.ok((finding.numbers.shedPerSec ?? 0) > 40, finding.saw);
  assert.match(
    finding.change,
    /^Raise the rate of cap "api-rate-cap" to 1[45]\d\/s or more, or send less$/,
  );
});

Deno.test("diagnose() says reserve-small, when urgent waits go over job time behind too small a reserve", async () => {
  const scenario = (reserve: number): Scenario => ({
    pool: {
      size: { min: 10, max: 10 },
      lanes: LANES,
      lanePolicy: { use: "reserved-lane", with: { reserve: { high: reserve } } },
    },
    streams: [
      { lane: "high", perSec: 150, poisson: true },
      { lane: "low", perSec: 45, serviceMs: batchMs },
    ],
    backlog: 2000,
    forMs: 45_000,
  });

  const finding = await one("reserve-small", scenario(1));
  const enough = await diagnosisOf(scenario(5));

  assert.equal(finding.lane, "high");
  assert.equal(finding.numbers.kept, 1);
  assert.match(finding.change, /^Reserve [45] workers for "high": 1[45]\d\/s x 20 ms x 1\.5$/);
  assert.deepEqual(codesOf(enough), []);
});

Deno.test("diagnose() says no-preemption, when urgent jobs wait for long batch jobs to end", async () => {
  const scenario = (lanePolicy: Scenario["pool"]["lanePolicy"], serviceMs: number): Scenario => ({
    pool: { size: { min: 10, max: 10 }, lanes: LANES, lanePolicy: lanePolicy! },
    streams: [
      { lane: "high", perSec: 30, poisson: true },
      {
        lane: "low",
        perSec: 9500 / serviceMs,
        serviceMs: (_, random) => serviceMs * (0.5 + random()),
      },
    ],
    backlog: serviceMs === 200 ? 2000 : 0,
    forMs: 45_000,
  });

  const finding = await one("no-preemption", scenario("strict-priority", 200));
  const reserved = await diagnosisOf(
    scenario({ use: "reserved-lane", with: { reserve: { high: 2 } } }, 200),
  );
  const short = await diagnosisOf(scenario("strict-priority", 20));

  assert.equal(finding.lane, "high");
  assert.ok((finding.numbers.runMs ?? 0) >= 200, finding.saw);
  assert.match(finding.change, /^Reserve 1 worker for "high", or let jobs below it checkpoint/);
  assert.deepEqual(codesOf(reserved), []);
  assert.deepEqual(codesOf(short), []);
});

Deno.test("diagnose() says lane-starved, when the lanes above take all workers for long", async () => {
  const scenario = (perSec: number): Scenario => ({
    pool: {
      size: { min: 10, max: 10 },
      lanes: [{ name: "high", targetWaitMs: null }, { name: "low", targetWaitMs: null }],
      lanePolicy: "strict-priority",
      admission: "admit-all",
    },
    streams: [{ lane: "high", perSec }],
    backlog: 500,
    forMs: 75_000,
  });

  const finding = await one("lane-starved", scenario(600));
  const spared = await diagnosisOf(scenario(400));

  assert.equal(finding.lane, "low");
  assert.ok((finding.numbers.ready ?? 0) > 400, finding.saw);
  assert.match(finding.change, /^More workers rather than another split: raise size\.max/);
  assert.ok(!codesOf(spared).includes("lane-starved low"), codesOf(spared).join());
});

Deno.test("diagnose() says never-grows, when ever more jobs wait that cause no growth (C8)", async () => {
  const scenario = (
    lane: { readonly targetWaitMs?: null; readonly startWithinMs?: number },
    perSec: number,
    backlog = 0,
  ): Scenario => ({
    pool: {
      size: { min: 1, max: 16 },
      lanes: [{ name: "low", ...lane }],
      admission: "admit-all",
      timeoutMs: 100_000,
    },
    streams: [{ lane: "low", perSec, serviceMs: 40_000 }],
    backlog,
    forMs: 370_000,
  });

  const finding = await one("never-grows", scenario({ targetWaitMs: null }, 0.2));
  const others = [
    scenario({}, 0.2),
    scenario({ targetWaitMs: null, startWithinMs: 60_000 }, 0.2),
    scenario({ targetWaitMs: null }, 0.02),
    scenario({ targetWaitMs: null }, 0, 5000), // a backlog that gets shorter
  ];

  assert.equal(finding.lane, "low");
  assert.ok((finding.numbers.more ?? 0) > 40, finding.saw);
  assert.match(finding.change, /^Set "startWithinMs" for "low"/);
  for (const other of others) {
    const codes = codesOf(await diagnosisOf(other));
    assert.ok(!codes.includes("never-grows low"), codes.join());
  }
});

Deno.test("diagnose() says downstream-slower, when jobs take longer than they did", async () => {
  const scenario = (slowMs: number): Scenario => ({
    pool: { size: { min: 2, max: 32 }, lanes: ONE_LANE },
    streams: [{
      lane: "jobs",
      perSec: 100,
      serviceMs: (atMs) => atMs < 120_000 ? 20 : slowMs,
    }],
    forMs: 165_000,
  });

  const finding = await one("downstream-slower", scenario(60));
  const spread = await diagnosisOf(scenario(25));

  assert.equal(finding.lane, "jobs");
  assert.match(
    finding.saw,
    /^Jobs of lane "jobs" run 60 ms, 3 times the 20 ms of before; workers went from \d+ to \d+$/,
  );
  assert.match(finding.change, /more workers will not help/);
  assert.deepEqual(codesOf(spread), []);
});

Deno.test("diagnose() goes on saying downstream-slower until it has been so for half of the time", async () => {
  const finding = await one("downstream-slower", {
    pool: { size: { min: 2, max: 32 }, lanes: ONE_LANE },
    streams: [{ lane: "jobs", perSec: 10, serviceMs: (atMs) => atMs < 600_000 ? 20 : 60 }],
    forMs: 1_020_000, // seven minutes of it
  });

  assert.match(finding.saw, /3 times the 20 ms of before/);
});

Deno.test("diagnose() says fixed-would-do, when one count above the minimum serves a load for long", async () => {
  const scenario = (perSec: (atMs: number) => number): Scenario => ({
    pool: { size: { min: 1, max: 16 }, lanes: ONE_LANE },
    streams: [{ lane: "jobs", perSec, serviceMs: 500 }],
    forMs: 780_000,
  });

  const finding = await one("fixed-would-do", scenario(() => 7));
  const varying = await diagnosisOf(
    scenario((atMs) => Math.floor(atMs / 120_000) % 2 === 0 ? 3 : 12),
  );
  const fixed = await diagnosisOf({
    ...scenario(() => 7),
    pool: {
      size: { min: 1, max: 16 },
      lanes: ONE_LANE,
      controller: { use: "fixed", with: { workers: 5 } },
    },
  });

  assert.match(finding.saw, /^For 1\d min \d+ s always \d workers, 3\.5 busy on average$/);
  assert.match(finding.change, /^Set size\.min and size\.max to \d:/);
  assert.deepEqual(codesOf(varying), []);
  assert.deepEqual(codesOf(fixed), []);
});

Deno.test("diagnose() says stalled, when no attempt ends and jobs grow old, not when jobs are long", async () => {
  const scenario = (serviceMs: number): Scenario => ({
    pool: {
      size: { min: 2, max: 2 },
      lanes: [{ name: "jobs", targetWaitMs: null }],
      timeoutMs: 3_600_000,
      admission: "admit-all",
    },
    streams: [{
      lane: "jobs",
      perSec: 1,
      serviceMs: (atMs) => atMs < 20_000 ? 1000 : serviceMs,
    }],
    forMs: 150_000,
  });

  const finding = await one("stalled", scenario(3_000_000));
  const long = await diagnosisOf(scenario(30_000));

  assert.match(
    finding.saw,
    /^For 1 min 3\d s no attempt has ended: \d+ jobs are ready, the oldest for 2 min \d+ s; of 2 workers 2 are busy, 0 stuck$/,
  );
  assert.equal(finding.change, "Check what the handler waits for, and set a timeoutMs");
  assert.ok(!codesOf(long).includes("stalled"), codesOf(long).join());
});

Deno.test("diagnose() says what stalls a pool that a cap has stopped, and one whose handlers ignore their abort", async () => {
  const parts = { size: { min: 0, max: 2 }, lanes: [{ name: "jobs", targetWaitMs: 50 }] };
  const streams = [{ lane: "jobs", perSec: 1 }];

  const stopped = await one("stalled", {
    pool: {
      ...parts,
      caps: [{ use: "fixed-cap", with: { workers: 0 } }],
      admission: "admit-all",
    },
    streams,
    forMs: 100_000,
  });
  const stuck = await one("stalled", {
    pool: {
      ...parts,
      timeoutMs: 1000,
      handler: () => new Promise(() => {}),
      caps: [{ use: "fixed-cap", with: { workers: 2 } }],
      admission: "admit-all",
    },
    streams,
    forMs: 120_000,
  });

  assert.equal(stopped.change, 'Raise the bound: cap "fixed-cap" allows 0 workers');
  assert.match(stuck.change, /^Make the handler stop when context\.signal aborts/);
});

Deno.test("diagnose() finds nothing in a pool that is well, has just begun, or rests", async () => {
  const streams = [{ lane: "high", perSec: 30 }, { lane: "low", perSec: 10, serviceMs: 100 }];
  const pool = { size: { min: 2, max: 16 } };

  const well = await diagnosisOf({ pool, streams, forMs: 120_000 });
  const young = await diagnosisOf({ pool, streams, forMs: 10 });
  const resting = await diagnosisOf({ pool, streams: [], forMs: 700_000 });

  assert.deepEqual([well, young, resting].map(codesOf), [[], [], []]);
});

Deno.test("PoolHandle.diagnosis() forgets a finding once what caused it is over", async () => {
  await played({
    pool: {
      size: { min: 1, max: 2 },
      lanes: ONE_LANE,
      admission: "admit-all",
    },
    streams: [{ lane: "jobs", perSec: (atMs) => atMs < 70_000 ? 120 : 20 }],
    forMs: 70_000,
  }, async ({ clock, pool }) => {
    assert.deepEqual(codesOf(pool.diagnosis()), ["at-capacity jobs"]);
    await clock.advance(60_000);
    assert.deepEqual(codesOf(pool.diagnosis()), []);
  });
});
