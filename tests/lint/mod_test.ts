import assert from "node:assert/strict";
import { parse } from "jsonc-parser";
import { builtins, defaults } from "../../plugins/mod.ts";
import { ConfigError } from "../../src/contract/errors.ts";
import { defineController } from "../../src/contract/plugin.ts";
import * as v from "valibot";
import type { ConfigInput } from "../../src/config/input.ts";
import { lint } from "../../src/lint/mod.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { blocksIn, PAGES } from "../_readme.ts";
import { ROOT } from "../_source.ts";
import { concernsOf, type Given } from "./_configs.ts";

/** Takes the place of the pages' own controller. */
const fixed = defineController({
  name: "steady",
  options: v.strictObject({ perWorker: v.number() }),
  create: () => (view) => ({ workers: view.target, reason: "hold" }),
});

/** Two lanes that a pool of the experiments' size carries with ease. */
const LANES = [
  { name: "urgent", targetWaitMs: 50, expect: { perSec: 30, serviceMs: 20 } },
  { name: "batch", targetWaitMs: 1000, expect: { perSec: 20, serviceMs: 200 } },
];

Deno.test("lint() is silent on the example config", async () => {
  const settings = await resolveConfig(new URL("pools.example.json", ROOT), { builtins, defaults });

  assert.deepEqual(lint(settings), []);
});

Deno.test("lint() is silent on good configs, whatever their plugins", async () => {
  const good: readonly Given[] = [
    {},
    { pool: { lanes: [{ name: "only" }] } },
    { pool: { lanes: LANES } },
    { store: "durable", pool: { lanes: LANES } },
    { store: "deno-kv", pool: { lanes: LANES } },
    {
      pool: {
        lanes: LANES,
        lanePolicy: { use: "reserved-lane", with: { reserve: { urgent: 2 } } },
      },
    },
    {
      pool: {
        lanes: LANES,
        lanePolicy: { use: "dedicated-lanes", with: { workers: { urgent: 2, batch: 8 } } },
      },
    },
    { pool: { lanes: LANES, lanePolicy: "strict-priority" } },
    { pool: { lanes: LANES, lanePolicy: "fifo" } },
    ...["age-scaler", "depth-scaler", "littles-law", "fixed"].map((controller) => ({
      pool: { lanes: LANES, controller },
    })),
    { pool: { lanes: LANES, controller: { use: "age-scaler", with: { rule: "step" } } } },
    { pool: { lanes: LANES, caps: ["signal-cap"], signals: { load: "load" } } },
    {
      pool: {
        lanes: [{ name: "jobs", expect: { perSec: 90, serviceMs: 20 } }],
        caps: [
          { use: "db-pool-cap", with: { connections: 20 } },
          { use: "api-rate-cap", with: { callsPerSec: 150, serviceMs: 20 } },
        ],
      },
    },
    // Lanes that say nothing of their load: only what needs no load is checked.
    { pool: { size: { min: 0, max: 1 }, lanes: [{ name: "a" }, { name: "b", deadlineMs: 100 }] } },
    // The pool of the autoscaling experiment: 50 to 800 jobs a second of 20 ms.
    {
      pool: {
        size: { min: 2, max: 32 },
        lanes: [{ name: "jobs", expect: { perSec: 800, serviceMs: 20 } }],
        controller: { use: "age-scaler", with: { rule: "step" } },
      },
    },
  ];
  for (const given of good) {
    assert.deepEqual(await concernsOf(given), [], JSON.stringify(given));
  }
});

Deno.test("lint() sorts the worst first and says in each what is wrong and what would do", async () => {
  const found = await concernsOf({
    pool: {
      size: { min: 6, max: 32 },
      lanes: [{
        name: "jobs",
        expect: { perSec: 800, serviceMs: 20 },
        backoff: { jitter: 0 },
      }],
      caps: [{ use: "fixed-cap", with: { workers: 4 } }],
    },
  });

  assert.deepEqual(found.map(({ severity, code }) => `${severity} ${code}`), [
    "error overload",
    "warning cap-below-min",
    "warning retry-in-step",
  ]);
  assert.equal(
    found[0]?.message,
    '800 jobs/s of 20 ms keep 16 workers busy but cap "fixed-cap" allows 4: the queue grows ' +
      "without bound",
  );
  assert.equal(found[0]?.formula, "perSec x serviceMs / 1000 >= workers");
  for (const { message, change } of found) {
    assert.match(message, /^[A-Z0-9].*[^.]$/);
    assert.match(change, /^[A-Z].*[^.]$/);
  }
});

Deno.test("lint() holds a drain against the kill time of the platform named", async () => {
  const drains = { pool: { drainMs: 20_000 } };

  const on = async (platform: "deploy" | "docker" | "kubernetes" | "systemd"): Promise<number> =>
    (await concernsOf(drains, platform)).length;

  assert.equal((await concernsOf(drains)).length, 0);
  assert.equal(await on("deploy"), 1);
  assert.equal(await on("docker"), 1);
  assert.equal(await on("kubernetes"), 0);
  assert.equal(await on("systemd"), 0);
});

Deno.test("lint() takes a cap that learns as it stands before it has learned anything", async () => {
  const found = await concernsOf({
    pool: {
      size: { min: 2, max: 32 },
      lanes: [{ name: "jobs", expect: { perSec: 800, serviceMs: 20 } }],
      caps: [{ use: "api-rate-cap", with: { callsPerSec: 1000, serviceMs: 20 } }],
    },
  });

  assert.deepEqual(found, []);
});

Deno.test("lint() is silent on every config of the pages that has no faults, unless it stands there to be warned of", async () => {
  const configs = PAGES.flatMap(({ text }) => blocksIn(text)).filter(({ info, text }) =>
    /^jsonc?\b/.test(info) && !info.endsWith(" scenario") && text.includes('"pools"')
  );
  let checked = 0;
  for (const { info, text } of configs) {
    const config = parse(text) as ConfigInput; // readme_test.ts holds it to the schema
    const settings = await resolveConfig(config, {
      builtins,
      defaults,
      plugins: { "./handler.ts": () => {}, "./steady.ts#steady": fixed },
      env: (name) => `${name}-0123456789`,
    }).catch((thrown) => {
      if (thrown instanceof ConfigError) return undefined; // the one that shows what faults look like
      throw thrown;
    });
    if (settings === undefined) continue;
    const found = lint(settings);
    if (info.endsWith(" warns")) assert.ok(found.length > 0, text);
    else assert.deepEqual(found, [], text);
    checked++;
  }
  assert.ok(checked >= configs.length - 1, `${checked} of ${configs.length}`);
});
