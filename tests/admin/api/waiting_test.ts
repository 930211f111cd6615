import assert from "node:assert/strict";
import { start } from "../../../mod.ts";
import { admin } from "../../../src/admin/mod.ts";
import { VirtualClock } from "../../../src/time/virtual_clock.ts";
import { problemOf, running } from "../_app.ts";

Deno.test("GET /api/jobs/:id/waiting says where a job stands in its lane, and what holds it", async () => {
  await using system = await running();
  const add = async (job: object): Promise<string> => {
    const response = await system.send("POST", "/api/pools/typed/jobs", { lane: "only", ...job });
    return (await response.json()).id;
  };
  const why = async (id: string) =>
    await (await system.send("GET", `/api/jobs/${id}/waiting`)).json();
  const startedAtMs = system.clock.nowMs();
  const runs = await add({ type: "send", payload: { hang: true } });
  const delayed = await add({ type: "send", payload: 1, delayMs: 60_000 });
  const [first, second] = [
    await add({ type: "send", payload: 1 }),
    await add({ type: "count", payload: 1 }),
  ];
  await system.clock.advance(100);

  const nowMs = system.clock.nowMs();
  assert.deepEqual(await why(runs), { id: runs, state: "running", nowMs, waiting: null });
  assert.deepEqual(await why(second), {
    id: second,
    state: "ready",
    nowMs,
    waiting: {
      position: 2,
      atLeast: false,
      holds: [{
        code: "busy",
        detail: "The only worker is busy: the pool may not grow beyond 1: size.max",
      }],
      basis: "Unknown: no job of its lane has ended yet",
    },
  });
  assert.deepEqual((await why(delayed)).waiting, {
    atLeast: false,
    holds: [{ code: "delayed", detail: "It is delayed: due in 59.9 s" }],
    startAtMs: startedAtMs + 60_000,
    basis: "When it is due, and 0 ms more: the median wait of its lane now",
  });
  await system.send("POST", "/api/pools/typed/pause", { lane: "only" });
  assert.equal((await why(first)).waiting.position, 1);
  assert.equal((await why(first)).waiting.holds[0].detail, 'Lane "only" is paused: resume it');
});

Deno.test("GET /api/jobs/:id/waiting tells of the limit of a key, and counts none that it holds", async () => {
  const gate = Promise.withResolvers<void>();
  await using sluice = await start({
    pools: {
      keyed: {
        handler: () => gate.promise,
        size: { min: 2, max: 2 },
        lanes: [{ name: "only", maxRunningPerKey: 1 }],
      },
    },
  }, { clock: new VirtualClock() });
  const app = admin(sluice);
  const pool = sluice.pool("keyed");
  const add = async (key: string) => (await pool.enqueue({ lane: "only", payload: 1, key })).id;
  await add("a");
  const held = await add("a");
  await add("b");
  const behind = await add("c");

  const waits = await (await app.request(`/api/jobs/${held}/waiting`)).json();
  const next = await (await app.request(`/api/jobs/${behind}/waiting`)).json();
  gate.resolve();

  assert.equal(waits.state, "blocked");
  assert.deepEqual(waits.waiting.holds, [
    { code: "key-limit", detail: '1 job of its key runs, and lane "only" runs 1 at once' },
  ]);
  assert.equal(waits.waiting.position, undefined);
  assert.equal(next.waiting.position, 1);
});

Deno.test("GET /api/jobs/:id/waiting answers 404 for a job that nobody knows", async () => {
  await using system = await running();

  const response = await system.send("GET", "/api/jobs/nope/waiting");

  assert.equal(response.status, 404);
  assert.match((await problemOf(response)).detail, /^No job has the id "nope"/);
});
