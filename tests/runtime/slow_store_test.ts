import assert from "node:assert/strict";
import { start } from "../../mod.ts";
import { VirtualClock } from "../../src/virtual_clock.ts";
import { config } from "./_reload.ts";
import { slowStore } from "./_slow_store.ts";

Deno.test("An override that ends while counts are on their way ends with their tick, without a busy loop", async () => {
  const clock = new VirtualClock();
  const sluice = await start({ ...config({}), store: slowStore(clock, 40) }, { clock, seed: 1 });
  const pool = sluice.pool("p");
  await clock.advance(1_000);

  pool.override({ target: 3 }, 30); // the plan it asks for waits 40 ms for the counts
  await clock.advance(32);
  await pool.resume(); // asks for a turn, which finds the override over
  await clock.advance(5);
  const during = pool.snapshot().override;
  await clock.advance(1_000);

  assert.notEqual(during, undefined);
  assert.equal(pool.snapshot().override, undefined);
  const stopping = sluice.stop();
  await clock.advance(1_000);
  await stopping;
});
