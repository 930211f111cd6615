import assert from "node:assert/strict";
import { start } from "../../mod.ts";
import { MemoryStore } from "../../plugins/store/memory/mod.ts";
import { admin } from "../../src/admin/mod.ts";
import { connect } from "../../src/client.ts";
import { defineStore, type Plugin } from "../../src/plugin.ts";
import type { QueueOptions } from "../../src/store.ts";
import { VirtualClock } from "../../src/virtual_clock.ts";
import { still } from "../client/_server.ts";
import { problemOf } from "./_app.ts";

/** A store that fails as Deno KV does: with a `TypeError`, so many times. */
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

async function runningOn(store: Plugin<"store">): Promise<Awaited<ReturnType<typeof start>>> {
  return await start({
    store,
    pools: {
      mail: { handler: () => "sent", size: { min: 1, max: 1 }, lanes: [{ name: "all" }] },
    },
  }, { clock: new VirtualClock() });
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
