import assert from "node:assert/strict";
import { join } from "node:path";
import { sluice, temporaryFolder } from "./_io.ts";

const CONFIG = `{
  "pools": {
    "mail": {
      "handler": "./never_loaded.ts",
      "size": { "min": 1, "max": 2 }, // too few
      "lanes": [{ "name": "urgent", "targetWaitMs": 100 }]
    }
  }
}
`;

const SCENARIO = {
  durationMs: 4000,
  pools: {
    mail: {
      lanes: {
        urgent: {
          arrivals: { kind: "poisson", perSec: 30 },
          serviceMs: { kind: "fixed", ms: 100 },
        },
      },
    },
  },
};

Deno.test("tune prints what keeps the goal, and writes config and picture", async () => {
  await using folder = await temporaryFolder();
  const at = (name: string): string => join(folder.path, name);
  await Deno.writeTextFile(at("pools.json"), CONFIG);
  await Deno.writeTextFile(at("load.json"), JSON.stringify(SCENARIO));
  const files = [at("pools.json"), at("load.json")];
  const goal = ["--goal", "urgent p99 < 60ms", "--runs", "120"];

  const { code, out, err } = await sluice([
    ...["tune", ...files, ...goal],
    ...["--out", at("better.json"), "--svg", at("found.svg")],
  ]);

  assert.deepEqual([code, err], [0, ""]);
  assert.match(
    out,
    /^urgent p99 < 60ms: \d+ simulations, searched on seeds 1 to 3, judged on seeds 1001 to 1005$/m,
  );
  assert.match(out, /^now +missed: urgent p99 /m);
  assert.match(out, /^1 +kept /m);
  assert.match(out, /^The smallest change that keeps the goal:\n {2}pools\.mail\./m);
  const better = await Deno.readTextFile(at("better.json"));
  assert.match(better, /\/\/ too few/);
  assert.notEqual(better, CONFIG);
  const check = await sluice(["simulate", at("better.json"), at("load.json"), "--json"]);
  assert.ok(JSON.parse(check.out).pools.mail.lanes.urgent.waitMs.p99 < 60);
  assert.match(
    await Deno.readTextFile(at("found.svg")),
    /^<svg .*aria-label="Configs that keep urgent p99 &#60; 60ms"/,
  );
});

Deno.test("tune exits 2 with what is wrong with the goal, and 1 where nothing keeps it", async () => {
  await using folder = await temporaryFolder();
  const at = (name: string): string => join(folder.path, name);
  await Deno.writeTextFile(at("pools.json"), CONFIG);
  await Deno.writeTextFile(at("load.json"), JSON.stringify(SCENARIO));
  const files = [at("pools.json"), at("load.json")];

  const unread = await sluice(["tune", ...files, "--goal", "slow p99 < 60ms"]);
  const few = await sluice(["tune", ...files, "--goal", "urgent p99 < 60ms", "--runs", "5"]);
  const goal = "urgent sojourn p50 < 1ms";
  const never = await sluice(["tune", ...files, "--goal", goal, "--runs", "100"]);

  assert.deepEqual([unread.code, few.code, never.code], [2, 2, 1]);
  assert.match(unread.err, /No lane with a load is named "slow"/);
  assert.match(few.err, /--runs/);
  assert.match(never.err, /No change that was tried keeps the goal "urgent sojourn p50 < 1ms"/);
  assert.match(never.out, /It would be missed as well without any one limit of the config/);
});
