/**
 * Worker counts that swing although the load does not, and what makes them.
 *
 * @module
 */

import assert from "node:assert/strict";
import { defineCap, type Plugin } from "../../../src/contract/plugin.ts";
import type { Finding, FindingCode } from "../../../src/explain/diagnose.ts";
import { codesOf, diagnosisOf, type Scenario } from "./_load.ts";

/** One lane of 20 ms jobs. */
const ONE_LANE = [{ name: "jobs", targetWaitMs: 50 }];

async function one(code: FindingCode, scenario: Scenario): Promise<Finding> {
  const found = (await diagnosisOf(scenario)).filter((finding) => finding.code === code);
  assert.equal(found.length, 1, `${code} is told once`);
  return found[0]!;
}

Deno.test("diagnose() says oscillation of a controller that swings at a steady load, not of the default", async () => {
  const scenario: Scenario = {
    pool: {
      size: { min: 2, max: 32 },
      lanes: ONE_LANE,
      controller: { use: "age-scaler", with: { rule: "step", idleMs: 50 } },
    },
    streams: [{ lane: "jobs", perSec: 800, poisson: true }],
    forMs: 120_000,
  };

  const finding = await one("oscillation", scenario);
  const calm = await diagnosisOf({
    ...scenario,
    pool: { ...scenario.pool, controller: "age-scaler" },
  });

  assert.match(
    finding.saw,
    /^\d+ reversals and \d+ changes a minute between \d+ and \d+ workers at .* controller "age-scaler" turns back by itself$/,
  );
  assert.ok((finding.numbers.reversals ?? 0) > 2);
  assert.deepEqual(codesOf(calm), []);
});

Deno.test("diagnose() does not take the trials of a cap for oscillation", async () => {
  const scenario = (tries: boolean): Scenario => ({
    pool: { size: { min: 2, max: 32 }, lanes: ONE_LANE, caps: [swinging(tries)], adaptive: false },
    streams: [{ lane: "jobs", perSec: 800, poisson: true }],
    forMs: 120_000,
  });

  const flapping = await one("oscillation", scenario(false));
  assert.equal(flapping.setting, "cap:swinging");
  assert.match(flapping.saw, /the limit of cap "swinging" moves between 4 and 8$/);
  assert.ok(!codesOf(await diagnosisOf(scenario(true))).includes("oscillation"));
});

/** Half of the pool each other second. */
function swinging(tries: boolean): Plugin<"cap"> {
  return defineCap({
    name: "swinging",
    tries,
    create: () => ({ nowMs }) => ({
      workers: Math.floor(nowMs / 1000) % 2 === 0 ? 4 : 8,
      reason: "swings",
    }),
  });
}

Deno.test("diagnose() does not take a load that itself goes up and down for oscillation", async () => {
  const found = await diagnosisOf({
    pool: {
      size: { min: 2, max: 32 },
      lanes: ONE_LANE,
      controller: { use: "age-scaler", with: { rule: "step", idleMs: 50 } },
    },
    streams: [{
      lane: "jobs",
      perSec: (atMs) => Math.floor(atMs / 15_000) % 2 === 0 ? 20 : 600,
    }],
    forMs: 120_000,
  });

  assert.ok(!codesOf(found).includes("oscillation"), codesOf(found).join());
});

Deno.test("diagnose() says of oscillation that jobs outlast what the controller looks back on (D7)", async () => {
  const found = await diagnosisOf({
    pool: {
      size: { min: 1, max: 32 },
      lanes: [{ name: "jobs", targetWaitMs: 100 }],
      controller: { use: "age-scaler", with: { rule: "step", idleMs: 50 } },
      admission: "admit-all",
      timeoutMs: 600_000,
    },
    streams: [{ lane: "jobs", perSec: 0.6, serviceMs: 12_000, poisson: true }],
    forMs: 180_000,
  });

  const finding = found.find(({ code }) => code === "oscillation");
  assert.match(finding?.saw ?? "", /jobs of lane "jobs" run 12 s, longer than controller/);
  assert.equal(finding?.setting, "controller");
});
