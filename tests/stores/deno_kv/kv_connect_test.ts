import assert from "node:assert/strict";
import { checkStore } from "../../../src/testing/store.ts";
import { startServer, TOKEN } from "../../_kvconnect/server.ts";
import { openStore } from "./_store.ts";

/** The same with another seed: one is enough here. */
const REPEATED = /\(seed [^1]\)$/;

Deno.test("denoKv does what pools need, over KV Connect with 10 checks a commit", async (context) => {
  Deno.env.set("DENO_KV_ACCESS_TOKEN", TOKEN);
  const make = async (): ReturnType<typeof openStore> => {
    const server = startServer({ maxChecks: 10 });
    const store = await openStore({ url: server.url });
    const close = store.close.bind(store);
    store.close = async () => {
      await close();
      await server[Symbol.asyncDispose]();
    };
    return store;
  };
  await checkStore(make, {
    test: (name, check) => REPEATED.test(name) ? undefined : context.step(name, check),
  });
});

Deno.test("a read goes before a large commit over KV Connect, so that the client does not hold it back", async () => {
  Deno.env.set("DENO_KV_ACCESS_TOKEN", TOKEN);
  await using server = startServer();
  const store = await openStore({ url: server.url });
  const readsOf = async (value: string): Promise<number> => {
    const before = server.requests.snapshot_read;
    assert.ok(await store.commit({}, { key: value }));
    return server.requests.snapshot_read - before;
  };
  try {
    assert.deepEqual([await readsOf("small"), await readsOf("x".repeat(2000))], [0, 1]);
  } finally {
    await store.close();
  }
});
