import assert from "node:assert/strict";
import { simulate, tune } from "../../src/simulate/mod.ts";
import { edited, editsKey, editText, withEdit } from "../../src/simulate/tune/edit.ts";
import { clauseText, parseGoal } from "../../src/simulate/tune/goal.ts";
import { withEdits } from "../../src/config/edit_text.ts";

const LANES = new Map([["mail", ["urgent", "batch"]], ["web", ["batch", "p 1"]]]);

/** Two workers at most, and a load that needs three to four. */
const CONFIG = {
  pools: {
    mail: {
      handler: "http",
      size: { min: 1, max: 2 },
      lanes: [{ name: "urgent", targetWaitMs: 100, maxDepth: 500 }],
    },
  },
};

const SCENARIO = {
  durationMs: 5000,
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
} as const;

Deno.test("a goal is read clause by clause", () => {
  const goal = parseGoal("urgent p99 < 50ms, mail/batch >= 95 %, p 1 sojourn max <= 1.5 s", LANES);

  assert.deepEqual(goal, [
    { pool: "mail", lane: "urgent", of: "wait", quantile: "p99", mostMs: 50 },
    { pool: "mail", lane: "batch", of: "done", least: 0.95 },
    { pool: "web", lane: "p 1", of: "sojourn", quantile: "max", mostMs: 1500 },
  ]);
  assert.deepEqual(goal.map(clauseText), [
    "urgent p99 < 50 ms",
    "batch >= 95 %",
    "p 1 sojourn max < 1.5 s",
  ]);
});

Deno.test("a goal that cannot be read says what to write", () => {
  const faults: readonly (readonly [string, RegExp])[] = [
    [
      "",
      /^GoalError: Expected a goal, such as "urgent p99 < 50ms, batch >= 95 %", but it is empty$/,
    ],
    ["urgent fast", /but received "urgent fast"$/],
    ["urgent p98 < 5ms", /but received/],
    ["urgent p99 < 50", /but received/],
    ["batch >= 95 %", /Several pools have a lane "batch": write mail\/batch or web\/batch/],
    ["urgnt p99 < 1s", /No lane with a load is named "urgnt": did you mean "urgent"\?/],
    ["urgent >= 101 %", /Expected at most 100 %/],
  ];
  for (const [text, said] of faults) assert.throws(() => parseGoal(text, LANES), said);
});

Deno.test("changes are made at their place, and one that is taken back is none", () => {
  const config = { a: { list: [{ n: 1 }, { n: 2 }] } };
  const to3 = { path: ["a", "list", 1, "n"], from: 2, to: 3 };

  const changed = edited(config, [to3, { path: ["b", "c"], from: undefined, to: true }]);

  assert.deepEqual(changed, { a: { list: [{ n: 1 }, { n: 3 }] }, b: { c: true } });
  assert.deepEqual(edited(config, [{ path: ["a", "list", 0], from: {}, to: undefined }]), {
    a: { list: [{ n: 2 }] },
  });
  assert.deepEqual(withEdit(config, [to3], { ...to3, to: 2 }), []);
  assert.equal(editsKey(withEdit(config, [to3], { ...to3, to: 4 })), editsKey([{ ...to3, to: 4 }]));
  assert.equal(editText(to3), "a.list.1.n: 2 -> 3");
});

Deno.test("a change of a config's text leaves its comments", () => {
  const text = '{\n  // Few.\n  "size": { "min": 1, "max": 2 } // at most\n}\n';

  const changed = withEdits(text, [{ path: ["size", "max"], to: 4 }]);

  assert.equal(changed, text.replace("2 }", "4 }"));
});

Deno.test("tune finds the smallest change that keeps a goal, on seeds it did not search", async () => {
  const report = await tune(CONFIG, SCENARIO, { goal: "urgent p99 < 60ms", runs: 150 });

  const { base, smallest, frontier, searched, judgedBy } = report;
  assert.ok(base.misses.length > 0);
  assert.ok(smallest !== null && smallest.edits.length <= 2 && smallest.misses.length === 0);
  assert.ok(smallest.edits.some(({ path }) => path.join(".") === "pools.mail.size.max"));
  assert.ok(frontier.every(({ misses }) => misses.length === 0));
  assert.ok(!judgedBy.some((seed) => searched.includes(seed)));
  const config = edited(CONFIG, smallest.edits) as typeof CONFIG;
  const played = await simulate(config, SCENARIO, { seed: judgedBy[0] });
  assert.ok(played.pools.mail!.lanes.urgent!.waitMs!.p99 < 60);
});

Deno.test("tune says which limit keeps a goal out of reach", async () => {
  const pool = { ...CONFIG.pools.mail, size: { min: 1, max: 16 } };
  const caps = [{ use: "api-rate-cap", with: { callsPerSec: 10, serviceMs: 100 } }];
  const config = { pools: { mail: { ...pool, caps } } };

  const report = await tune(config, SCENARIO, { goal: "urgent p99 < 60ms", runs: 120 });

  assert.equal(report.smallest, null);
  assert.ok(report.nearest !== null && report.nearest.misses.length > 0);
  assert.deepEqual(report.bounds[0]?.limit.path, ["pools", "mail", "caps", 0]);
  assert.deepEqual(report.bounds[0]?.misses, []);
});

Deno.test("tune leaves a config alone that keeps its goal, and ends when it is told to", async () => {
  const goal = "urgent p99 < 1min, urgent >= 30 %";
  const quiet = await tune(CONFIG, SCENARIO, { goal, runs: 100 });
  const signal = AbortSignal.abort();
  const stopped = await tune(CONFIG, SCENARIO, { goal, runs: 100, signal });

  assert.deepEqual(quiet.smallest?.edits, []);
  assert.ok(quiet.runs <= 100);
  assert.equal(stopped.interrupted, true);
});
