import assert from "node:assert/strict";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { sleeper, withPool } from "../_virtual.ts";

Deno.test("LaneView sums run times and their logarithms, of a run time of nothing too", async () => {
  const clock = new VirtualClock();
  await withPool({ handler: sleeper(() => clock) }, async ({ pool }) => {
    await pool.enqueueAll([20, 50, 0].map((payload) => ({ lane: "high", payload })));
    await clock.advance(1000);

    const { timed, timedMs, timedLog } = pool.snapshot().lanes[0]!;
    assert.deepEqual([timed, timedMs], [3, 70]);
    assert.ok(Math.abs(timedLog - Math.log(20 * 50 * 0.01)) < 1e-9, `${timedLog}`);
  }, { clock });
});
