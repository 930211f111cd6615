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

Deno.test("the sum of the logarithms holds over more run times than their product could", async () => {
  const runsMs = Array.from({ length: 600 }, (_, index) => [0, 7, 5_000][index % 3]!);
  const clock = new VirtualClock();
  let next = 0;
  const handler = (): Promise<void> =>
    new Promise((resolve) => clock.at(clock.nowMs() + runsMs[next++]!, resolve));
  await withPool(
    { handler, size: { min: 1, max: 1 } },
    async ({ pool }) => {
      for (const _ of runsMs) pool.post({ lane: "high", payload: 0 });
      await clock.advance(5_000 * 250);

      const { timed, timedLog } = pool.snapshot().lanes[0]!;
      const sum = 200 * (Math.log(0.01) + Math.log(7) + Math.log(5_000));
      assert.equal(timed, 600);
      assert.ok(Math.abs(timedLog - sum) < 1e-9, `${timedLog}, not ${sum}`);
    },
    { clock },
  );
});
