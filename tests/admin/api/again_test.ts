import assert from "node:assert/strict";
import type { PoolEvent } from "../../../mod.ts";
import { problemOf, running } from "../_app.ts";

Deno.test("POST /api/jobs/:id/again enqueues a like job, with what was changed and what was hidden", async () => {
  await using system = await running();
  const { sluice, clock } = system;
  const audits: PoolEvent[] = [];
  sluice.observe((event) => void (event.kind === "audit" && audits.push(event)));
  const payload = { user: "ann", password: "hunter22" };
  const job = { lane: "urgent", payload, key: "k", dedupeKey: "d", delayMs: 60_000 };
  const { id } = await sluice.enqueue("mail", job);
  const again = async (body: unknown): Promise<string> => {
    const response = await system.send("POST", `/api/jobs/${id}/again`, body);
    assert.equal(response.status, 202);
    return (await response.json()).id;
  };
  const found = async (id: string): Promise<readonly unknown[]> => {
    const { lane, payload, key, dedupeKey } = (await sluice.pool("mail").find(id))!;
    return [lane, payload, key, dedupeKey];
  };

  const same = await again({});
  const other = await again({
    lane: "batch",
    key: null,
    payload: { user: "bob", password: "[redacted]" },
  });
  const renamed = await again({ key: "j", payload: null });
  await clock.advance(100);

  assert.deepEqual(await found(same), ["urgent", payload, "k", undefined]);
  assert.deepEqual(await found(other), [
    "batch",
    { user: "bob", password: "hunter22" },
    undefined,
    undefined,
  ]);
  assert.deepEqual(await found(renamed), ["urgent", null, "j", undefined]);
  assert.equal((await sluice.pool("mail").find(same))?.state, "done");
  assert.equal((await sluice.pool("mail").find(id))?.state, "delayed");
  assert.deepEqual(audits.map((event) => event.kind === "audit" && [event.action, event.target]), [
    ...[["enqueue again", id], ["enqueue again", id], ["enqueue again", id]],
  ]);
});

Deno.test("POST /api/jobs/:id/again says what is wrong, and takes nothing then", async () => {
  await using system = await running();
  const { id } = await system.sluice.enqueue("typed", { lane: "only", type: "send", payload: 1 });
  await system.clock.advance(100);
  const post = async (body: unknown, at = id): Promise<Response> =>
    await system.send("POST", `/api/jobs/${at}/again`, body);

  const faults = async (body: unknown): Promise<readonly (string | undefined)[]> =>
    (await problemOf(await post(body))).errors?.map(({ pointer }) => pointer) ?? [];

  assert.deepEqual(await faults({ lane: "none", type: "sent" }), ["/lane", "/type"]);
  assert.deepEqual(await faults({ payload: { a: ["[redacted]"] } }), ["/payload/a/0"]);
  assert.deepEqual(await faults({ key: "" }), ["/key"]);
  assert.deepEqual(await faults({ payLoad: 1 }), ["/payLoad"]);
  assert.equal((await post({ payload: "x".repeat(70_000) })).status, 413);
  assert.equal((await post({}, "nope")).status, 404);
  assert.equal((await system.sluice.pool("typed").list({ limit: 9 })).jobs.length, 1);
});
