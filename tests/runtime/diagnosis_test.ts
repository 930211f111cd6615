import assert from "node:assert/strict";
import { withPool } from "../_virtual.ts";

Deno.test("diagnosis() of a pool that has come to rest is over after a minute", async () => {
  const hanging = Promise.withResolvers<void>();
  const handler = (job: { payload: unknown }): Promise<void> | void => {
    if (job.payload === "hang") return hanging.promise;
  };
  const lanes = [{ name: "high", attempts: 1, targetWaitMs: 50 }];
  await withPool({ handler, lanes, size: { min: 1, max: 1 } }, async ({ pool, clock }) => {
    for (let n = 0; n < 3; n++) await pool.enqueue({ lane: "high", payload: "hang" });
    await clock.advance(180_000);
    const before = pool.diagnosis().map(({ code }) => code);
    hanging.resolve();

    await clock.advance(20_000);
    const soon = pool.diagnosis().map(({ code }) => code);
    await clock.advance(20_000);
    const later = pool.diagnosis();
    await clock.advance(1_000);
    const job = await pool.enqueue({ lane: "high", payload: "quick" });
    await clock.advance(5_000);

    assert.deepEqual(before, ["stalled", "at-capacity"]);
    assert.deepEqual(soon, before);
    assert.deepEqual(later, []);
    assert.equal((await job.done).state, "done");
    assert.deepEqual(pool.diagnosis(), []);
  });
});
