import assert from "node:assert/strict";
import { builtins, defaults } from "../../plugins/mod.ts";
import type { ConfigInput } from "../../src/config/input.ts";
import { ConfigError } from "../../src/contract/errors.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { sluice, temporaryFolder } from "../cli/_io.ts";

const POOL = { handler: "sleep", size: { min: 0, max: 4 }, lanes: [{ name: "urgent" }] };

async function faultsOf(config: unknown): Promise<ConfigError> {
  try {
    await resolveConfig(config as ConfigInput, { builtins, defaults }); // that it is none is the point
  } catch (thrown) {
    assert.ok(thrown instanceof ConfigError, String(thrown));
    return thrown;
  }
  assert.fail("It has no faults");
}

function lines({ faults }: ConfigError): readonly string[] {
  return faults.map(({ pointer, message }) => `${pointer}: ${message}`);
}

function named(n: number): Readonly<Record<string, number>> {
  return Object.fromEntries(Array.from({ length: n }, (_, index) => [`k${index}`, index]));
}

Deno.test("resolveConfig() lists forty faults and counts the rest", async () => {
  const error = await faultsOf({ pools: { p: POOL }, ...named(1000) });

  assert.equal(error.faults.length, 40);
  assert.equal(error.more, 960);
  assert.match(error.message, /\nand 960 more$/);
});

Deno.test("sluice check lists forty faults and counts the rest, as text and as JSON", async () => {
  await using folder = await temporaryFolder();
  const file = `${folder.path}/pools.json`;
  await Deno.writeTextFile(file, JSON.stringify({ pools: { p: { ...POOL, ...named(50) } } }));

  const text = await sluice(["check", file]);
  const asJson = await sluice(["check", file, "--json"]);

  assert.equal(text.err.trim().split("\n").length, 41);
  assert.match(text.err, /\nand 10 more\n$/);
  assert.equal(JSON.parse(asJson.out).more, 10);
});

Deno.test("resolveConfig() finds every unknown key, wherever it stands, each once", async () => {
  const error = await faultsOf({
    admin: { x: 1, alerts: { url: "http://127.0.0.1", y: 1, z: 2 } },
    pools: {
      p: {
        ...POOL,
        size: { min: 0, max: 4, a: 1, b: 2 },
        lanes: [{ name: "urgent", backoff: { c: 1, d: 2 }, expext: 1 }],
        controller: { use: "fixed", with: { e: 1, f: 2 } },
      },
    },
  });

  assert.deepEqual(error.faults.map(({ pointer }) => pointer).sort(), [
    "/admin/alerts/y",
    "/admin/alerts/z",
    "/admin/x",
    "/pools/p/controller/with/e",
    "/pools/p/controller/with/f",
    "/pools/p/lanes/0/backoff/c",
    "/pools/p/lanes/0/backoff/d",
    "/pools/p/lanes/0/expext",
    "/pools/p/size/a",
    "/pools/p/size/b",
  ]);
  assert.ok(
    lines(error).includes(
      '/pools/p/lanes/0/expext: No key is named "expext": did you mean "expect"?',
    ),
  );
});

Deno.test("resolveConfig() refuses more than a hundred levels, in a file and in code", async () => {
  await using folder = await temporaryFolder();
  const file = `${folder.path}/pools.json`;
  const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  const text = (levels: number) =>
    JSON.stringify({ pools: { p: { ...POOL, schedules: "DEEP" } } })
      .replace('"DEEP"', `[{"lane":"urgent","cron":"0 4 * * *","payload":${deep(levels)}}]`);
  const message = "Expected at most 100 levels but received more";
  await Deno.writeTextFile(file, text(5000));

  assert.deepEqual(lines(await faultsOf(JSON.parse(text(5000)))), [`: ${message}`]);
  assert.deepEqual(lines(await faultsOf(file)), [`: ${message}`]);
  await Deno.writeTextFile(file, text(95));
  assert.equal((await resolveConfig(file, { builtins, defaults })).pools.length, 1);
});

Deno.test("resolveConfig() holds names to 200 characters, sizes to 100,000, cron texts to 1,000", async () => {
  const long = "x".repeat(201);
  const error = await faultsOf({
    pools: {
      [long]: POOL,
      p: {
        size: { min: 100_001, max: 100_001 },
        lanes: [{ name: long }, { name: "y".repeat(200) }],
        handlers: { [long]: "sleep" },
        signals: { [long]: () => 1 },
        schedules: [{ lane: long, type: long, cron: "* ".repeat(600) }],
      },
    },
  });

  const name = "Expected a name of at most 200 characters but received 201";
  assert.deepEqual(lines(error).map((line) => line.replaceAll(long, "LONG")), [
    `/pools/LONG: ${name}`,
    "/pools/p/size/min: Expected a whole number <= 100000 but received 100001",
    "/pools/p/size/max: Expected a whole number <= 100000 but received 100001",
    `/pools/p/lanes/0/name: ${name}`,
    `/pools/p/handlers/LONG: ${name}`,
    "/pools/p/schedules/0/cron: Expected at most 1000 characters but received 1200",
    `/pools/p/signals/LONG: ${name}`,
  ]);
});

Deno.test("a fault of a lane, or of a handler, brings none of what names it along", async () => {
  const error = await faultsOf({
    pools: {
      p: {
        size: POOL.size,
        lanes: [{ name: "urgent", weight: 0 }, { name: "batch" }],
        handlers: { send: "slep" },
        lanePolicy: { use: "reserved-lane", with: { reserve: { urgent: 1 } } },
        schedules: [{ lane: "urgent", type: "send", cron: "0 4 * * *" }],
      },
    },
  });

  assert.deepEqual(lines(error), [
    "/pools/p/lanes/0/weight: Expected a number > 0 but received 0",
    '/pools/p/handlers/send: No handler is named "slep": did you mean "sleep"?',
  ]);
});
