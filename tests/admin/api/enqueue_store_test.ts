import assert from "node:assert/strict";
import { start } from "../../../mod.ts";
import { MemoryStore } from "../../../stores/memory/mod.ts";
import { admin } from "../../../src/admin/mod.ts";
import { connect } from "../../../src/client/mod.ts";
import { StoreError } from "../../../src/contract/errors.ts";
import { defineStore, type Plugin } from "../../../src/contract/plugin.ts";
import type { QueueOptions } from "../../../src/contract/store.ts";
import { VirtualClock } from "../../../src/time/virtual_clock.ts";
import { still } from "../../client/_server.ts";
import { problemOf } from "../_app.ts";

/** A store that fails as Deno KV does: with a `TypeError`, this many times. */
function failing(times: number): Plugin<"store"> {
  let left = times;

  class FailingStore extends MemoryStore {
    override open(options: QueueOptions): ReturnType<MemoryStore["open"]> {
      const queue = super.open(options);
      const add = queue.add.bind(queue);
      const broken = (...args: Parameters<typeof add>): unknown =>
        left-- > 0 ? Promise.reject(new TypeError("database is locked")) : add(...args);
      return Object.assign(queue, { add: broken });
    }
  }

  return defineStore({ name: "failing", create: () => new FailingStore() });
}

async function runningOn(
  store: Plugin<"store">,
  clock = new VirtualClock(),
): Promise<Awaited<ReturnType<typeof start>>> {
  return await start({
    store,
    pools: {
      mail: { handler: () => "sent", size: { min: 1, max: 1 }, lanes: [{ name: "all" }] },
    },
  }, { clock });
}

for (
  const [what, body] of [
    ["a job", { lane: "all", payload: 1 }],
    ["many", [{ lane: "all", payload: 1 }, { lane: "all", payload: 2 }]],
  ] as const
) {
  Deno.test(`POST jobs answers 503 and when to come back, when the store does not take ${what}`, async () => {
    await using sluice = await runningOn(failing(Infinity));

    const response = await admin(sluice).request("/api/pools/mail/jobs", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });

    assert.equal(response.status, 503);
    assert.equal(response.headers.get("retry-after"), "1");
    assert.equal(
      (await problemOf(response)).detail,
      "The job could not be stored: database is locked; send it again",
    );
  });
}

Deno.test("POST jobs answers every request 503, when the store does not take what came together", async () => {
  await using sluice = await runningOn(failing(1));
  const app = admin(sluice);

  const responses = await Promise.all([1, 2].map((payload) =>
    app.request("/api/pools/mail/jobs", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ lane: "all", payload }),
    })
  ));

  assert.deepEqual(responses.map(({ status }) => status), [503, 503]);
});

Deno.test("connect() sends a job again, when the store did not take it", async () => {
  await using sluice = await runningOn(failing(2));
  const app = admin(sluice);
  const client = connect("http://127.0.0.1", {
    ...still().options,
    fetch: async (url, init) => await app.request(url, init),
  });

  const { id } = await client.enqueue("mail", { lane: "all", payload: 1 });

  assert.equal((await sluice.pool("mail").find(id))?.payload, 1);
});

Deno.test("PoolHandle enqueue() throws no TypeError, when the store throws one", async () => {
  await using sluice = await runningOn(failing(Infinity));

  await assert.rejects(
    sluice.pool("mail").enqueue({ lane: "all", payload: 1 }),
    (error) =>
      error instanceof Error && !(error instanceof TypeError) && error.name === "StoreError",
  );
});

for (const [what, payloads] of [["a job", [1]], ["many", [1, 2]]] as const) {
  Deno.test(`GET /readyz answers 503 for ten seconds, when the store did not take ${what}`, async () => {
    const clock = new VirtualClock();
    await using sluice = await runningOn(failing(1), clock);
    const app = admin(sluice);
    const look = async () => await (await app.request("/readyz")).json();
    await clock.advance(100);

    const jobs = payloads.map((payload) => ({ lane: "all", payload }));
    const adding = jobs.length > 1
      ? sluice.pool("mail").enqueueAll(jobs)
      : sluice.enqueue("mail", jobs[0]!);
    await assert.rejects(adding);
    const after = await look();
    await clock.advance(9_999);
    const late = await look();
    await clock.advance(1);
    const over = await look();

    const refusal = {
      ready: false,
      reasons: ['Pool "mail" has a store that failed to store the latest job'],
    };
    assert.deepEqual([after, late, over], [refusal, refusal, { ready: true }]);
  });
}

Deno.test("GET /readyz answers 200, once the store has taken a job again", async () => {
  const clock = new VirtualClock();
  await using sluice = await runningOn(failing(1), clock);
  const app = admin(sluice);
  await clock.advance(100);

  await assert.rejects(sluice.enqueue("mail", { lane: "all", payload: 1 }));
  const before = (await app.request("/readyz")).status;
  await sluice.enqueue("mail", { lane: "all", payload: 2 });

  assert.deepEqual([before, (await app.request("/readyz")).status], [503, 200]);
});

Deno.test("POST jobs answers each of many, when the store took some and then failed", async () => {
  class FailingStore extends MemoryStore {
    override open(options: QueueOptions): ReturnType<MemoryStore["open"]> {
      const queue = super.open(options);
      const add = queue.add.bind(queue);
      const error = new StoreError(new TypeError("database is locked"));
      const broken = async (...[entries, nowMs]: Parameters<typeof add>) => [
        ...await add(entries.slice(1), nowMs),
        { id: "", duplicate: false, error },
      ];
      return Object.assign(queue, { add: broken });
    }
  }
  await using sluice = await runningOn(
    defineStore({ name: "failing", create: () => new FailingStore() }),
  );
  const jobs = [{ lane: "all", payload: 1 }, { lane: "all", payload: 2 }] as const;

  const response = await admin(sluice).request("/api/pools/mail/jobs", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(jobs),
  });

  assert.equal(response.status, 200);
  const { results } = await response.json();
  assert.equal(typeof results[0].id, "string");
  assert.deepEqual(results[1], {
    error: "The job could not be stored: database is locked; send it again",
    retryAfterMs: 1000,
  });
  assert.notEqual(sluice.pool("mail").snapshot().storeRefusedAtMs, undefined);
  const [stored, failed] = await sluice.pool("mail").enqueueAll(jobs);
  assert.ok(!(stored instanceof Error) && failed instanceof StoreError);
});
