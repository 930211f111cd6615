import assert from "node:assert/strict";
import type { ScheduleJson } from "../../../src/admin/http/wire.ts";
import { problemOf, type Running, running } from "../_app.ts";

async function list(system: Running, query = ""): Promise<readonly ScheduleJson[]> {
  return await (await system.send("GET", `/api/schedules${query}`)).json();
}

Deno.test("GET /api/schedules has each schedule, and how its latest job ended", async () => {
  await using system = await running();
  const [before] = await list(system);
  const path = `/api/pools/typed/schedules/${before?.id}/run`;
  const ran: ScheduleJson = await (await system.send("POST", path)).json();
  await system.clock.advance(600_000);
  const [after] = await list(system, "?pool=typed");

  const { id, job, ...rest } = before!;
  assert.equal(job, undefined);
  assert.deepEqual(rest, {
    pool: "typed",
    lane: "only",
    type: "send",
    cron: "@yearly",
    timezone: "UTC",
    jitterMs: 0,
    overlap: true,
    catchUp: "none",
    paused: false,
    nextAtMs: Date.UTC(2027, 0, 1),
  });
  assert.equal(after?.lastAtMs, after?.job?.createdAtMs);
  assert.equal(ran.job?.id, after?.job?.id);
  assert.deepEqual([after?.id, after?.job?.state, after?.job?.error], [id, "dead", "no"]);
  await system.send("DELETE", `/api/jobs/${ran.job?.id}`);
  assert.deepEqual((await list(system))[0]?.job, { id: ran.job?.id, state: "deleted" });
  assert.deepEqual(await list(system, "?pool=mail"), []);
});

Deno.test("A schedule is paused and resumed, and each of it is audited", async () => {
  await using system = await running();
  const [schedule] = await list(system);
  const path = `/api/pools/typed/schedules/${schedule?.id}`;
  const paused: ScheduleJson = await (await system.send("POST", `${path}/pause`)).json();
  const resumed: ScheduleJson = await (await system.send("POST", `${path}/resume`)).json();
  const { events } = await (await system.send("GET", "/api/events/past?kind=audit")).json();

  assert.deepEqual([paused.paused, paused.nextAtMs, resumed.paused], [true, undefined, false]);
  assert.deepEqual(
    events.map(({ who, action, target }: Record<string, string>) => [who, action, target]),
    [
      ["local", "resume schedule", schedule?.id],
      ["local", "pause schedule", schedule?.id],
    ],
  );
});

Deno.test("A schedule that is not there is answered 404, a pool 400 or 404, one that drains 409", async () => {
  await using system = await running();
  const [schedule] = await list(system);
  const other = await problemOf(await system.send("POST", "/api/pools/typed/schedules/x/run"));
  const noPool = await system.send("POST", "/api/pools/none/schedules/x/run");
  const unknown = await system.send("GET", "/api/schedules?pool=typd");
  const drained = system.send("POST", "/api/pools/typed/drain", {});
  await system.clock.advance(60_000);
  await drained;
  const run = await system.send("POST", `/api/pools/typed/schedules/${schedule?.id}/run`);

  assert.equal(
    other.detail,
    'Pool "typed" has no schedule "x": GET /api/schedules has all',
  );
  assert.deepEqual([noPool.status, unknown.status, run.status], [404, 400, 409]);
  for (const response of [noPool, unknown, run]) await response.body?.cancel();
});
