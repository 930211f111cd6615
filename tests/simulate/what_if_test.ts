import assert from "node:assert/strict";
import { ChangeError, type LoadRecord, simulate, whatIf } from "../../src/simulate/mod.ts";
import { scenarioOf } from "../../src/simulate/recent_load.ts";

const CONFIG = {
  pools: {
    mail: {
      handler: "http",
      size: { min: 1, max: 2 },
      lanes: [{ name: "urgent", targetWaitMs: 100 }, { name: "a.b" }],
    },
    other: { handler: "http", size: { min: 1, max: 1 }, lanes: [{ name: "urgent" }] },
  },
};

/** 20 jobs a second of 100 ms on average for `seconds`, and three that waited; cv as given. */
function load(seconds = 20, { cv = 0, failures = 0, perSec = 20 } = {}): LoadRecord {
  const each = (figure: number): readonly number[] => Array(seconds).fill(figure);
  const log = Math.log(100) - Math.log1p(cv * cv) / 2;
  const urgent = {
    name: "urgent",
    waiting: 3,
    offered: each(perSec),
    timed: each(perSec),
    timedMs: each(perSec * 100),
    timedLog: each(perSec * log),
    failures: each(failures),
  };
  const none = { waiting: 0, offered: each(0), timed: each(0), timedMs: each(0) };
  const idle = { ...none, name: "a.b", timedLog: each(0), failures: each(0) };
  return { fromMs: 0, everyMs: 1000, lanes: [urgent, idle] };
}

Deno.test("a recent load is a scenario with the same counts, run times and failures", async () => {
  const many = load(60, { cv: 1, failures: 2, perSec: 50 });
  const config = { pools: { mail: { ...CONFIG.pools.mail, size: { min: 40, max: 40 } } } };

  const report = await simulate(config, scenarioOf("mail", many));

  const { urgent, "a.b": idle } = report.pools.mail!.lanes;
  assert.deepEqual([urgent!.arrived, idle!.arrived], [3003, 0]);
  const attempts = urgent!.started / (urgent!.done + urgent!.dead);
  assert.ok(Math.abs(attempts - 50 / 48) < 0.02, `${attempts} attempts a job`);
  const { serviceMs } = scenarioOf("mail", many).pools.mail!.lanes.urgent!;
  const runs = "runs" in serviceMs ? serviceMs.runs.filter((run) => typeof run === "number") : [];
  const mean = runs.reduce((sum, run) => sum + run, 0) / runs.length;
  const deviation = Math.sqrt(runs.reduce((sum, run) => sum + (run - mean) ** 2, 0) / runs.length);
  assert.ok(Math.abs(mean - 100) < 6, `mean ${mean}`);
  assert.ok(Math.abs(deviation / mean - 1) < 0.15, `cv ${deviation / mean}`);
  assert.deepEqual(scenarioOf("mail", many), scenarioOf("mail", many));
});

Deno.test("whatIf plays the recent load on the config and on a changed one", async () => {
  const question = { pool: "mail", changes: { "size.max": 4 }, load: load() };

  const { edits, asItIs, changed } = await whatIf(CONFIG, question);

  assert.deepEqual(edits, [{ path: ["pools", "mail", "size", "max"], from: 2, to: 4 }]);
  assert.deepEqual(Object.keys(asItIs.pools), ["mail"]);
  const waits = [asItIs, changed].map(({ pools }) => pools.mail!.lanes.urgent!.waitMs!.p99);
  assert.ok(waits[1]! < waits[0]! / 2, waits.join(" and "));
});

Deno.test("whatIf changes lanes by name, strategies, and what is not there yet", async () => {
  const changes = {
    "lanes.a.b.maxRunning": 1,
    "lanes.urgent.targetWaitMs": null,
    "lanePolicy": "strict-priority",
    "keep.done": 10,
  };
  const { edits } = await whatIf(CONFIG, { pool: "mail", changes, load: load(2) });

  assert.deepEqual(edits.map(({ path, to }) => [path.slice(2).join("/"), to]), [
    ["lanes/1/maxRunning", 1],
    ["lanes/0/targetWaitMs", null],
    ["lanePolicy", "strict-priority"],
    ["keep/done", 10],
  ]);
});

Deno.test("whatIf says what is wrong with a change", async () => {
  const ask = (changes: Record<string, unknown>, pool = "mail", past = load(2)) =>
    whatIf(CONFIG, { pool, changes, load: past });

  await assert.rejects(ask({}, "mial"), new ChangeError('The config has no pool "mial"'));
  await assert.rejects(ask({ "lanes.urgnt.maxRunning": 1 }), /did you mean "urgent"\?/);
  await assert.rejects(ask({ "size..max": 1 }), /Expected a key such as size\.max/);
  await assert.rejects(ask({ "size.mx": 1 }), /No key is named "mx"/);
  await assert.rejects(ask({ "size.max": 0 }), /size\/max/);
  const flood = load(2, { perSec: 300_000 });
  await assert.rejects(ask({}, "mail", flood), /600,003 jobs came: 500000 are played at most/);
});
