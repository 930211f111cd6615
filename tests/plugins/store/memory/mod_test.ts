import { checkStore } from "../../../../src/conformance/store.ts";
import { MemoryStore } from "../../../../plugins/store/memory/mod.ts";

Deno.test("MemoryStore does what pools need", async (context) => {
  await checkStore(() => new MemoryStore(), { test: (name, check) => context.step(name, check) });
});
