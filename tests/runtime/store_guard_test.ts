import assert from "node:assert/strict";
import { start } from "../../mod.ts";
import { MemoryStore } from "../../plugins/store/memory/mod.ts";
import { defineStore } from "../../src/plugin.ts";
import type { QueueOptions } from "../../src/store.ts";
import { VirtualClock } from "../../src/virtual_clock.ts";
import { config } from "./_reload.ts";

Deno.test("a pool is stale no longer than until the store works, though what failed is not wanted again", async () => {
  const clock = new VirtualClock();
  let fails = false;
  class FaultyStore extends MemoryStore {
    override open(options: QueueOptions): ReturnType<MemoryStore["open"]> {
      const queue = super.open(options);
      const lease = queue.lease.bind(queue);
      queue.lease = (...given) => {
        if (fails) throw new Error("disk I/O error");
        return lease(...given);
      };
      return queue;
    }
  }
  const store = defineStore({ name: "faulty", create: () => new FaultyStore() });
  const sluice = await start({ ...config({}), store }, { clock, seed: 1 });
  const pool = sluice.pool("p");
  const lane = pool.snapshot().lanes[0]!.name;
  await clock.advance(100);

  fails = true;
  const [job] = await Promise.all([pool.enqueue({ lane, payload: null }), clock.advance(200)]);
  assert.ok(pool.snapshot().stale);
  fails = false;
  await pool.change(job.id, "cancel"); // nothing is left to lease
  await clock.advance(1_000);

  assert.equal(pool.snapshot().stale, false);
  const stopping = sluice.stop();
  await clock.advance(1_000);
  await stopping;
});
