import { checkStore } from "../../../src/testing/store.ts";
import { MemoryStore } from "../../../stores/memory/mod.ts";

Deno.test("MemoryStore does what pools need", async (context) => {
  await checkStore(() => new MemoryStore(), { test: (name, check) => context.step(name, check) });
});
