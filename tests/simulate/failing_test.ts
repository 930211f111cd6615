import assert from "node:assert/strict";
import type { ConfigInput, PoolInput } from "../../src/config/input.ts";
import { defineController } from "../../src/contract/plugin.ts";
import { type ScenarioInput, simulate } from "../../src/simulate/mod.ts";

function config(parts: Partial<PoolInput>): ConfigInput {
  const pool = { handler: "sleep", size: { min: 2, max: 8 }, lanes: [{ name: "high" }], ...parts };
  return { pools: { p: pool } };
}

const SCENARIO: ScenarioInput = {
  durationMs: 2000,
  pools: {
    p: {
      lanes: {
        high: {
          arrivals: { kind: "poisson", perSec: 20 },
          serviceMs: { kind: "fixed", ms: 20 },
        },
      },
    },
  },
};

/** A controller that answers well only every second time, or never. */
const broken = (works: boolean): ReturnType<typeof defineController> =>
  defineController({
    name: "broken",
    create: () => {
      let asked = 0;
      return () => ({ workers: works && asked++ % 2 === 0 ? 2 : NaN, reason: "" });
    },
  });

Deno.test("simulate() says which strategies failed, each once, first when, in which process", async () => {
  const load = { ...SCENARIO, peers: 2 };

  const plugins = { broken: broken(false) };
  const report = await simulate(config({ controller: "broken" }), load, { plugins });
  const sometimes = await simulate(
    config({ controller: "broken" }),
    SCENARIO,
    {
      plugins: { broken: broken(true) },
    },
  );

  const error = "Expected Proposal workers >= 0 but received NaN";
  assert.deepEqual(report.pools.p?.failing, [
    { process: 0, plugin: "broken", error, atMs: 0 },
    { process: 1, plugin: "broken", error, atMs: 0 },
  ]);
  assert.equal(sometimes.pools.p?.failing?.length, 1);
});

Deno.test("simulate() names no strategy that failed where none did, and no candidate", async () => {
  const plugins = { broken: broken(false) };
  const pool = config({ shadow: { controller: "broken" } });

  const report = await simulate(pool, SCENARIO, { plugins });

  assert.equal(report.pools.p?.failing, undefined);
  assert.equal(
    report.pools.p?.shadow?.[0]?.error,
    "Expected Proposal workers >= 0 but received NaN",
  );
});
