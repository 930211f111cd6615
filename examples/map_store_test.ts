import { start, use } from "@sluice/sluice";
import { checkStore } from "@sluice/sluice/testing";
import assert from "node:assert/strict";
import { mapStore } from "./map_store.ts";

Deno.test("mapStore does what pools need", async (context) => {
  await checkStore(mapStore, { test: (name, check) => context.step(name, check) });
});

Deno.test("mapStore runs the jobs of a pool", async () => {
  await using sluice = await start({
    store: use(mapStore),
    pools: {
      p: {
        handler: ({ payload }) => Number(payload) + 1,
        size: { min: 1, max: 4 },
        lanes: [{ name: "a" }],
      },
    },
  });

  const job = await sluice.enqueue("p", { lane: "a", payload: 41 });

  assert.deepEqual(await job.done, { state: "done", result: 42 });
});
