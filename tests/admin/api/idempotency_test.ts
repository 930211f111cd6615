import assert from "node:assert/strict";
import { problemOf, type Running, running } from "../_app.ts";

async function post(
  system: Running,
  key: string,
  body: unknown,
  query = "",
): Promise<Response> {
  return await system.app.request(`/api/pools/mail/jobs${query}`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify(body),
  });
}

const JOB = { lane: "batch", payload: 1, delayMs: 1_000 };

Deno.test("Idempotency-Key makes a job that is sent again a duplicate until ten minutes after its end", async () => {
  await using system = await running();
  const job = { ...JOB, delayMs: 20 * 60_000 }; // longer than a key is remembered

  const first = await post(system, "order-17", job);
  const again = await post(system, '"order-17"', job); // quoted, as the standard has it
  const other = await post(system, "order-18", job);
  await system.clock.advance(21 * 60_000);
  const ended = await post(system, "order-17", job);
  await system.clock.advance(8 * 60_000);
  const late = await post(system, "order-17", job);
  await system.clock.advance(2 * 60_000);
  const later = await post(system, "order-17", job);

  const { id } = await first.json();
  assert.deepEqual(
    [first, again, other, ended, late, later].map(({ status }) => status),
    [202, 200, 202, 200, 200, 202],
  );
  assert.deepEqual(await again.json(), { id, duplicateOf: id });
  assert.deepEqual(await ended.json(), { id, duplicateOf: id });
  assert.deepEqual(await late.json(), { id, duplicateOf: id });
});

Deno.test("Idempotency-Key is refused with another body, before and after the end of its job", async () => {
  await using system = await running();
  const other = { ...JOB, payload: 2 };
  await post(system, "order-17", JOB);

  const waiting = await post(system, "order-17", other);
  await system.clock.advance(2_000);
  const ended = await post(system, "order-17", other);
  const reordered = await post(system, "order-17", { delayMs: 1_000, payload: 1, lane: "batch" });

  for (const refused of [waiting, ended]) {
    assert.equal(refused.status, 422);
    assert.equal(
      (await problemOf(refused)).detail,
      'The idempotency key "order-17" was used for another request: repeat that request unchanged, or use a new key',
    );
  }
  assert.equal(reordered.status, 200);
});

Deno.test("Idempotency-Key of many jobs is refused with another list, and tells of each", async () => {
  await using system = await running();
  await post(system, "batch-3", [JOB, JOB]);

  const refused = await post(system, "batch-3", [JOB, { ...JOB, payload: 2 }]);

  assert.equal(refused.status, 422);
  const { detail, results } = await problemOf(refused);
  assert.match(detail, /The idempotency key "batch-3#0" was used for another request/);
  assert.match(JSON.stringify(results?.[1]), /The idempotency key .*batch-3#1.* was used/);
});

Deno.test("Idempotency-Key and dedupeKey find their job where the lane is full, paused or drained", async () => {
  await using system = await running();
  const full = { lane: "full", payload: 1, delayMs: 1_000 };
  const byKey = await (await post(system, "order-17", full)).json();

  const again = await post(system, "order-17", full);
  const many = await (await post(system, "batch-1", [full, { ...full, dedupeKey: "order-17" }]))
    .json();
  const byField = await system.send("POST", "/api/pools/mail/jobs", {
    ...full,
    dedupeKey: "order-17",
  });
  const other = await post(system, "order-18", full);
  const reused = await post(system, "order-17", { ...full, payload: 2 });
  await system.sluice.pool("mail").pause();
  const paused = await post(system, "order-17", full);

  assert.deepEqual(
    [again, byField, other, reused, paused].map(({ status }) => status),
    [200, 200, 429, 422, 200],
  );
  assert.equal((await again.json()).duplicateOf, byKey.id);
  assert.match(many.results[0].error, /is at its maxDepth of 1/);
  assert.equal(many.results[1].duplicateOf, byKey.id);
  const { shed } = system.sluice.pool("mail").tally().find(({ lane }) => lane === "full")!;
  assert.equal(shed, 2);
});

Deno.test("Idempotency-Key of a body that is nested too deeply is refused", async () => {
  await using system = await running();
  const response = await system.app.request("/api/pools/mail/jobs", {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": "k" },
    body: `{"lane":"batch","payload":${"[".repeat(20_000)}${"]".repeat(20_000)}}`,
  });

  assert.equal(response.status, 400);
  assert.equal((await problemOf(response)).detail, "The body is nested too deeply: flatten it");
});

Deno.test("Idempotency-Key with ?waitMs= tells how the job of the first request ended", async () => {
  await using system = await running();
  const body = { lane: "urgent", payload: { password: "hunter2" } };
  await post(system, "order-17", body);
  await system.clock.advance(1_000);

  const response = await post(system, "order-17", body, "?waitMs=1000");

  assert.equal(response.status, 200);
  const { id, duplicateOf, outcome } = await response.json();
  assert.equal(id, duplicateOf);
  assert.deepEqual(outcome, { state: "done", result: { echo: { password: "[redacted]" } } });
});

Deno.test("Idempotency-Key of many jobs finds those that have ended", async () => {
  await using system = await running();
  const jobs = [{ lane: "urgent", payload: 1 }, { lane: "full", payload: 2 }, {
    lane: "full",
    payload: 3,
  }];
  const first = await (await post(system, "batch-3", jobs)).json();
  await system.clock.advance(1_000);

  const again = await (await post(system, "batch-3", jobs)).json();

  const [a, b, shed] = first.results;
  assert.match(shed.error, /is at its maxDepth of 1/);
  assert.deepEqual(again.results, [{ duplicateOf: a.id }, { duplicateOf: b.id }, shed]);
});

Deno.test("Idempotency-Key is the dedupeKey of the job", async () => {
  await using system = await running();

  const byHeader = await (await post(system, "order-17", JOB)).json();
  const byField = await (await system.send("POST", "/api/pools/mail/jobs", {
    ...JOB,
    dedupeKey: "order-17",
  })).json();
  const both = await (await post(system, "order-17", { ...JOB, dedupeKey: "order-17" })).json();

  assert.deepEqual([byField.duplicateOf, both.duplicateOf], [byHeader.id, byHeader.id]);
});

Deno.test("Idempotency-Key gives each of many jobs a key of its place, unless it has its own", async () => {
  await using system = await running();
  const jobs = [JOB, JOB, { ...JOB, dedupeKey: "own" }, 5];

  const first = await (await post(system, "batch-3", jobs)).json();
  const again = await (await post(system, "batch-3", jobs)).json();
  const own = await (await post(system, "own", JOB)).json();

  const ids = first.results.slice(0, 3).map((result: { id: string }) => result.id);
  assert.equal(new Set(ids).size, 3);
  assert.deepEqual(
    again.results.slice(0, 3),
    ids.map((id: string) => ({ duplicateOf: id })),
  );
  assert.equal(own.duplicateOf, ids[2]);
  assert.match(again.results[3].error, /Expected a job as an object/);
});

Deno.test("Idempotency-Key is refused, when it is none or too long", async () => {
  await using system = await running();

  const empty = await post(system, '""', JOB);
  const long = await post(system, "x".repeat(1_001), JOB);

  assert.deepEqual((await problemOf(empty)).errors, [{
    pointer: "Idempotency-Key",
    detail: "Expected a key of 1 to 1000 characters but received none",
  }]);
  assert.equal(
    (await problemOf(long)).detail,
    "Expected a key of 1 to 1000 characters but received 1001",
  );
});

Deno.test("Idempotency-Key and another dedupeKey both find their job", async () => {
  await using system = await running();
  const job = { ...JOB, dedupeKey: "report" };

  const { id } = await (await post(system, "a", job)).json();
  const again = await (await post(system, "a", job)).json();
  const other = await (await post(system, "b", job)).json();
  const differs = await post(system, "a", { ...JOB, dedupeKey: "other" });

  assert.deepEqual([again.duplicateOf, other.duplicateOf, differs.status], [id, id, 422]);
});
