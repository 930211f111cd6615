import assert from "node:assert/strict";
import { start } from "../../mod.ts";
import { connect, DeadlineError, RequestError } from "../../src/client/mod.ts";
import { ANN, mail, type Pools } from "./_mail.ts";
import { json, scripted, still } from "./_server.ts";

Deno.test("run() enqueues and answers how the job ended", async () => {
  await using system = await mail();
  const client = connect<Pools>(system.url);

  const done = await client.run("mail", ANN);
  const dead = await client.run("mail", { lane: "urgent", payload: { to: "nobody" } });

  assert.deepEqual([done.state, done.result], ["done", "sent to ann@example.com"]);
  assert.deepEqual([dead.state, dead.reason, dead.error], ["dead", "attempts", "no such address"]);
  assert.notEqual(done.id, dead.id);
});

Deno.test("run() and wait() tell no error of a job that is done after a failure, by whatever way", async () => {
  await using sluice = await start({
    admin: { port: 0 },
    pools: {
      mail: {
        handler: ({ attempt }) => {
          if (attempt === 1) throw new Error("try again");
          return attempt;
        },
        size: { min: 1, max: 1 },
        lanes: [{ name: "urgent", backoff: { baseMs: 1, jitter: 0 } }],
      },
    },
  });
  const client = connect(sluice.adminUrl!);
  const options = { idempotencyKey: "order-17" };
  const handle = await sluice.enqueue("mail", { lane: "urgent", payload: 1 });

  const { id, ...first } = await client.run("mail", { lane: "urgent", payload: 1 }, options);
  const { id: _, ...repeated } = await client.run("mail", { lane: "urgent", payload: 1 }, options);
  const waited = await client.wait(id);
  const inProcess = await handle.done;

  for (const outcome of [first, repeated, waited, inProcess]) {
    assert.deepEqual(outcome, { state: "done", result: 2 });
  }
  const job = await sluice.pool("mail").find(id);
  assert.deepEqual([job?.error, job?.history?.[0]?.error], [undefined, "try again"]);
});

Deno.test("enqueue() of a dedupeKey follows the dedupe mode of its lane, sent again or not", async () => {
  const ran: unknown[] = [];
  await using sluice = await start({
    admin: { port: 0 },
    pools: {
      p: {
        handler: ({ payload }) => void ran.push(payload),
        size: { min: 1, max: 1 },
        lanes: [{ name: "a", paused: true, dedupe: { mode: "replace" } }],
      },
    },
  });
  const client = connect(sluice.adminUrl!);
  const job = { lane: "a", payload: 1, dedupeKey: "price" };
  const options = { idempotencyKey: "order-17" };

  const first = await client.enqueue("p", job, options);
  const second = await client.enqueue("p", { ...job, payload: 2 });
  const again = await client.enqueue("p", job, options);
  const [third] = await client.enqueueAll("p", [{ ...job, payload: 3 }]);
  await sluice.pool("p").resume("a");

  assert.equal((await client.wait(first.id)).state, "done");
  assert.deepEqual([first.duplicate, second, again, third], [
    false,
    ...Array.from({ length: 3 }, () => ({ id: first.id, duplicate: true })),
  ]);
  assert.deepEqual(ran, [3]);
});

Deno.test("wait() answers how a job ended that another has enqueued", async () => {
  await using system = await mail();
  const client = connect<Pools>(`${system.url}/`);
  const { id } = await system.sluice.enqueue("mail", { lane: "urgent", payload: { to: "bob" } });

  assert.deepEqual(await client.wait(id), { state: "done", result: "sent to bob" });
});

Deno.test("wait() holds on until the job has ended", async () => {
  await using system = await mail();
  const client = connect<Pools>(system.url);
  const { id } = await client.enqueue("mail", { lane: "full", payload: { to: "ann" } });

  const outcome = client.wait(id);
  await client.run("mail", ANN);
  await system.sluice.pool("mail").resume("full");

  assert.deepEqual(await outcome, { state: "done", result: "sent to ann" });
});

Deno.test("enqueue() under one idempotencyKey stores one job", async () => {
  await using system = await mail();
  const client = connect<Pools>(system.url);

  const first = await client.enqueue("mail", ANN, { idempotencyKey: "order-17" });
  await client.wait(first.id);
  const again = await client.enqueue("mail", ANN, { idempotencyKey: "order-17" });
  const other = await client.enqueue("mail", ANN);
  await client.wait(other.id);

  assert.deepEqual([first.duplicate, again.duplicate, other.duplicate], [false, true, false]);
  assert.equal(again.id, first.id);
  assert.deepEqual(system.ran, ["ann@example.com", "ann@example.com"]);
});

Deno.test("enqueue() throws RequestError with the places of all faults", async () => {
  await using system = await mail();

  const answer = connect(system.url).enqueue("mail", { lane: "urgnt", payload: 1, ttlMs: 0 });

  await assert.rejects(answer, (error) => {
    assert.ok(error instanceof RequestError);
    assert.equal(error.status, 400);
    assert.deepEqual(error.errors, [
      { pointer: "/ttlMs", detail: "Expected ttlMs to be a whole number >= 1 but received 0" },
      { pointer: "/lane", detail: 'No lane is named "urgnt": did you mean "urgent"?' },
    ]);
    return true;
  });
  await assert.rejects(connect(system.url).enqueue("male", ANN), {
    status: 404,
    message: 'No pool is named "male": expected "mail"',
  });
});

Deno.test("a client shows its token, and says what is wrong with it", async () => {
  Deno.env.set("TEST_CLIENT_TOKEN", "a-token-of-enough-characters");
  await using system = await mail({ tokens: { admin: { env: "TEST_CLIENT_TOKEN" } } });
  const token = "a-token-of-enough-characters";

  const { state } = await connect<Pools>(system.url, { token: () => Promise.resolve(token) })
    .run("mail", ANN);

  Deno.env.delete("TEST_CLIENT_TOKEN");
  assert.equal(state, "done");
  await assert.rejects(connect<Pools>(system.url).enqueue("mail", ANN), {
    name: "RequestError",
    message: `The system at ${system.url} needs a token: pass "token"`,
  });
  await assert.rejects(connect<Pools>(system.url, { token: "other" }).enqueue("mail", ANN), {
    message: `The system at ${system.url} rejected the token: check it`,
  });
});

Deno.test("a client says so when something else answers", async () => {
  await using page = scripted(() => new Response("<h1>Welcome</h1>"));
  await using other = scripted(json(200, { hello: "world" }));
  const job = { lane: "batch", payload: 1 };

  await assert.rejects(connect(page.url).enqueue("mail", job), {
    name: "RequestError",
    message:
      `What answers at ${page.url} is not a Sluice admin API: it sent no JSON, check the address`,
  });
  await assert.rejects(connect(other.url).enqueue("mail", job), {
    message:
      `What answers at ${other.url} is not a Sluice admin API: the answer names no job, check the address`,
  });
  await assert.rejects(connect(other.url).wait("x"), {
    message:
      `What answers at ${other.url} is not a Sluice admin API: the answer names no job, check the address`,
  });
  const [result] = await connect(other.url).enqueueAll("mail", [job]);
  assert.ok(result instanceof RequestError);
  assert.equal(
    result.message,
    `What answers at ${other.url} is not a Sluice admin API: the answer names no jobs, check the address`,
  );
});

Deno.test("wait() throws DeadlineError when the job has not ended in time, and RequestError when nobody knows it", async () => {
  await using system = await mail();
  const client = connect<Pools>(system.url);
  const { id } = await client.enqueue("mail", { lane: "full", payload: { to: "ann" } });

  await assert.rejects(client.wait(id, { deadlineMs: 0 }), (error) => {
    assert.ok(error instanceof DeadlineError);
    assert.equal(error.id, id);
    assert.equal(
      error.message,
      `The job "${id}" has not ended within 0 ms: it continues, wait for it again by its id`,
    );
    return true;
  });
  await assert.rejects(client.wait("x"), { name: "RequestError", status: 404 });
});

Deno.test("wait() asks again after a pause, when an answer comes early or none does", async () => {
  await using server = scripted(
    json(200, { id: "a", state: "running" }),
    json(503, {}),
    json(200, { id: "a", state: "cancelled" }),
  );
  const { options, waits } = still();

  assert.deepEqual(await connect(server.url, options).wait("a"), { state: "cancelled" });
  assert.deepEqual(waits, [200, 100]);
  assert.equal(server.seen[0]?.path, "/api/jobs/a?waitMs=25000");
});

Deno.test("connect() refuses a number of attempts that never sends", () => {
  assert.throws(() => connect("http://127.0.0.1", { attempts: 0 }), {
    name: "RangeError",
    message: "Expected attempts >= 1 but received 0",
  });
});

Deno.test("a client's types know pools, lanes and payloads", () => {
  const client = connect<Pools>("http://127.0.0.1");
  const never = (): unknown[] => [
    // @ts-expect-error no pool is named so
    client.enqueue("male", ANN),
    // @ts-expect-error no lane is named so
    client.enqueue("mail", { lane: "urgnt", payload: { to: "ann" } }),
    // @ts-expect-error the payload has another shape
    client.enqueueAll("mail", [{ lane: "batch", payload: 1 }]),
  ];

  assert.equal(typeof never, "function");
});
