import assert from "node:assert/strict";
import { hc } from "hono/client";
import type { AdminApp } from "../../src/admin/mod.ts";
import type { JobState } from "../../src/contract/job.ts";
import { type Running, running } from "./_app.ts";

function clientOf(system: Running): ReturnType<typeof hc<AdminApp>> {
  return hc<AdminApp>("http://localhost", {
    fetch: async (input: RequestInfo | URL, init?: RequestInit) =>
      await system.app.request(new Request(input, init)),
  });
}

Deno.test("hc<AdminApp>() enqueues and looks up, with types", async () => {
  await using system = await running();
  const client = clientOf(system);

  const posted = await client.api.pools[":pool"].jobs.$post({
    param: { pool: "mail" },
    query: {},
    json: { lane: "urgent", payload: 1 },
  });
  assert.ok(posted.status === 202);
  const { id } = await posted.json();
  await system.clock.advance(1);
  const found = await client.api.jobs[":id"].$get({ param: { id }, query: {} });
  assert.ok(found.status === 200);
  const job = await found.json();

  const state: JobState = job.state;
  assert.equal(state, "done");
  // @ts-expect-error a record has no such field
  assert.equal(job.nope, undefined);
});

Deno.test("hc<AdminApp>() types pools, overrides and problems", async () => {
  await using system = await running();
  const client = clientOf(system);

  const listed = await client.api.pools.$get();
  assert.ok(listed.status === 200);
  const [pool] = await listed.json();
  const limit: number | null | undefined = pool?.limit;
  const put = await client.api.pools[":pool"].override.$put({
    param: { pool: "mail" },
    json: { max: 99, expiresInMs: 1_000 },
  });
  assert.ok(put.status === 400);
  const { errors } = await put.json();

  assert.notEqual(limit, undefined);
  assert.equal(errors?.length, 1);
});
