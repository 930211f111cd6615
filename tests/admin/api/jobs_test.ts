import assert from "node:assert/strict";
import { problemOf, type Running, running } from "../_app.ts";

async function enqueue(system: Running, job: unknown): Promise<string> {
  const response = await system.send("POST", "/api/pools/mail/jobs", job);
  const { id }: { id: string } = await response.json();
  return id;
}

Deno.test("GET job shows everything but what is to be redacted, at any depth", async () => {
  await using system = await running();
  const id = await enqueue(system, {
    lane: "batch",
    delayMs: 1_000,
    payload: { user: "ann", Password: "a", list: [{ password: "b", kept: 1 }] },
  });

  const job = await (await system.send("GET", `/api/jobs/${id}`)).json();

  assert.deepEqual(job.payload, {
    user: "ann",
    Password: "[redacted]",
    list: [{ password: "[redacted]", kept: 1 }],
  });
  assert.deepEqual([job.id, job.pool, job.lane, job.state], [id, "mail", "batch", "delayed"]);
});

Deno.test("GET job answers 404, when the id is not known", async () => {
  await using system = await running();

  const response = await system.send("GET", "/api/jobs/nope");

  assert.equal(response.status, 404);
  assert.equal(
    (await problemOf(response)).detail,
    'No job has the id "nope": ended jobs are deleted after a while, see "keep" in the config',
  );
});

Deno.test("GET jobs lists by state and lane, in pages", async () => {
  await using system = await running();
  const ids: string[] = [];
  for (let index = 0; index < 5; index++) {
    ids.push(await enqueue(system, { lane: "batch", payload: index, delayMs: 1_000 }));
  }
  await enqueue(system, { lane: "full", payload: 9 });

  const first = await (await system.send(
    "GET",
    "/api/pools/mail/jobs?state=delayed&lane=batch&limit=3",
  )).json();
  const second = await (await system.send(
    "GET",
    `/api/pools/mail/jobs?state=delayed&lane=batch&limit=3&cursor=${first.cursor}`,
  )).json();

  const listed = [...first.jobs, ...second.jobs].map((job: { id: string }) => job.id);
  assert.deepEqual(first.jobs.length, 3);
  assert.deepEqual(listed, ids);
  assert.equal(second.cursor, undefined);
});

Deno.test("GET jobs clamps its limit", async () => {
  await using system = await running();
  await system.send(
    "POST",
    "/api/pools/mail/jobs",
    Array.from({ length: 600 }, () => ({ lane: "batch", payload: 1, delayMs: 1_000 })),
  );

  const most = await (await system.send("GET", "/api/pools/mail/jobs?limit=99999")).json();

  assert.equal(most.jobs.length, 500);
});

Deno.test("GET lists answer 400 to a limit of none", async () => {
  await using system = await running();

  for (const path of ["jobs", "decisions"]) {
    const response = await system.send("GET", `/api/pools/mail/${path}?limit=0`);

    assert.equal(response.status, 400);
    assert.deepEqual((await problemOf(response)).errors, [
      { pointer: "?limit", detail: 'Expected limit to be a whole number >= 1 but received "0"' },
    ]);
  }
});

Deno.test("GET jobs answers 400 for a state, lane or limit that does not exist", async () => {
  await using system = await running();

  const response = await system.send(
    "GET",
    "/api/pools/mail/jobs?state=deda&lane=bacth&limit=1e9",
  );

  assert.equal(response.status, 400);
  assert.deepEqual((await problemOf(response)).errors, [
    { pointer: "?state", detail: 'No state is named "deda": did you mean "dead"?' },
    { pointer: "?lane", detail: 'No lane is named "bacth": did you mean "batch"?' },
    {
      pointer: "?limit",
      detail: 'Expected limit to be a whole number >= 1 but received "1e9"',
    },
  ]);
});

Deno.test("POST cancel cancels a job that waits, and answers 409 when it has ended", async () => {
  await using system = await running();
  const id = await enqueue(system, { lane: "batch", payload: 1, delayMs: 1_000 });

  const first = await system.send("POST", `/api/jobs/${id}/cancel`);
  const second = await system.send("POST", `/api/jobs/${id}/cancel`);

  assert.deepEqual([first.status, await first.json()], [200, { id, state: "cancelled" }]);
  assert.equal(second.status, 409);
  assert.equal(
    (await problemOf(second)).detail,
    "The job is cancelled: only a job that has not ended can be cancelled",
  );
});

Deno.test("POST retry makes a dead job ready again, and answers 409 when it is not dead", async () => {
  await using system = await running();
  const dead = await enqueue(system, { lane: "urgent", payload: { fail: "no" } });
  const delayed = await enqueue(system, { lane: "batch", payload: 1, delayMs: 60_000 });
  await system.clock.advance(1);

  const before = await (await system.send("GET", `/api/jobs/${dead}`)).json();
  const retried = await system.send("POST", `/api/jobs/${dead}/retry`);
  const refused = await system.send("POST", `/api/jobs/${delayed}/retry`);

  assert.deepEqual([before.state, before.reason, before.error], ["dead", "attempts", "no"]);
  assert.deepEqual([retried.status, await retried.json()], [200, { id: dead, state: "ready" }]);
  assert.equal(refused.status, 409);
  assert.equal(
    (await problemOf(refused)).detail,
    "The job is delayed: only a dead job can be retried",
  );
});

Deno.test("DELETE job forgets one that has ended, and answers 409 when it has not", async () => {
  await using system = await running();
  const dead = await enqueue(system, { lane: "urgent", payload: { fail: "no" } });
  const delayed = await enqueue(system, { lane: "batch", payload: 1, delayMs: 60_000 });
  await system.clock.advance(1);

  const removed = await system.send("DELETE", `/api/jobs/${dead}`);
  const gone = await system.send("GET", `/api/jobs/${dead}`);
  const refused = await system.send("DELETE", `/api/jobs/${delayed}`);

  assert.deepEqual(await removed.json(), { id: dead, state: "removed" });
  assert.equal(gone.status, 404);
  assert.equal(
    (await problemOf(refused)).detail,
    "The job is delayed: only a job that has ended can be removed, cancel it first",
  );
});

Deno.test("Routes that change a job answer 404, when the id is not known", async () => {
  await using system = await running();

  for (
    const [method, path] of [
      ["POST", "/api/jobs/nope/cancel"],
      ["POST", "/api/jobs/nope/retry"],
      ["DELETE", "/api/jobs/nope"],
    ] as const
  ) {
    assert.equal((await system.send(method, path)).status, 404, path);
  }
});

Deno.test("GET jobs answers 400 to a cursor that is none, or of another list", async () => {
  await using system = await running();
  await enqueue(system, { lane: "batch", payload: 1, delayMs: 1_000 });
  await enqueue(system, { lane: "batch", payload: 2, delayMs: 1_000 });
  const path = "/api/pools/mail/jobs?limit=1";
  const { cursor } = await (await system.send("GET", path)).json();

  const others = ["nonsense", "", "-1", `${cursor}&lane=batch`, `${cursor}&state=ready`];
  for (const other of others) {
    const response = await system.send("GET", `${path}&cursor=${other}`);
    assert.equal(response.status, 400, other);
    assert.deepEqual((await problemOf(response)).errors, [{
      pointer: "?cursor",
      detail:
        "The cursor belongs to another list: use the one from the previous page, with the same filters",
    }]);
  }
  assert.equal((await system.send("GET", `${path}&cursor=${cursor}`)).status, 200);
});

Deno.test("GET jobs finds jobs by a text in what is shown of them, page by page", async () => {
  await using system = await running();
  for (let index = 0; index < 6; index++) {
    const payload = { name: index % 2 === 0 ? "Ann" : "Bob", password: "hunter2" };
    await enqueue(system, { lane: "batch", payload, key: `user-${index}`, delayMs: 1_000 });
  }
  const find = async (query: string) =>
    await (await system.send("GET", `/api/pools/mail/jobs?${query}`)).json();

  const all = await find("match=ann");
  const byKey = await find("match=USER-3");
  const hidden = await find("match=hunter2");
  const first = await find("match=ann&limit=2");
  const second = await find(`match=ann&limit=2&cursor=${first.cursor}`);

  assert.deepEqual([all.jobs.length, byKey.jobs.length, hidden.jobs.length], [3, 1, 0]);
  assert.deepEqual([...first.jobs, ...second.jobs], all.jobs.slice(0, 2));
});

Deno.test("POST cancel says of a running job that it was asked to stop, and so does a look at it", async () => {
  await using system = await running();
  const job = { lane: "urgent", payload: { hang: true } };
  const { id } = await (await system.send("POST", "/api/pools/mail/jobs", job)).json();
  await system.clock.advance(10);

  const before = await (await system.send("GET", `/api/jobs/${id}`)).json();
  const cancelled = await (await system.send("POST", `/api/jobs/${id}/cancel`)).json();
  const shown = await (await system.send("GET", `/api/jobs/${id}`)).json();

  assert.equal(before.cancelling, undefined);
  assert.deepEqual(cancelled, { id, state: "running", cancelling: true });
  assert.deepEqual([shown.state, shown.cancelling], ["running", true]);
});

Deno.test("GET jobs and the pages of jobs show those that ended last first, from page to page", async () => {
  await using system = await running();
  const ids: Record<string, string[]> = { done: [], dead: [] };
  for (const state of ["done", "dead", "dead", "done", "dead", "done"]) {
    const payload = state === "dead" ? { fail: "no" } : {};
    const job = { lane: "urgent", payload };
    const { id } = await (await system.send("POST", "/api/pools/mail/jobs", job)).json();
    ids[state]!.unshift(id);
    await system.clock.advance(100);
  }

  for (const state of ["done", "dead"]) {
    const seen: string[] = [];
    let cursor = "";
    do {
      const path = `/api/pools/mail/jobs?state=${state}&limit=1${cursor && `&cursor=${cursor}`}`;
      const page = await (await system.send("GET", path)).json();
      seen.push(...page.jobs.map(({ id }: { id: string }) => id));
      cursor = page.cursor ?? "";
    } while (cursor !== "");
    const onPage = await (await system.send("GET", `/jobs?pool=mail&state=${state}`)).text();

    assert.deepEqual(seen, ids[state]);
    assert.deepEqual([...onPage.matchAll(/<tr id="job-([^"]+)"/g)].map(([, id]) => id), ids[state]);
  }
  const dead = await (await system.send("GET", "/dead")).text();
  assert.deepEqual([...dead.matchAll(/<tr id="job-([^"]+)"/g)].map(([, id]) => id), ids["dead"]);
});
