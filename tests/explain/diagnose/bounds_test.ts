/**
 * What binds a pool, told apart: bounds of pool and lane, rates, keys, a split of the workers.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { Finding, FindingCode } from "../../../src/explain/diagnose.ts";
import { codesOf, diagnosisOf, type Scenario } from "./_load.ts";

async function first(code: FindingCode, scenario: Scenario): Promise<Finding> {
  const found = await diagnosisOf(scenario);
  assert.equal(found[0]?.code, code, codesOf(found).join());
  return found[0]!;
}

Deno.test("diagnose() finds steady overload at any target, and none at 0.9 of it (D2)", async () => {
  const at = (load: number, targetWaitMs: number, size: number): Scenario => ({
    pool: { size: { min: 1, max: size }, lanes: [{ name: "jobs", targetWaitMs }] },
    streams: [{ lane: "jobs", perSec: load * size * 10, serviceMs: 100, poisson: true }],
    forMs: 120_000,
  });
  for (
    const [load, targetWaitMs, size] of [[1.05, 50, 4], [1.5, 200, 2], [1.05, 1000, 8]] as const
  ) {
    const finding = await first("at-capacity", at(load, targetWaitMs, size));
    assert.equal(finding.setting, "size.max");
    assert.match(
      finding.change,
      new RegExp(`^Raise size\\.max from ${size} to \\d+, or send less`),
    );
  }
  assert.deepEqual(codesOf(await diagnosisOf(at(0.9, 1000, 8))), []);
});

Deno.test("diagnose() says at-capacity of a lane at its maxRunning while workers are idle (D2)", async () => {
  const finding = await first("at-capacity", {
    pool: {
      size: { min: 1, max: 8 },
      lanes: [{ name: "high", targetWaitMs: 50 }, { name: "low", targetWaitMs: 50, maxRunning: 2 }],
      admission: "admit-all",
    },
    streams: [{ lane: "high", perSec: 20 }, { lane: "low", perSec: 30, serviceMs: 100 }],
    forMs: 70_000,
  });

  assert.equal(finding.lane, "low");
  assert.equal(finding.setting, "lanes.low.maxRunning");
  assert.match(
    finding.saw,
    /^For 1 min the 2 jobs that lane "low" may run at once were not enough/,
  );
  assert.match(finding.change, /^Raise maxRunning of lane "low" from 2 to 4, or shed jobs/);
});

Deno.test("diagnose() says key-bound of jobs behind the limit of their key, with the oldest's age (D3)", async () => {
  const scenario = (perSec: number): Scenario => ({
    pool: {
      size: { min: 1, max: 8 },
      lanes: [{ name: "low", targetWaitMs: 50, maxRunningPerKey: 1 }],
      admission: "admit-all",
    },
    streams: [{ lane: "low", perSec, serviceMs: 100, key: "one" }],
    forMs: 70_000,
  });

  const finding = await first("key-bound", scenario(15));

  assert.equal(finding.setting, "lanes.low.maxRunningPerKey");
  assert.ok((finding.numbers.oldestBlockedMs ?? 0) > 10_000, finding.saw);
  assert.match(finding.saw, /\d+ jobs are blocked, the oldest for 2[0-9.]+ s, and 1 runs$/);
  assert.deepEqual(codesOf(await diagnosisOf(scenario(9))), []);
});

Deno.test("diagnose() says reserve-idle of a lane policy that keeps half of the workers idle (C7)", async () => {
  const scenario = (reserve: number, backlog: number): Scenario => ({
    pool: {
      size: { min: 1, max: 32 },
      lanes: [{ name: "high" }, { name: "low", targetWaitMs: null }],
      caps: [{ use: "api-rate-cap", with: { callsPerSec: 30, serviceMs: 75 } }],
      lanePolicy: { use: "reserved-lane", with: { reserve: { high: reserve } } },
      admission: "admit-all",
    },
    streams: [{ lane: "high", perSec: 2, serviceMs: 75 }],
    backlog,
    forMs: 100_000,
  });

  const finding = await first("reserve-idle", scenario(1, 2200));

  assert.equal(finding.lane, "low");
  assert.equal(finding.setting, "lanePolicy");
  assert.match(
    finding.saw,
    /of 2 workers (was|were) idle on average, because lane policy "reserved-lane"/,
  );
  assert.ok(!codesOf(await diagnosisOf(scenario(0, 2200))).includes("reserve-idle low"));
  assert.deepEqual(codesOf(await diagnosisOf(scenario(1, 0))), []);
});

Deno.test("diagnose() names the controller where it asks for too few, and says for how long", async () => {
  const finding = await first("at-capacity", {
    pool: {
      size: { min: 1, max: 8 },
      lanes: [{ name: "jobs", targetWaitMs: 50 }],
      controller: { use: "fixed", with: { workers: 2 } },
      admission: "admit-all",
    },
    streams: [{ lane: "jobs", perSec: 30, serviceMs: 100 }],
    forMs: 600_000,
  });

  assert.equal(finding.setting, "controller");
  assert.match(
    finding.saw,
    /^For 9 min \d+ s 2 workers were not enough, and controller "fixed" asked for no more of the 8/,
  );
});

Deno.test("diagnose() names size.max, not a cap that only measures (D7)", async () => {
  const finding = await first("at-capacity", {
    pool: { size: { min: 1, max: 8 }, lanes: [{ name: "jobs", targetWaitMs: 50 }] },
    streams: [{
      lane: "jobs",
      perSec: 120,
      serviceMs: (_, random) => -100 * Math.log(1 - random()),
      poisson: true,
    }],
    forMs: 110_000,
  });

  assert.equal(finding.setting, "size.max");
  assert.doesNotMatch(finding.saw + finding.change, /adaptive-cap/);
});
