/** Dedupe modes of both stores over random schedules. */

import fc from "fast-check";
import { MemoryStore } from "../../stores/memory/mod.ts";
import { playDedupe } from "../../src/testing/_store_dedupe_random.ts";
import { withStore } from "./deno_kv/_store.ts";

Deno.test("MemoryStore holds dedupe modes over random schedules", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), (seed) => playDedupe(new MemoryStore(), seed, 300)),
    { numRuns: 150 },
  );
});

Deno.test("denoKv holds dedupe modes over random schedules", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), (seed) => withStore((store) => playDedupe(store, seed, 200))),
    { numRuns: 8 },
  );
});
