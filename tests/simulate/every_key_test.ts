/**
 * Scenarios that set every key of their schema are played.
 *
 * @module
 */

import assert from "node:assert/strict";
import { simulate } from "../../src/simulate/mod.ts";
import { scenarioSchema } from "../../src/simulate/json_schema.ts";
import type { ScenarioInput } from "../../src/simulate/scenario.ts";
import { keysIn, keysOf, type Schema } from "../_every_key.ts";

const SCHEMA = scenarioSchema() as Schema; // draft-07

const fixed = { kind: "fixed", ms: 5 } as const;
const phases = [{ untilMs: 500, perSec: 4 }, { untilMs: 1000, perSec: 8 }] as const;

/** A lane for each way that jobs arrive, and each that they run. */
const LANES: NonNullable<ScenarioInput["pools"][string]>["lanes"] = {
  a: {
    arrivals: { kind: "even", perSec: 20 },
    serviceMs: fixed,
    backlog: 3,
    failRate: 0.1,
    deferRate: 0.1,
    deferMs: 50,
    keys: 4,
  },
  b: { arrivals: { kind: "poisson", perSec: 20 }, serviceMs: { kind: "exponential", ms: 5 } },
  c: {
    arrivals: { kind: "on-off", perSec: 20, onMs: 100, offMs: 100, spacing: "even" },
    serviceMs: { kind: "uniform", min: 1, max: 9 },
  },
  d: {
    arrivals: { kind: "trace", atMs: [0, 10, 20, 30, 40, 50, 60] },
    serviceMs: {
      kind: "trace",
      runs: [
        5,
        null,
        { failedMs: 2 },
        [{ failedMs: 2, fatal: true }],
        { deferredMs: 1, forMs: 20 },
        { failedMs: 2, fatal: true },
        [{ failedMs: 2 }, { deferredMs: 1, forMs: 20 }, 3],
      ],
    },
    keys: ["x", null, "y"],
  },
  e: {
    arrivals: { kind: "even", phases },
    serviceMs: { kind: "lognormal", ms: 5, cv: 0.5 },
  },
  f: {
    arrivals: { kind: "poisson", phases },
    serviceMs: { kind: "knee", ms: 5, cv: 0.3, slots: 2, collapse: 0.1, tells: true },
  },
  g: {
    arrivals: { kind: "on-off", perSec: 20, onMs: 100, offMs: 100, spacing: "poisson" },
    serviceMs: fixed,
  },
  h: {
    arrivals: { kind: "counts", perMin: [600], spacing: "even" },
    serviceMs: { kind: "percentiles", p50: 2, p75: 3, p90: 4, p95: 5, p99: 9, max: 20 },
  },
  i: {
    arrivals: { kind: "counts", perMin: [600], spacing: "poisson" },
    serviceMs: { kind: "percentiles", p50: 2, p99: 9 },
  },
};

const REST: Omit<ScenarioInput, "pools" | "durationMs"> = {
  $schema: "./scenario.schema.json",
  name: "all",
  seed: 3,
  drain: true,
  graceMs: 500,
  timerLateMs: { kind: "exponential", ms: 0.3 },
  peers: 2,
  storeMs: 2,
  recorded: {
    from: "http://127.0.0.1:8787",
    at: "2026-01-01T00:00:00Z",
    missed: 1,
    unknown: 2,
  },
  faults: [
    { kind: "slow", atMs: 100, forMs: 100, factor: 2 },
    { kind: "slots", atMs: 200, forMs: 100, factor: 0.5 },
    { kind: "down", atMs: 300, forMs: 50 },
    { kind: "refuse", atMs: 350, forMs: 50, retryAfterMs: 20 },
    { kind: "store-error", atMs: 400, forMs: 50 },
    { kind: "block", atMs: 460, forMs: 20 },
    { kind: "kill", atMs: 500, forMs: 100 },
  ],
};

const SCENARIOS: readonly ScenarioInput[] = [
  { ...REST, durationMs: 1000, pools: { p: { lanes: LANES } } },
  ...[
    { kind: "fixed", ms: 1 },
    { kind: "uniform", min: 0, max: 1 },
    { kind: "lognormal", ms: 1, cv: 1 },
    { kind: "percentiles", p50: 0.2, p75: 0.3, p90: 0.4, p95: 0.5, p99: 1, max: 2 },
  ].map((timerLateMs): ScenarioInput => ({
    timerLateMs: timerLateMs as NonNullable<ScenarioInput["timerLateMs"]>, // each is of its kind
    durationMs: 200,
    pools: { p: { lanes: { a: { serviceMs: fixed, backlog: 2 } } } },
  })),
];

for (const [index, scenario] of SCENARIOS.entries()) {
  Deno.test(`simulate() plays scenario ${index} of those that set every key`, async () => {
    const lanes = Object.keys(LANES).map((name) => ({ name }));

    const { pools } = await simulate({
      pools: { p: { handler: "sleep", size: { min: 1, max: 8 }, lanes } },
    }, scenario);

    for (const name of Object.keys(scenario.pools["p"]?.lanes ?? {})) {
      assert.ok((pools["p"]?.lanes[name]?.done ?? 0) > 0, name);
    }
  });
}

Deno.test("The scenarios of these tests set every key of the schema between them", () => {
  const known = keysOf(SCHEMA);

  assert.ok(known.size > 50, `${known.size}`);
  assert.deepEqual([...known.difference(keysIn(SCHEMA, SCENARIOS))], []);
});
