import assert from "node:assert/strict";
import { join } from "node:path";
import { builtins, defaults } from "../../plugins/mod.ts";
import { ConfigError } from "../../src/contract/errors.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { readScenario } from "../../src/simulate/read_scenario.ts";
import type { ScenarioInput } from "../../src/simulate/scenario.ts";
import { temporaryFolder } from "../cli/_io.ts";

const settings = await resolveConfig({
  pools: {
    mail: {
      handler: "./none.ts",
      size: { min: 1, max: 2 },
      lanes: [{ name: "urgent" }, { name: "batch" }],
    },
  },
}, { builtins, defaults, simulated: true });

const serviceMs = { kind: "fixed", ms: 20 };

/** Faults of a scenario, each as pointer and message. */
async function faultsOf(scenario: unknown): Promise<readonly string[]> {
  try {
    await readScenario(scenario as ScenarioInput, settings); // what is wrong with it is tested
  } catch (error) {
    assert(error instanceof ConfigError);
    return error.faults.map(({ pointer, message }) => `${pointer}: ${message}`);
  }
  return [];
}

function withLane(lane: unknown, parts: object = {}): object {
  return { durationMs: 1000, pools: { mail: { lanes: { urgent: lane } } }, ...parts };
}

Deno.test("readScenario() fills in all defaults", async () => {
  const scenario = await readScenario(
    {
      durationMs: 1000,
      pools: { mail: { lanes: { batch: { serviceMs: { kind: "fixed", ms: 1 } } } } },
    },
    settings,
  );

  const { pools: [pool], ...top } = scenario;
  assert.deepEqual(top, {
    name: "scenario",
    seed: 1,
    durationMs: 1000,
    drain: false,
    graceMs: 0,
    peers: 1,
    storeMs: 0,
    faults: [],
  });
  assert.deepEqual(pool!.lanes.map(({ settings, ...load }) => [settings.name, load]), [
    ["batch", {
      backlog: 0,
      serviceMs: { kind: "fixed", ms: 1 },
      failRate: 0,
      deferRate: 0,
      deferMs: 1000,
    }],
  ]);
});

Deno.test("readScenario() finds all faults at once, each with its pointer", async () => {
  const faults = await faultsOf({
    duration: 5,
    peers: 0,
    graceMs: -1,
    timerLateMs: { kind: "knee", ms: 1, slots: 1 },
    faults: [{ kind: "sloww", atMs: 0, forMs: 1 }, { kind: "kill", atMs: 0 }],
    pools: {
      mial: { lanes: {} },
      mail: {
        lanes: {
          urgnt: { serviceMs },
          urgent: { serviceMs: { kind: "uniform", min: 3, max: 2 }, checkpointMs: 10, failRate: 2 },
          batch: { arrivals: { kind: "even" } },
        },
      },
    },
  });

  assert.deepEqual(
    faults.toSorted(),
    [
      '/durationMs: Expected the key "durationMs" but it is missing: how long jobs arrive, ms',
      '/duration: No key is named "duration": did you mean "durationMs"?',
      '/faults/0/kind: Expected one of "slow", "slots", "down", "refuse", "store-error", "block", "kill" but received "sloww"',
      '/faults/1/forMs: Expected the key "forMs" but it is missing: how long it lasts, ms',
      "/graceMs: Expected a number >= 0 but received -1",
      "/peers: Expected a whole number >= 1 but received 0",
      '/pools/mail/lanes/batch/serviceMs: Expected the key "serviceMs" but it is missing: how long an attempt runs',
      '/pools/mail/lanes/urgent/checkpointMs: The key "checkpointMs" is not supported yet: remove it until a later version supports it',
      "/pools/mail/lanes/urgent/failRate: Expected a number from 0 to 1 but received 2",
      '/pools/mail/lanes/urgnt: No lane of pool "mail" is named "urgnt": did you mean "urgent"?',
      '/pools/mial: No pool of the config is named "mial": did you mean "mail"?',
      '/timerLateMs/kind: Expected one of "fixed", "uniform", "exponential", "lognormal", "percentiles" but received "knee"',
    ].toSorted(),
  );
});

Deno.test("readScenario() says what is wrong with a load", async () => {
  const cases: readonly (readonly [unknown, string])[] = [
    [
      { serviceMs: { kind: "percentiles", p50: 3 } },
      "/serviceMs: Expected p50 and a higher percentile, such as p99",
    ],
    [
      { serviceMs: { kind: "percentiles", p50: 3, p90: 9, p99: 8 } },
      "/serviceMs/p99: Expected at least p90 (9) but received 8",
    ],
    [
      { serviceMs: { kind: "percentiles", p50: 3, p99: 8, max: 7 } },
      "/serviceMs/max: Expected at least p99 (8) but received 7",
    ],
    [
      { serviceMs, arrivals: { kind: "counts", perMin: [] } },
      "/arrivals/perMin: Expected a list of jobs by minute, at least one but received an empty list",
    ],
    [
      { serviceMs, arrivals: { kind: "counts", perMin: [1, 0.5] } },
      "/arrivals/perMin/1: Expected a whole number >= 0 but received 0.5",
    ],
    [
      { serviceMs: { kind: "uniform", min: 3, max: 2 } },
      "/serviceMs/max: Expected at least min (3) but received 2",
    ],
    [
      { serviceMs: 20 },
      '/serviceMs: Expected a duration such as { "kind": "fixed", … } but received 20',
    ],
    [
      { serviceMs, arrivals: { kind: "even" } },
      '/arrivals: Expected the key "perSec" or "phases" but both are missing',
    ],
    [
      { serviceMs, arrivals: { kind: "even", perSec: 1, phases: [{ untilMs: 1, perSec: 1 }] } },
      '/arrivals/phases: Expected either "perSec" or "phases" but received both: remove one',
    ],
    [
      {
        serviceMs,
        arrivals: {
          kind: "poisson",
          phases: [{ untilMs: 9, perSec: 1 }, { untilMs: 9, perSec: 1 }],
        },
      },
      "/arrivals/phases/1/untilMs: Expected a time after the one before (9) but received 9",
    ],
    [
      { serviceMs, arrivals: { kind: "trace", atMs: [1, 3, 2] } },
      "/arrivals/atMs/2: Expected a time after the one before (3) but received 2",
    ],
    [
      { serviceMs, arrivals: { kind: "poisson", perSec: 1e9 } },
      "/arrivals/perSec: Expected a number <= 1000000 but received 1000000000",
    ],
    [
      { serviceMs, arrivals: { kind: "even", phases: [{ untilMs: 1, perSec: 1e7 }] } },
      "/arrivals/phases/0/perSec: Expected a number <= 1000000 but received 10000000",
    ],
    [
      { serviceMs, arrivals: { kind: "on-off", perSec: 1e7, onMs: 1, offMs: 1 } },
      "/arrivals/perSec: Expected a number <= 1000000 but received 10000000",
    ],
    [
      { serviceMs, backlog: 1e9 },
      "/backlog: Expected a whole number <= 10000000 but received 1000000000",
    ],
    [
      { serviceMs, arrivals: {} },
      '/arrivals/kind: Expected one of "even", "poisson", "on-off", "counts", "trace" but received undefined',
    ],
  ];
  for (const [lane, fault] of cases) {
    assert.deepEqual(await faultsOf(withLane(lane)), [`/pools/mail/lanes/urgent${fault}`]);
  }
});

Deno.test("readScenario() gives file, line and column, and says when a file cannot be read", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "scenario.json");
  await Deno.writeTextFile(
    path,
    `{\n  "durationMs": -5,\n  "pools": { "mail": { "lanes": { "urgent": { "serviceMs": { "kind": "fixed", "ms": 1 } } } } }\n}\n`,
  );

  await assert.rejects(readScenario(path, settings), {
    name: "ConfigError",
    message: `${path}:2:17 /durationMs: Expected a number > 0 but received -5`,
  });
  await assert.rejects(readScenario(`${path}.not`, settings), /Cannot read the scenario: /);
});

Deno.test("readScenario() takes what recorders write", async () => {
  const load = {
    backlog: 1,
    arrivals: { kind: "trace", atMs: [0, 10, 10] },
    serviceMs: {
      kind: "trace",
      runs: [20, null, [{ failedMs: 5 }, 7.5], { failedMs: 3, fatal: true }],
    },
    keys: ["3fa2c0de", null, "3fa2c0de", "00ff00ff"],
  };
  const recorded = { from: "http://127.0.0.1:8787", at: "2026-11-29T22:05:46.108Z", missed: 2 };

  assert.deepEqual(await faultsOf(withLane(load, { recorded })), []);
});

Deno.test("readScenario() says what is wrong with recorded runs and keys, and where", async () => {
  const wanted = "Expected how an attempt ended, such as 20, " +
    '{ "failedMs": 20 } or { "deferredMs": 5, "forMs": 1000 }, but received';
  const runs = (...runs: readonly unknown[]) => withLane({ serviceMs: { kind: "trace", runs } });
  const at = "/pools/mail/lanes/urgent";

  assert.deepEqual(await faultsOf(runs(20, -1)), [`${at}/serviceMs/runs/1: ${wanted} -1`]);
  assert.deepEqual(await faultsOf(runs("20", 1)), [`${at}/serviceMs/runs/0: ${wanted} "20"`]);
  assert.deepEqual(await faultsOf(runs([])), [`${at}/serviceMs/runs/0: ${wanted} an empty list`]);
  assert.deepEqual(await faultsOf(runs([20, { failed: 5 }])), [
    `${at}/serviceMs/runs/0: ${wanted} a list`,
  ]);
  assert.deepEqual(await faultsOf(runs(null, null)), [
    `${at}/serviceMs/runs: Expected at least one run that is known but received null only`,
  ]);
  assert.deepEqual(await faultsOf(runs()), [
    `${at}/serviceMs/runs: Expected at least one run that is known but received none`,
  ]);
  assert.deepEqual(await faultsOf(withLane({ serviceMs, keys: ["a", 7] })), [
    `${at}/keys: Expected a whole number >= 1 or the key of each job but received a list`,
  ]);
  assert.deepEqual(await faultsOf(withLane({ serviceMs, keys: 0 })), [
    `${at}/keys: Expected a whole number >= 1 or the key of each job but received 0`,
  ]);
  assert.deepEqual(
    await faultsOf(withLane({ serviceMs }, { recorded: { from: "x", missed: -1 } })),
    [
      '/recorded/at: Expected the key "at" but it is missing: when it began, as ISO 8601 in UTC',
      "/recorded/missed: Expected a whole number >= 0 but received -1",
    ],
  );
});
