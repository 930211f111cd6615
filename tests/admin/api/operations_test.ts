import assert from "node:assert/strict";
import { hc } from "hono/client";
import { setImmediate } from "node:timers/promises";
import { start as boot } from "../../../mod.ts";
import { MemoryStore } from "../../../stores/memory/mod.ts";
import type { AdminApp, OperationJson, OperationRequest } from "../../../src/admin/mod.ts";
import type { PoolEvent } from "../../../src/contract/event.ts";
import { StoreError } from "../../../src/contract/errors.ts";
import { defineStore } from "../../../src/contract/plugin.ts";
import type { JobPage } from "../../../src/contract/store.ts";
import { admin } from "../../../src/admin/mod.ts";
import { VirtualClock } from "../../../src/time/virtual_clock.ts";
import { problemOf, type Running, running } from "../_app.ts";

const JSON_TYPE = { "content-type": "application/json" };

function clientOf(system: Running): ReturnType<typeof hc<AdminApp>> {
  return hc<AdminApp>("http://localhost", {
    fetch: async (input: RequestInfo | URL, init?: RequestInit) =>
      await system.app.request(new Request(input, init)),
  });
}

/** Starts an operation on `mail`. */
async function start(system: Running, json: OperationRequest): Promise<OperationJson> {
  const response = await clientOf(system).api.pools[":pool"].operations.$post({
    param: { pool: "mail" },
    json,
  });
  assert.ok(response.status === 202);
  return await response.json();
}

/** Looks until an operation has ended. */
async function ended(system: Running, id: string): Promise<OperationJson> {
  for (;;) {
    const response = await clientOf(system).api.operations[":id"].$get({ param: { id } });
    assert.ok(response.status === 200);
    const operation = await response.json();
    if (operation.status !== "running") return operation;
    await setImmediate();
  }
}

async function run(system: Running, json: OperationRequest): Promise<OperationJson> {
  return await ended(system, (await start(system, json)).id);
}

/** Adds jobs that die at once in `urgent`, one a text. */
async function kill(system: Running, texts: readonly string[]): Promise<void> {
  await system.send(
    "POST",
    "/api/pools/mail/jobs",
    texts.map((fail) => ({ lane: "urgent", payload: { fail } })),
  );
  await system.clock.advance(1_000);
}

async function idsOf(system: Running, query: string): Promise<readonly string[]> {
  const page = await (await system.send("GET", `/api/pools/mail/jobs?limit=500&${query}`)).json();
  return page.jobs.map((job: { id: string }) => job.id);
}

Deno.test("POST operations retry makes dead jobs ready again, once each", async () => {
  await using system = await running();
  await kill(system, Array.from({ length: 450 }, (_, index) => `fault ${index}`));

  const started = await start(system, { retry: true });
  const operation = await ended(system, started.id);
  await system.clock.advance(1_000);

  assert.deepEqual([started.status, started.action, started.pool], ["running", "retry", "mail"]);
  assert.deepEqual([operation.status, operation.seen, operation.changed], ["done", 450, 450]);
  assert.equal(system.sluice.pool("mail").snapshot().totals.failures, 900);
});

Deno.test("POST operations changes only jobs that match, in any case", async () => {
  await using system = await running();
  await kill(system, ["Timeout at smtp", "no such user", "TIMEOUT at imap"]);

  const operation = await run(system, { discard: true, match: "timeout" });

  assert.deepEqual([operation.seen, operation.matched, operation.changed], [3, 2, 2]);
  const left = await (await system.send("GET", "/api/pools/mail/jobs?state=dead")).json();
  assert.deepEqual(left.jobs.map((job: { error: string }) => job.error), ["no such user"]);
});

Deno.test("POST operations matches nothing that is hidden", async () => {
  await using system = await running();
  await system.send("POST", "/api/pools/mail/jobs", [
    { lane: "batch", payload: { password: "hunter2", name: "ann" }, delayMs: 1_000 },
  ]);

  const hidden = await run(system, { purge: true, match: "hunter2" });
  const shown = await run(system, { purge: true, match: "Ann" });

  assert.deepEqual([hidden.matched, shown.matched], [0, 1]);
});

Deno.test("POST operations purge cancels what waits in a lane, ready or delayed, and no other", async () => {
  await using system = await running();
  await system.send("POST", "/api/pools/mail/pause", { lane: "batch" });
  await system.send("POST", "/api/pools/mail/jobs", [
    { lane: "batch", payload: 1 },
    { lane: "batch", payload: 2, delayMs: 60_000 },
    { lane: "full", payload: 3 },
    { lane: "urgent", payload: { hang: true } },
  ]);
  await system.clock.advance(10);

  const started = await start(system, { purge: true, lane: "batch" });
  const operation = await ended(system, started.id);

  assert.equal(started.total, 2);
  assert.deepEqual([operation.seen, operation.changed], [2, 2]);
  assert.equal((await idsOf(system, "state=cancelled")).length, 2);
  assert.equal((await idsOf(system, "state=running")).length, 1);
  assert.equal((await idsOf(system, "lane=full&state=ready")).length, 1);
});

Deno.test("POST operations purge alone cancels every job that waits, in all lanes", async () => {
  await using system = await running();
  await system.send("POST", "/api/pools/mail/pause", {});
  await system.send("POST", "/api/pools/mail/jobs", [
    { lane: "urgent", payload: 1 },
    { lane: "batch", payload: 2, delayMs: 60_000 },
    { lane: "full", payload: 3 },
  ]);

  const operation = await ended(system, (await start(system, { purge: true })).id);

  assert.equal(operation.changed, 3);
  assert.equal((await idsOf(system, "state=cancelled")).length, 3);
});

Deno.test("POST operations purge cancels what waits for its key, also what its key frees meanwhile", async () => {
  const gate = Promise.withResolvers<void>();
  await using sluice = await boot({
    pools: {
      keyed: {
        handler: () => gate.promise,
        size: { min: 1, max: 1 },
        lanes: [{ name: "only", maxRunningPerKey: 1 }],
      },
    },
  }, { clock: new VirtualClock() });
  const app = admin(sluice);
  const pool = sluice.pool("keyed");
  const add = async (key: string) => (await pool.enqueue({ lane: "only", payload: 1, key })).id;
  const [runs, ...rest] = [await add("a"), await add("a"), await add("b"), await add("b")];
  const states = async () =>
    await Promise.all(rest.map(async (id) => (await pool.find(id))?.state));
  assert.deepEqual(await states(), ["blocked", "ready", "blocked"]);
  const post = async (body: OperationRequest): Promise<OperationJson> => {
    const request = { method: "POST", body: JSON.stringify(body), headers: JSON_TYPE };
    return await (await app.request("/api/pools/keyed/operations", request)).json();
  };

  const some = await post({ purge: true, state: "blocked", match: "keyed" });
  const all = await post({ purge: true });
  for (let turn = 0; turn < 20; turn++) await setImmediate();

  assert.deepEqual([some.total, all.total], [2, 3]);
  assert.deepEqual(await states(), ["cancelled", "cancelled", "cancelled"]);
  assert.equal((await pool.find(runs!))?.state, "running");
  gate.resolve();
});

Deno.test("POST operations discard forgets done jobs, when asked for those", async () => {
  await using system = await running();
  await system.send("POST", "/api/pools/mail/jobs", { lane: "batch", payload: 1 });
  await kill(system, ["dead"]);

  const operation = await run(system, { discard: true, state: "done" });

  assert.deepEqual([operation.changed, operation.state], [1, "done"]);
  assert.deepEqual(
    [await idsOf(system, "state=done"), (await idsOf(system, "state=dead")).length],
    [
      [],
      1,
    ],
  );
});

Deno.test("DELETE /api/operations/:id stops one where it is", async () => {
  await using system = await running();
  await kill(system, Array.from({ length: 1_000 }, () => "fault"));
  const { id } = await start(system, { discard: true });

  const response = await clientOf(system).api.operations[":id"].$delete({ param: { id } });
  assert.ok(response.status === 200);
  const operation = await response.json();
  const again = await system.send("DELETE", `/api/operations/${id}`);

  assert.equal(operation.status, "cancelled");
  assert.ok(operation.changed < 1_000);
  assert.ok((operation.endedAtMs ?? 0) >= operation.startedAtMs);
  assert.deepEqual(await again.json(), operation);
  const left = await system.sluice.pool("mail").list({ state: "dead", limit: 2_000 });
  assert.equal(left.jobs.length, 1_000 - operation.changed);
});

Deno.test("GET /api/operations lists them, newest first", async () => {
  await using system = await running();
  const first = await run(system, { retry: true });
  const second = await run(system, { purge: true, lane: "batch" });

  const response = await clientOf(system).api.operations.$get();
  assert.ok(response.status === 200);

  assert.deepEqual(await response.json(), [second, first]);
});

Deno.test("POST operations answers 429, when eight run already", async () => {
  await using system = await running();
  const slow = Promise.withResolvers<JobPage>();
  Object.assign(system.sluice.pool("mail"), { list: () => slow.promise });

  for (let running = 0; running < 8; running++) await start(system, { retry: true });
  const response = await system.send("POST", "/api/pools/mail/operations", { retry: true });
  slow.resolve({ jobs: [], cursor: undefined });
  const operations = await (await system.send("GET", "/api/operations")).json();
  for (const { id } of operations) await ended(system, id);

  assert.equal(response.status, 429);
  assert.equal(response.headers.get("retry-after"), "5");
  assert.equal(
    (await problemOf(response)).detail,
    "8 operations are running already: wait for one to end, or cancel one",
  );
});

Deno.test("An operation that fails says so, and only the log says why", async () => {
  const lines: unknown[] = [];
  await using system = await running({
    log: { debug() {}, info() {}, warn() {}, error: (...line) => lines.push(line) },
  });
  Object.assign(system.sluice.pool("mail"), {
    list: () => Promise.reject(new Error("secret path /var/lib/x")),
  });

  const operation = await run(system, { retry: true });

  assert.equal(operation.status, "failed");
  assert.doesNotMatch(JSON.stringify(operation), /secret/);
  assert.match(JSON.stringify(lines), /An operation on jobs failed.*secret path/);
});

Deno.test("An operation is cancelled, when the server stops", async () => {
  const stopping = new AbortController();
  await using system = await running({ signal: stopping.signal });
  await kill(system, Array.from({ length: 1_000 }, () => "fault"));
  const { id } = await start(system, { discard: true });

  stopping.abort();

  assert.equal((await ended(system, id)).status, "cancelled");
});

Deno.test("An operation is cancelled and no fault, if its store closes under it at a stop", async () => {
  const lines: unknown[] = [];
  await using system = await running({
    log: { debug() {}, info() {}, warn() {}, error: (...line) => lines.push(line) },
  });
  const closed = Promise.withResolvers<never>();
  const asked = Promise.withResolvers<void>();
  const list = (): Promise<never> => (asked.resolve(), closed.promise);
  Object.assign(system.sluice.pool("mail"), { list });
  const { id } = await start(system, { purge: true });
  await asked.promise;

  await system.sluice.stop();
  closed.reject(new Error("Database is closed."));

  assert.equal((await ended(system, id)).status, "cancelled");
  assert.deepEqual(lines, []);
});

Deno.test("stop() tells those who read the store before it closes", async () => {
  const told: (boolean | undefined)[] = [];
  const create = (): MemoryStore => {
    const store = new MemoryStore();
    return Object.assign(store, { close: () => void told.push(sluice.stopped.aborted) });
  };
  const sluice = await boot({
    store: { use: "watched" },
    pools: { mail: { handler: () => 1, size: { min: 0, max: 1 }, lanes: [{ name: "a" }] } },
  }, { plugins: { watched: defineStore({ name: "watched", create }) } });

  await sluice.stop();

  assert.deepEqual(told, [true]);
});

Deno.test("An operation that the store fails is logged without a stack", async () => {
  const lines: unknown[] = [];
  await using system = await running({
    log: { debug() {}, info() {}, warn() {}, error: (...line) => lines.push(line) },
  });
  Object.assign(system.sluice.pool("mail"), {
    list: () => Promise.reject(new StoreError(undefined, "The store failed: no disk")),
  });

  const { id } = await run(system, { retry: true });

  const error = "The store failed: no disk";
  assert.deepEqual(lines, [
    ["An operation on jobs failed", { pool: "mail", id, action: "retry", error }],
  ]);
});

Deno.test("POST operations answers 400 for what it cannot do", async () => {
  await using system = await running();
  const errorsOf = async (body: unknown) => {
    const response = await system.send("POST", "/api/pools/mail/operations", body);
    return (await problemOf(response)).errors;
  };

  assert.deepEqual(await errorsOf({}), [
    { pointer: "", detail: "Say what to do: send one of retry, discard and purge as true" },
  ]);
  assert.deepEqual(await errorsOf({ retry: true, purge: true }), [
    { pointer: "", detail: "Say what to do: send one of retry, discard and purge as true" },
  ]);
  assert.deepEqual(await errorsOf({ retry: 1, state: "running", match: "", lnae: "x" }), [
    { pointer: "/retry", detail: "Expected retry to be true but received 1" },
    {
      pointer: "/state",
      detail:
        'No bulk operation takes jobs in state "running": expected one of "delayed", "ready", "blocked", "done", "dead", "cancelled"',
    },
    {
      pointer: "/match",
      detail: 'Expected match to be a text of 1 to 200 characters but received ""',
    },
    { pointer: "/lnae", detail: 'No field is named "lnae": did you mean "lane"?' },
  ]);
  assert.deepEqual(await errorsOf({ retry: true, lane: "urgnt", state: "done" }), [
    { pointer: "/lane", detail: 'No lane is named "urgnt": did you mean "urgent"?' },
    { pointer: "/state", detail: 'No retry takes jobs that are done: expected "dead"' },
  ]);
});

Deno.test("GET /api/operations/:id answers 404 for one that is not known", async () => {
  await using system = await running();

  for (const method of ["GET", "DELETE"]) {
    const response = await system.send(method, "/api/operations/nope");
    assert.equal(response.status, 404);
    assert.equal(
      (await problemOf(response)).detail,
      'No operation has the id "nope": the latest hundred are kept, and none after a restart',
    );
  }
});

Deno.test("An operation is audited when it begins and when it ends", async () => {
  const audits: Extract<PoolEvent, { readonly kind: "audit" }>[] = [];
  await using system = await running();
  await kill(system, ["fault"]);
  system.sluice.observe((event) => void (event.kind === "audit" && audits.push(event)));

  const { id } = await run(system, { retry: true, lane: "urgent" });

  assert.deepEqual(audits.map(({ action, target, after }) => [action, target, after]), [
    ["retry jobs", id, { lane: "urgent", state: undefined, match: undefined, group: undefined }],
    ["retry jobs done", id, { seen: 1, matched: 1, changed: 1 }],
  ]);
});
