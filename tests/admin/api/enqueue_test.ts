import assert from "node:assert/strict";
import { problemOf, running } from "../_app.ts";

const JOBS = "/api/pools/mail/jobs";

Deno.test("POST jobs answers 202 with the id, and the job is run", async () => {
  await using system = await running();

  const response = await system.send("POST", JOBS, { lane: "urgent", payload: { to: "ann" } });
  const { id } = await response.json();
  await system.clock.advance(1);
  const job = await (await system.send("GET", `/api/jobs/${id}`)).json();

  assert.equal(response.status, 202);
  assert.equal(job.state, "done");
  assert.deepEqual(job.result, { echo: { to: "ann" } });
});

Deno.test("POST jobs takes every field of a job", async () => {
  await using system = await running();

  const response = await system.send("POST", "/api/pools/typed/jobs", {
    lane: "only",
    type: "send",
    payload: null,
    key: "k",
    delayMs: 60_000,
    dedupeKey: "d",
    ttlMs: 90_000,
  });
  const { id } = await response.json();
  const job = await (await system.send("GET", `/api/jobs/${id}`)).json();

  assert.equal(response.status, 202);
  assert.deepEqual([job.state, job.type, job.key, job.dedupeKey], ["delayed", "send", "k", "d"]);
  assert.equal(job.dueAtMs - job.createdAtMs, 60_000);
});

Deno.test("POST jobs answers 200 with the owner of the dedupeKey, when it has not ended", async () => {
  await using system = await running();
  const job = { lane: "batch", payload: 1, delayMs: 5_000, dedupeKey: "order-1" };

  const first = await (await system.send("POST", JOBS, job)).json();
  const second = await system.send("POST", JOBS, job);

  assert.equal(second.status, 200);
  assert.deepEqual(await second.json(), { id: first.id, duplicateOf: first.id });
});

Deno.test("POST jobs answers 400 with a pointer for every fault at once", async () => {
  await using system = await running();

  const response = await system.send("POST", JOBS, {
    lane: "urgnt",
    type: "send",
    key: "",
    delayMs: -1,
    ttlMs: 1.5,
    dedupeKey: "x".repeat(1025),
    dealy: 3,
  });

  assert.equal(response.status, 400);
  assert.deepEqual((await problemOf(response)).errors, [
    {
      pointer: "/key",
      detail: 'Expected key to be a text of 1 to 1024 characters but received ""',
    },
    { pointer: "/delayMs", detail: "Expected delayMs to be a whole number >= 0 but received -1" },
    { pointer: "/ttlMs", detail: "Expected ttlMs to be a whole number >= 1 but received 1.5" },
    {
      pointer: "/dedupeKey",
      detail:
        "Expected dedupeKey to be a text of 1 to 1024 characters but received 1025 characters",
    },
    {
      pointer: "/dealy",
      detail:
        'No field is named "dealy": expected one of "lane", "type", "payload", "key", "delayMs", "runAt", "dedupeKey", "ttlMs"',
    },
    { pointer: "/lane", detail: 'No lane is named "urgnt": did you mean "urgent"?' },
    { pointer: "/type", detail: "The pool has one handler: send its jobs without a type" },
    { pointer: "/payload", detail: "The payload is missing: send null if there is none" },
  ]);
});

Deno.test("POST jobs says what is wrong with a lane or type that is missing or no text", async () => {
  await using system = await running();

  const missing = await problemOf(
    await system.send("POST", "/api/pools/typed/jobs", { payload: 1 }),
  );
  const wrong = await problemOf(
    await system.send("POST", "/api/pools/typed/jobs", { lane: 1, type: 2, payload: 1 }),
  );
  const unknown = await problemOf(
    await system.send("POST", "/api/pools/typed/jobs", { lane: "only", type: "sned", payload: 1 }),
  );

  assert.deepEqual(missing.errors, [
    { pointer: "/lane", detail: 'Expected the name of a lane: expected "only"' },
    { pointer: "/type", detail: 'Expected the type of a job: expected one of "send", "count"' },
  ]);
  assert.equal(
    missing.detail,
    'Expected the name of a lane: expected "only" (and 1 more)',
  );
  assert.deepEqual(wrong.errors, [
    { pointer: "/lane", detail: 'Expected the name of a lane but received 1: expected "only"' },
    {
      pointer: "/type",
      detail: 'Expected the type of a job but received 2: expected one of "send", "count"',
    },
  ]);
  assert.deepEqual(unknown.errors, [
    { pointer: "/type", detail: 'No handler takes jobs of type "sned": did you mean "send"?' },
  ]);
});

Deno.test("POST jobs refuses what is no JSON object", async () => {
  await using system = await running();
  const headers = { "content-type": "application/json" };

  const text = await system.app.request(JOBS, { method: "POST", headers, body: "{oops" });
  const empty = await system.app.request(JOBS, { method: "POST", headers });
  const unannounced = await system.app.request(JOBS, {
    method: "POST",
    headers,
    body: new ReadableStream({ start: (body) => body.close() }), // curl -X POST: no length, no body
  });
  const figure = await system.send("POST", JOBS, 5);

  assert.equal(text.status, 400);
  assert.match((await problemOf(text)).detail, /^The body is not JSON: /);
  for (const response of [empty, unannounced]) {
    assert.equal((await problemOf(response)).detail, "The body is empty: expected JSON");
  }
  assert.equal((await problemOf(figure)).detail, "Expected a job as an object but received 5");
});

Deno.test("POST jobs answers 415 to a body that is not declared JSON, so that no form can post", async () => {
  await using system = await running();

  const response = await system.app.request(JOBS, {
    method: "POST",
    headers: { "content-type": "text/plain" },
    body: JSON.stringify({ lane: "urgent", payload: 1 }),
  });

  assert.equal(response.status, 415);
  assert.equal(
    (await problemOf(response)).detail,
    'Expected a JSON body: send it with "Content-Type: application/json"',
  );
});

Deno.test("POST jobs names a field called __proto__ as unknown", async () => {
  await using system = await running();

  const response = await system.app.request(JOBS, {
    method: "POST",
    headers: { "content-type": "application/json; charset=utf-8" },
    body: '{"__proto__":{"lane":"urgent"},"payload":1}',
  });

  const { errors } = await problemOf(response);
  assert.deepEqual(errors?.map((error) => error.pointer), ["/__proto__", "/lane"]);
});

Deno.test("POST jobs answers 400 and where, when the payload cannot be stored", async () => {
  await using system = await running();
  let deep: unknown = 1;
  for (let level = 0; level < 200; level++) deep = [deep];

  const response = await system.send("POST", JOBS, { lane: "urgent", payload: deep });

  const { errors } = await problemOf(response);
  assert.match(errors?.[0]?.pointer ?? "", /^\/payload(\/0)+$/);
  assert.match(errors?.[0]?.detail ?? "", /nested deeper than 100/);
});

Deno.test("POST jobs answers 404 and says which pools exist", async () => {
  await using system = await running();

  const near = await problemOf(await system.send("POST", "/api/pools/mial/jobs", {}));
  const far = await problemOf(await system.send("POST", "/api/pools/zzzzzzzz/jobs", {}));

  assert.equal(near.status, 404);
  assert.equal(near.detail, 'No pool is named "mial": did you mean "mail"?');
  assert.deepEqual(near.pools, ["mail", "typed"]);
  assert.equal(far.detail, 'No pool is named "zzzzzzzz": expected one of "mail", "typed"');
});

Deno.test("POST jobs answers 413 to a job over 64 KiB and to a body over 1 MiB", async () => {
  await using system = await running();
  const large = { lane: "urgent", payload: "x".repeat(65_536) };

  const single = await system.send("POST", JOBS, large);
  const bulk = await system.send("POST", JOBS, Array.from({ length: 17 }, () => large));

  assert.equal(single.status, 413);
  assert.equal(
    (await problemOf(single)).detail,
    "The job is too large: expected at most 65536 bytes of JSON, store the data elsewhere and send its address or key",
  );
  assert.equal(bulk.status, 413);
  assert.match((await problemOf(bulk)).detail, /expected at most 1048576 bytes/);
});

Deno.test("POST jobs goes by the announced length before it reads", async () => {
  await using system = await running();

  const response = await system.app.request(JOBS, {
    method: "POST",
    headers: { "content-type": "application/json", "content-length": "2000000" },
    body: "{}",
  });

  assert.equal(response.status, 413);
});

Deno.test("POST jobs answers 429 with Retry-After in whole seconds, when the job is turned away", async () => {
  await using system = await running();
  await system.send("POST", JOBS, { lane: "full", payload: 1 });

  const response = await system.send("POST", JOBS, { lane: "full", payload: 2 });
  const problem = await problemOf(response);

  assert.equal(response.status, 429);
  assert.equal(response.headers.get("retry-after"), "1");
  assert.equal(problem.retryAfterMs, 1_000);
  assert.equal(problem.reason, 'lane "full" is at its maxDepth of 1');
  assert.equal(
    problem.detail,
    'The job was rejected: lane "full" is at its maxDepth of 1; retry in 1000 ms',
  );
});

Deno.test("POST jobs?waitMs= holds the answer until the job has ended, and redacts its result", async () => {
  await using system = await running();

  const answer = system.send("POST", `${JOBS}?waitMs=99999999`, {
    lane: "urgent",
    payload: { user: "ann", password: "hunter2" },
  });
  await system.clock.advance(1);
  const response = await answer;

  assert.equal(response.status, 200);
  const { outcome } = await response.json();
  assert.deepEqual(outcome, {
    state: "done",
    result: { echo: { user: "ann", password: "[redacted]" } },
  });
});

Deno.test("POST jobs?waitMs= tells of a dead job", async () => {
  await using system = await running();

  const answer = system.send("POST", `${JOBS}?waitMs=5000`, {
    lane: "urgent",
    payload: { fail: "no such address" },
  });
  await system.clock.advance(1);

  const { outcome } = await (await answer).json();
  assert.deepEqual([outcome.state, outcome.reason, outcome.error], [
    "dead",
    "attempts",
    "no such address",
  ]);
});

Deno.test("POST jobs?waitMs= answers 202 when the job has not ended in time", async () => {
  await using system = await running();

  const response = await system.send("POST", `${JOBS}?waitMs=1`, {
    lane: "urgent",
    payload: { hang: true },
  });

  assert.equal(response.status, 202);
  assert.deepEqual(Object.keys(await response.json()), ["id"]);
});

Deno.test("POST jobs?waitMs= answers 202 at once when the server stops", async () => {
  const stopping = new AbortController();
  await using system = await running({ signal: stopping.signal });

  const answer = system.send("POST", `${JOBS}?waitMs=60000`, {
    lane: "urgent",
    payload: { hang: true },
  });
  await system.clock.advance(1);
  stopping.abort();

  assert.equal((await answer).status, 202);
});

Deno.test("POST jobs?waitMs= refuses what is no number", async () => {
  await using system = await running();

  const response = await system.send("POST", `${JOBS}?waitMs=soon`, {
    lane: "urgent",
    payload: 1,
  });

  assert.deepEqual((await problemOf(response)).errors, [{
    pointer: "?waitMs",
    detail: 'Expected waitMs to be a whole number >= 0 but received "soon"',
  }]);
});
