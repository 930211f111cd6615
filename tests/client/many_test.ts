import assert from "node:assert/strict";
import { connect, RequestError, UnavailableError } from "../../src/client/mod.ts";
import { mail } from "./_mail.ts";
import { json, scripted, still } from "./_server.ts";

Deno.test("enqueueAll() sends 1,000 jobs a call and tells of each", async () => {
  await using system = await mail();
  let calls = 0;
  const client = connect(system.url, {
    fetch: (url, init) => {
      calls++;
      return fetch(url, init);
    },
  });
  const jobs = Array.from(
    { length: 2_001 },
    (_, n) => ({ lane: "batch", payload: { to: `${n}` } }),
  );
  jobs[1_500] = { lane: "batsch", payload: { to: "x" } };

  const results = await client.enqueueAll("mail", jobs);

  assert.equal(calls, 3);
  assert.equal(results.length, 2_001);
  const errors = results.filter((result) => result instanceof Error);
  assert.equal(results[1_500], errors[0]);
  assert.deepEqual(errors.map(({ name, message }) => [name, message]), [
    ["RequestError", '/lane: No lane is named "batsch": did you mean "batch"?'],
  ]);
  const last = results[2_000];
  assert.ok(last !== undefined && "id" in last);
  assert.equal((await client.wait(last.id)).state, "done");
});

Deno.test("enqueueAll() makes calls of less than what a server takes", async () => {
  await using server = scripted((seen) => {
    const jobs: unknown[] = JSON.parse(seen.body);
    return Response.json({ results: jobs.map((_, n) => ({ id: `${n}` })) });
  });
  const payload = "ä".repeat(30_000); // 60 kB
  const client = connect(server.url);

  const results = await client.enqueueAll("mail", Array(20).fill({ lane: "batch", payload }));

  assert.equal(results.length, 20);
  assert.deepEqual(server.seen.map(({ body }) => JSON.parse(body).length), [16, 4]);
  assert.equal(new Set(server.seen.map(({ key }) => key)).size, 2);
});

Deno.test("enqueueAll() sends a call with jobs that were turned away again, under its key", async () => {
  await using server = scripted(
    json(200, { results: [{ id: "a" }, { error: "full", retryAfterMs: 300 }, { error: "bad" }] }),
    json(200, {
      results: [{ duplicateOf: "a" }, { error: "full", retryAfterMs: 50 }, { error: "bad" }],
    }),
    json(200, { results: [{ duplicateOf: "a" }, { duplicateOf: "b" }, { error: "bad" }] }),
  );
  const { options, waits } = still();
  const job = { lane: "batch", payload: 1 };

  const results = await connect(server.url, options).enqueueAll("mail", [job, job, job], {
    idempotencyKey: "k",
  });

  assert.deepEqual(results.slice(0, 2), [
    { id: "a", duplicate: false },
    { id: "b", duplicate: true },
  ]);
  assert.ok(results[2] instanceof RequestError);
  assert.deepEqual(server.seen.map(({ key }) => key), ["k", "k", "k"]);
  assert.equal(new Set(server.seen.map(({ body }) => body)).size, 1);
  assert.deepEqual(waits, [300, 50]);
});

Deno.test("enqueueAll() under one idempotencyKey stores each job once, those too that were turned away", async () => {
  await using system = await mail();
  const client = connect(system.url, { attempts: 1 });
  const jobs = ["urgent", "full", "full"].map((lane) => ({ lane, payload: { to: lane } }));
  const send = async (): Promise<readonly unknown[]> => {
    const results = await client.enqueueAll("mail", jobs, { idempotencyKey: "import-17" });
    return results.map((result) => "id" in result ? result.id : result.name);
  };

  const first = await send();
  await system.sluice.pool("mail").change(String(first[1]), "cancel"); // makes room
  const second = await send();
  const third = await send();

  assert.equal(first[2], "RejectedError");
  assert.deepEqual(second.slice(0, 2), first.slice(0, 2));
  assert.notEqual(second[2], first[1]);
  assert.deepEqual(third, second);
});

Deno.test("enqueueAll() tells of a call that fails by the results of its jobs", async () => {
  await using server = scripted(
    json(200, { results: Array(1_000).fill({ id: "a" }) }),
    json(503, {}),
  );
  const { options } = still({ attempts: 2 });

  const results = await connect(server.url, options).enqueueAll(
    "mail",
    Array(2_500).fill({ lane: "batch", payload: 1 }),
  );

  assert.equal(results.length, 2_500);
  assert.deepEqual(results[999], { id: "a", duplicate: false });
  assert.ok(results[1_000] instanceof UnavailableError);
  assert.ok(results[2_499] instanceof UnavailableError);
  assert.equal(server.seen.length, 3);
});
