import assert from "node:assert/strict";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { sleeper, withPool } from "../_virtual.ts";

/** What a slice answers, and when, while the clock moves on. */
async function sliceOf(
  virtual: Parameters<Parameters<typeof withPool>[1]>[0],
  forMs: number,
): Promise<{ readonly left: number; readonly afterMs: number }> {
  const { clock, sluice } = virtual;
  const beganAtMs = clock.nowMs();
  const slice = sluice.slice(forMs).then(({ left }) => ({
    left,
    afterMs: clock.nowMs() - beganAtMs,
  }));
  await clock.advance(60_000);
  return await slice;
}

Deno.test("slice() ends at once where there is nothing to do", async () => {
  await withPool({}, async (virtual) => {
    assert.deepEqual(await sliceOf(virtual, 20_000), { left: 0, afterMs: 0 });
  });
});

Deno.test("slice() ends when the jobs have ended, those soon due among them", async () => {
  const clock = new VirtualClock();
  await withPool({ handler: sleeper(() => clock) }, async (virtual) => {
    await virtual.sluice.enqueue("p", { lane: "high", payload: 700 });
    await virtual.sluice.enqueue("p", { lane: "low", payload: 100, delayMs: 3000 });
    await virtual.sluice.enqueue("p", { lane: "low", payload: 100, delayMs: 50_000 });

    const { left, afterMs } = await sliceOf(virtual, 20_000);

    assert.equal(left, 0);
    assert.ok(afterMs >= 3100 && afterMs <= 3200, `${afterMs} ms`);
  }, { clock });
});

Deno.test("slice() ends when its time is up, and tells how many jobs are left", async () => {
  const clock = new VirtualClock();
  const handler = sleeper(() => clock);
  await withPool({ handler, size: { min: 1, max: 1 } }, async (virtual) => {
    for (let n = 0; n < 4; n++) await virtual.sluice.enqueue("p", { lane: "low", payload: 900 });

    assert.deepEqual(await sliceOf(virtual, 1000), { left: 3, afterMs: 1000 });
  }, { clock });
});

Deno.test("slice() leaves a paused lane alone", async () => {
  await withPool({}, async (virtual) => {
    await virtual.pool.pause("low");
    await virtual.sluice.enqueue("p", { lane: "low", payload: 1 });
    await virtual.sluice.enqueue("p", { lane: "low", payload: 1, delayMs: 100 });

    assert.deepEqual(await sliceOf(virtual, 20_000), { left: 0, afterMs: 0 });
  });
});

Deno.test("slice() ends when the pools stop", async () => {
  const clock = new VirtualClock();
  const handler = sleeper(() => clock);
  await withPool({ handler, drainMs: 500 }, async (virtual) => {
    await virtual.sluice.enqueue("p", { lane: "low", payload: 50_000 });
    const stopped = virtual.sluice.stop();

    const { afterMs } = await sliceOf(virtual, 20_000);

    assert.equal(afterMs, 0);
    assert.equal((await stopped).handedBack.length, 1);
  }, { clock });
});
