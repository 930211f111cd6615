import assert from "node:assert/strict";
import { type ConfigInput, start } from "../../../mod.ts";
import { denoKv } from "../../../stores/deno_kv/mod.ts";
import type { Sluice } from "../../../src/runtime/handles.ts";
import { withFolder } from "../../stores/deno_kv/_store.ts";

const JOB = { lane: "urgent", payload: { order: 17 } };

function configOn(folder: string): ConfigInput {
  return {
    admin: { port: 0 },
    store: { use: denoKv, with: { path: `${folder}/queue.db` } },
    pools: {
      mail: { handler: () => "sent", size: { min: 1, max: 2 }, lanes: [{ name: "urgent" }] },
    },
  };
}

async function post(sluice: Sluice, body: unknown, query = ""): Promise<[number, unknown]> {
  const response = await fetch(`${sluice.adminUrl}/api/pools/mail/jobs${query}`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": "order-17" },
    body: JSON.stringify(body),
  });
  const { id, duplicateOf, outcome } = await response.json();
  return [response.status, { id, duplicateOf, outcome }];
}

Deno.test("Idempotency-Key holds in a durable store: after the end, in another process, and after a restart", async () => {
  await withFolder(async (folder) => {
    const outcome = { state: "done", result: "sent" };
    const first = await start(configOn(folder));
    let id: unknown;
    try {
      const [status, answer] = await post(first, JOB, "?waitMs=30000");
      id = (answer as { id: string }).id;
      assert.deepEqual([status, answer], [200, { id, duplicateOf: undefined, outcome }]);
      await using beside = await start(configOn(folder)); // a second process, as the store sees it

      assert.deepEqual(await post(beside, JOB, "?waitMs=30000"), [
        200,
        { id, duplicateOf: id, outcome },
      ]);
      assert.equal((await post(beside, { ...JOB, payload: 2 }))[0], 422);
    } finally {
      await first.stop();
    }

    await using again = await start(configOn(folder));
    assert.deepEqual(await post(again, JOB), [200, { id, duplicateOf: id, outcome: undefined }]);
    assert.equal((await post(again, { ...JOB, payload: 2 }))[0], 422);
  });
});
