import assert from "node:assert/strict";
import { simulate } from "../../src/simulate/mod.ts";

Deno.test("simulate() holds the rates of keys, and needs no workers for what waits for them", async () => {
  const lanes = [{ name: "only", ratesPerKey: [{ calls: 2, perMs: 1000 }] }];
  const pool = {
    handler: "./no/such.ts",
    size: { min: 1, max: 20 },
    lanes,
    admission: "admit-all",
  };
  const only = {
    arrivals: { kind: "poisson", perSec: 100 },
    serviceMs: { kind: "fixed", ms: 20 },
    keys: 5,
  } as const;
  for (const peers of [1, 3]) {
    const load = { durationMs: 60_000, peers, drain: false, pools: { p: { lanes: { only } } } };

    const report = await simulate({ pools: { p: pool } }, load, { seed: 1 });

    const { done } = report.pools.p!.lanes.only!;
    assert.ok(done <= 5 * 2 * 61, `${done}: 5 keys, 2 a second each`);
    assert.ok(done >= 5 * 2 * 58, `${done}`);
    assert.ok(report.pools.p!.workers.peak <= 3 * peers, `${report.pools.p!.workers.peak}`);
  }
});
