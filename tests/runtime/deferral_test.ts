import assert from "node:assert/strict";
import { RetryLater } from "../../mod.ts";
import { withPool } from "../_virtual.ts";

// E8
for (const ms of [1, 1000, 7_200_000]) {
  Deno.test(`A RetryLater of ${ms} ms is never cut short, and stretched by little`, async () => {
    const due: number[] = [];
    const handler = (): never => {
      throw new RetryLater(ms);
    };
    const lanes = [{ name: "high", backoff: { jitter: 1 } }, { name: "low" }];
    await withPool({ handler, lanes }, async ({ pool, clock, events }) => {
      for (let count = 0; count < 50; count++) pool.post({ lane: "high", payload: 0 });
      await clock.advance(0);
      for (const event of events) {
        if (event.kind === "job-deferred" && due.length < 50) due.push(event.retryInMs);
      }

      assert.equal(due.length, 50);
      assert.ok(Math.min(...due) >= ms);
      assert.ok(Math.max(...due) <= ms + Math.min(ms / 5, 10_000));
      assert.ok(ms < 1000 || new Set(due).size > 40, "jobs that are put off together spread");
    });
  });
}
