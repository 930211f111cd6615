import assert from "node:assert/strict";
import { defineAdmission } from "../../src/contract/plugin.ts";
import type { NewJob } from "../../src/contract/job.ts";
import { configOf, ok, withPool } from "../_virtual.ts";

const ROUTES = [{ if: { key: "vip-*" }, lane: "high" }, { if: { key: "*" }, lane: "low" }] as const;

Deno.test("a job that names no lane goes where the first route that fits says", async () => {
  await withPool({ routes: ROUTES }, async ({ pool, clock }) => {
    await pool.pause();
    const handles = await pool.enqueueAll([
      { key: "vip-1", payload: 1 },
      { key: "ann", payload: 2 },
      { key: "vip-2", lane: "low", payload: 3 }, // what it names counts
    ]);
    pool.post({ key: "bob", payload: 4 });
    await clock.settle();

    const { jobs } = await pool.list({ limit: 9 });
    assert.ok(handles.every((handle) => !(handle instanceof Error)));
    assert.deepEqual(jobs.map(({ lane, payload }) => [lane, payload]), [
      ["high", 1],
      ["low", 2],
      ["low", 3],
      ["low", 4],
    ]);
  });
});

const FAULTS: readonly [Omit<NewJob, "payload">, string][] = [
  [{}, 'No route fits a job without a key: name its lane, one of "high", "low"'],
  [{ lane: "hihg" }, 'No lane of pool "p" is named "hihg": did you mean "high"?'],
  [{ key: "" }, "Expected key to be a text of 1 to 1024 characters but received 0 characters"],
  [{ type: "mail", key: "a" }, 'Pool "p" has one handler: leave out the type "mail"'],
];

Deno.test("a job that no route fits is refused, and what is wrong with it is said", async () => {
  await withPool({ routes: ROUTES }, async ({ pool }) => {
    for (const [fault, message] of FAULTS) {
      await assert.rejects(pool.enqueue({ ...fault, payload: 1 }), { name: "TypeError", message });
    }
    assert.equal(pool.snapshot().totals.arrivals, 0);
  });
});

Deno.test("a job without a lane is refused where the pool has no routes", async () => {
  await withPool({}, async ({ pool }) => {
    const message = 'Pool "p" has no routes: name the job\'s lane, one of "high", "low"';
    await assert.rejects(pool.enqueue({ payload: 1 }), { name: "TypeError", message });
  });
});

Deno.test("admission is asked about a routed job with its lane", async () => {
  const asked: string[] = [];
  const admission = defineAdmission({
    name: "ask",
    create: () => ({
      submit: ({ lane }) => {
        asked.push(lane);
        return { admit: true };
      },
    }),
  });
  await withPool({ routes: ROUTES, admission }, async ({ pool }) => {
    await pool.enqueue({ key: "vip-1", payload: 1 });
    await pool.enqueue({ lane: "low", payload: 1 });

    assert.deepEqual(asked, ["high", "low"]);
  });
});

Deno.test("a reload sends new jobs by the new routes; what waits stays in its lane", async () => {
  const parts = { handler: ok, routes: ROUTES };
  await withPool(parts, async ({ pool, sluice, clock }) => {
    await pool.pause();
    await pool.enqueue({ key: "vip-1", payload: 1 });
    const { changes } = await sluice.reload(configOf({ ...parts, routes: [{ lane: "low" }] }));
    await pool.enqueue({ key: "vip-1", payload: 2 });
    await clock.settle();

    const { jobs } = await pool.list({ limit: 9 });
    assert.deepEqual(changes.map(({ pointer, refused }) => [pointer, refused]), [
      ["/pools/p/routes", false],
    ]);
    assert.deepEqual(jobs.map(({ lane, payload }) => [lane, payload]), [["high", 1], ["low", 2]]);
  });
});
