import { start, use } from "@sluice/sluice";
import { checkLanePolicy, makeStrategy, makeView } from "@sluice/sluice/testing";
import assert from "node:assert/strict";
import { nearestTarget } from "./nearest_target.ts";

Deno.test("nearestTarget keeps the rules of lane policies", () => {
  checkLanePolicy(nearestTarget);
});

Deno.test("nearestTarget serves the lane that has used most of its target", () => {
  const policy = makeStrategy(nearestTarget);
  const view = makeView({
    lanes: [
      { name: "urgent", targetWaitMs: 100, oldestWaitMs: 20, ready: 1 },
      { name: "batch", targetWaitMs: 1000, oldestWaitMs: 500, ready: 1 },
      { name: "whenever", targetWaitMs: null, oldestWaitMs: 60_000, ready: 1 },
    ],
  });

  assert.equal(policy(view, view.lanes)?.name, "batch");
  assert.equal(policy(view, [view.lanes[2]!])?.name, "whenever");
});

Deno.test("nearestTarget works in a pool", async () => {
  await using sluice = await start({
    pools: {
      p: {
        handler: ({ lane }) => lane,
        size: { min: 1, max: 1 },
        lanes: [{ name: "urgent", targetWaitMs: 50 }, { name: "batch", targetWaitMs: 5000 }],
        lanePolicy: use(nearestTarget),
      },
    },
  });

  const job = await sluice.enqueue("p", { lane: "batch", payload: null });

  assert.deepEqual(await job.done, { state: "done", result: "batch" });
});
