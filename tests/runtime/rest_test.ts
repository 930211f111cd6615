import assert from "node:assert/strict";
import { sleeper, withPool } from "../_virtual.ts";
import { VirtualClock } from "../../src/virtual_clock.ts";

Deno.test("A pool that rested reckons a burst at once, as one that ticked on would", async () => {
  const clock = new VirtualClock();
  const handler = sleeper(() => clock, 5_000);
  await withPool({ handler, size: { min: 1, max: 1 } }, async ({ pool, sluice }) => {
    await clock.advance(300_000);
    for (let index = 0; index < 100; index++) sluice.post("p", { lane: "high", payload: null });
    await clock.advance(60);

    const [high, low] = pool.snapshot().lanes;

    assert.ok(Math.abs(high!.arrivalsPerSec - 97.5) < 1, `${high!.arrivalsPerSec}`); // not 100 in 300 s
    assert.equal(low!.arrivalsPerSec, 0);
  }, { clock });
});
