/**
 * One config sets every key of the schema, and runs: on each store, with jobs in every lane.
 *
 * @module
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { start } from "../mod.ts";
import { builtins } from "../plugins/mod.ts";
import { configSchema } from "../src/config/schema.ts";
import type { Sluice } from "../src/runtime/handles.ts";
import { everyKey, keysIn, keysOf, MODULES, type Schema, variables } from "./_every_key.ts";
import { startServer, TOKEN } from "./_kvconnect/server.ts";
import { temporaryFolder } from "./cli/_io.ts";

const SCHEMA = configSchema(builtins) as Schema; // draft-07

/** Stores by name, each with its address where it has one. */
const STORES: Readonly<Record<string, (folder: string, url: string) => unknown>> = {
  "memory": () => "memory",
  "memory with options": () => ({ use: "memory", with: {} }),
  "a module": () => "./store.ts",
  "a module with options": () => ({ use: "./store.ts", with: {} }),
  "deno-kv on a file": () => ({
    use: "deno-kv",
    with: { path: { env: "KV_PATH" }, maxChecks: 50, pollMs: 100 },
  }),
  "deno-kv over KV Connect": (_, url) => ({ use: "deno-kv", with: { url, maxChecks: 10 } }),
};

/** Keys that no test can start, each with why. */
const EXCEPT = [
  "cap=api-rate-cap", // it wants a rate, one of two keys
  "store=deno-kv", // its name alone is for Deno Deploy
];

/** A receiver that takes everything, on loopback. */
function receiver(): AsyncDisposable & { readonly url: string } {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      await request.body?.cancel();
      return new Response();
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Gives each lane a job of each type; what does not end done, or is not taken, throws. */
async function useAll(sluice: Sluice, url: string): Promise<void> {
  for (const pool of sluice.pools) {
    for (const { name: lane, paused } of pool.settings.lanes) {
      if (paused) await pool.resume(lane);
      for (const type of pool.settings.handlers.keys()) {
        const job = await pool.enqueue({
          lane,
          payload: { ms: 1, url, method: "PATCH", tenant: "acme", order: 17 },
          ...(type === "" ? {} : { type }),
        });
        const { state } = await job.done;
        assert.equal(state, "done", `${pool.name} ${lane} ${type}`);
      }
    }
  }
}

for (const [name, storeOf] of Object.entries(STORES)) {
  Deno.test(`A config that sets every key starts, takes jobs and stops: ${name}`, async () => {
    await using folder = await temporaryFolder();
    await using hook = receiver();
    await using kv = startServer({});
    Deno.env.set("DENO_KV_ACCESS_TOKEN", TOKEN);
    const env = { ...variables(hook.url), KV_PATH: "data/queue.db" };
    for (const [file, text] of Object.entries(MODULES)) {
      await Deno.writeTextFile(join(folder.path, file), text);
    }
    const file = join(folder.path, "pools.json");
    const config = everyKey({ store: storeOf(folder.path, kv.url), url: hook.url });
    await Deno.writeTextFile(file, JSON.stringify(config));

    await using sluice = await start(file, {
      env: (name) => new Map(Object.entries(env)).get(name),
    });
    await useAll(sluice, hook.url);
    const report = await sluice.stop();

    assert.deepEqual(report, { handedBack: [], stuck: [], unstored: 0, waiting: 0 });
  });
}

Deno.test("The configs of these tests set every key of the schema between them", () => {
  const configs = Object.values(STORES).map((storeOf) =>
    everyKey({ store: storeOf("", "http://127.0.0.1"), url: "http://127.0.0.1" })
  );

  const known = keysOf(SCHEMA);
  const unset = known.difference(keysIn(SCHEMA, configs));

  assert.ok(known.size > 150, `${known.size}`);
  assert.deepEqual([...unset].sort(), EXCEPT);
});

Deno.test("keysIn() misses what a config leaves out", () => {
  const { pools, ...rest } = everyKey({ store: "memory", url: "http://127.0.0.1" }) as {
    readonly pools: Readonly<Record<string, object>>; // as everyKey wrote it
  };
  const { little: _, ...others } = pools;

  const known = keysIn(SCHEMA, [{ ...rest, pools }]);
  const left = keysIn(SCHEMA, [{ ...rest, pools: others }]);

  const lost = [...known.difference(left)];
  assert.ok(lost.some((key) => key.endsWith("[littles-law].with.beta")), lost.join(" "));
});
