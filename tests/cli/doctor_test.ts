import assert from "node:assert/strict";
import { start } from "../../mod.ts";
import { serveAdmin } from "../../src/admin/mod.ts";
import { defineController } from "../../src/contract/plugin.ts";
import { played, type Scenario } from "../explain/diagnose/_load.ts";
import { sluice } from "./_io.ts";

const OVERLOAD: Scenario = {
  pool: { size: { min: 1, max: 2 }, lanes: [{ name: "jobs" }], admission: "admit-all" },
  streams: [{ lane: "jobs", perSec: 120 }],
  forMs: 65_000,
};

const CALM: Scenario = { ...OVERLOAD, streams: [{ lane: "jobs", perSec: 50 }] };

function doctor(scenario: Scenario, ...args: readonly string[]): ReturnType<typeof sluice> {
  return after(scenario, "doctor", "p", ...args);
}

async function after(scenario: Scenario, ...args: readonly string[]): ReturnType<typeof sluice> {
  const ran = Promise.withResolvers<Awaited<ReturnType<typeof sluice>>>();
  await played(scenario, async ({ sluice: system }) => {
    const server = await serveAdmin(system, {
      hostname: "127.0.0.1",
      port: 0,
      adminToken: undefined,
      viewerToken: undefined,
      allowedHosts: [],
    });
    try {
      ran.resolve(await sluice([...args, "--url", server.url]));
    } finally {
      await server.stop();
    }
  });
  return await ran.promise;
}

Deno.test("doctor says what is amiss and what to change", async () => {
  const { code, out, err } = await doctor(OVERLOAD);
  const json = await doctor(OVERLOAD, "--json");

  assert.deepEqual([code, err], [1, 'Something is wrong with pool "p"\n']);
  assert.equal(json.code, 1);
  assert.match(
    out,
    /^p: at-capacity\n {2}For 1 min 2 workers, all that size\.max allows, .*\n {2}Change: Raise size\.max from 2 to \d, or shed jobs .*\np: it never catches up: 120\/s come, [\d.]+\/s go, 3 workers would be enough\n$/,
  );
  const [finding] = JSON.parse(json.out);
  assert.equal(finding.code, "at-capacity");
  assert.match(finding.saw, /started later than the target of 50 ms, the oldest waits [\d.]+ s$/); // none is rejected: not a word of it
  assert.equal(finding.numbers.limit, 2);
});

Deno.test("pools, describe and top say over target as soon as a wait is, before a minute makes it a finding", async () => {
  const brief: Scenario = { ...OVERLOAD, forMs: 5_000 };

  const listed = await after(brief, "pools");
  const described = await after(brief, "pools", "describe", "p");
  const top = await after(brief, "top");

  assert.match(listed.out, /\np +over target /);
  assert.match(described.out, /^p {2}.* target 2, over target\n/);
  assert.match(top.out, /^POOL .*\np +over target /);
});

Deno.test("pools names the finding of a pool whose jobs suffer, as the dashboard does", async () => {
  const late = await after(OVERLOAD, "pools");
  const calm = await after(CALM, "pools");

  assert.match(late.out, /\np +at-capacity /);
  assert.match(calm.out, /\np +ok /);
});

Deno.test("doctor says so, when nothing is amiss", async () => {
  const { code, out } = await doctor(CALM);

  assert.equal(code, 0);
  assert.equal(out, "p: nothing is wrong in its recent past\n");
});

Deno.test("doctor says that a strategy fails, which no figure shows", async () => {
  const broken = defineController({
    name: "broken",
    create: () => () => ({ workers: NaN, reason: "" }),
  });
  await using system = await start({
    admin: { port: 0 },
    pools: {
      p: {
        handler: "sleep",
        size: { min: 1, max: 2 },
        lanes: [{ name: "jobs" }],
        controller: "broken",
      },
    },
  }, { plugins: { broken } });

  const { out } = await sluice(["doctor", "p", "--url", system.adminUrl ?? ""]);

  assert.equal(
    out,
    "p: a strategy fails, its last answer stays in use: the log says why, explain says which\n",
  );
});
