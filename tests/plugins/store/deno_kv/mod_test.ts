import { checkStore } from "../../../../src/conformance/store.ts";
import { denoKv, type DenoKvOptions } from "../../../../plugins/store/deno_kv/mod.ts";
import { bind } from "../../../../src/plugin.ts";
import { randomStream } from "../../../../src/random.ts";
import type { Store } from "../../../../src/store.ts";
import assert from "node:assert/strict";
import { silentLogger } from "../../../../src/log.ts";

async function openStore(options: DenoKvOptions): Promise<Store> {
  const binding = bind(denoKv, options);
  assert.ok(binding.ok);
  return await binding.bound.create({
    pool: "",
    lanes: [],
    size: { min: 0, max: 0 },
    random: randomStream(1),
    log: silentLogger(),
  });
}

Deno.test("denoKv does what pools need, in memory", async (context) => {
  await checkStore(() => openStore({ path: ":memory:" }), {
    test: (name, check) => context.step(name, check),
  });
});

Deno.test("denoKv does what pools need, on a file", async (context) => {
  const folder = await Deno.makeTempDir();
  let files = 0;
  await checkStore(() => openStore({ path: `${folder}/${files++}/queue.db` }), {
    test: (name, check) => context.step(name, check),
  });
  await Deno.remove(folder, { recursive: true });
});
