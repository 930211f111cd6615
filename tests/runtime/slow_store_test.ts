import assert from "node:assert/strict";
import { start } from "../../mod.ts";
import { pause, type Timer } from "../../src/time/clock.ts";
import type { PoolEvent } from "../../src/contract/event.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { MemoryStore } from "../../stores/memory/mod.ts";
import { defineStore } from "../../src/contract/plugin.ts";
import type { QueueOptions } from "../../src/contract/store.ts";
import { slowStore } from "./_slow_store.ts";
import { configOf } from "../_virtual.ts";

Deno.test("An override that ends while counts are on their way ends with their tick, without a busy loop", async () => {
  const clock = new VirtualClock();
  const sluice = await start({ ...configOf({}), store: slowStore(clock, 40) }, { clock, seed: 1 });
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

/** A clock that sees a busy loop, which on virtual time would never end. */
class WatchfulClock extends VirtualClock {
  #set = 0;

  override at(atMs: number, run: () => void): Timer {
    assert.ok(++this.#set < 1_000, "the pool sets one timer after the other");
    return super.at(atMs, run);
  }
}

Deno.test("A pool waits for a renewal that is late, without a busy loop", async () => {
  const clock = new WatchfulClock();
  const store = slowStore(clock, 2_000); // a renewal is due every 1,000 ms
  const sluice = await start({ ...configOf({ leaseMs: 3_000 }), store }, { clock, seed: 1 });

  await sluice.pool("p").resume(); // asks for a turn while the first one is on its way
  await clock.advance(1_500);
  await sluice.pool("p").resume(); // and for another while the next one would be due
  await clock.advance(10_000);

  assert.equal(sluice.pool("p").snapshot().storeWaitMs, 0);
  const stopping = sluice.stop();
  await clock.advance(10_000);
  await stopping;
});

Deno.test("A pool that a start rate holds back waits for a lease that is late, without a busy loop", async () => {
  const clock = new WatchfulClock();
  const caps = [{ use: "api-rate-cap", with: { callsPerSec: 10, headroom: 0 } }];
  const parts = { caps, size: { min: 4, max: 4 } };
  const store = slowStore(clock, 40);
  const sluice = await start({ ...configOf(parts), store }, { clock, seed: 1 });
  await clock.advance(1_000);

  for (let count = 0; count < 15; count++) {
    void sluice.enqueue("p", { lane: "high", payload: count });
  }
  await clock.advance(3_000);

  assert.equal(sluice.pool("p").snapshot().totals.completions, 15);
  const stopping = sluice.stop();
  await clock.advance(1_000);
  await stopping;
});

Deno.test("A pool that a start rate holds back waits for a store that fails, without a busy loop", async () => {
  const clock = new WatchfulClock();
  let fails = false;
  class FailingStore extends MemoryStore {
    override open(options: QueueOptions): ReturnType<MemoryStore["open"]> {
      const queue = super.open(options);
      const lease = queue.lease.bind(queue);
      queue.lease = (wants, nowMs) => {
        if (fails) throw new Error("disk I/O error");
        return lease(wants, nowMs);
      };
      return queue;
    }
  }
  const caps = [{ use: "api-rate-cap", with: { callsPerSec: 10, headroom: 0 } }];
  const parts = { caps, size: { min: 4, max: 4 } };
  const store = defineStore({ name: "failing", create: () => new FailingStore() });
  const sluice = await start({ ...configOf(parts), store }, { clock, seed: 1 });
  for (let count = 0; count < 15; count++) sluice.pool("p").post({ lane: "low", payload: count });
  await clock.advance(250);
  fails = true;
  await clock.advance(3_000);
  fails = false;
  await clock.advance(10_000);

  assert.equal(sluice.pool("p").snapshot().totals.completions, 15);
  const stopping = sluice.stop();
  await clock.advance(1_000);
  await stopping;
});

Deno.test("A job that is leased while its pool shrinks goes back as not started, and no stop reports it", async () => {
  const clock = new VirtualClock();
  const events: PoolEvent[] = [];
  const parts = { size: { min: 0, max: 4 }, controller: { use: "fixed", with: { workers: 4 } } };
  const store = slowStore(clock, 100);
  const observer = (event: PoolEvent): void => void events.push(event);
  const sluice = await start({ ...configOf(parts), store }, { clock, seed: 1, observer });
  const pool = sluice.pool("p");
  await clock.advance(1_000);

  const adding = pool.enqueue({ lane: "high", payload: 1 });
  await clock.advance(60);
  pool.override({ target: 0 }, 1_000); // planned at 160 ms, with the counts; leased from 100 to 200 ms
  await clock.advance(500);
  await adding;
  const back = events.filter(({ kind }) => kind === "job-handed-back");
  await clock.advance(10_000);
  const stopping = sluice.stop();
  await clock.advance(10_000);
  const report = await stopping;

  assert.deepEqual(back.map((event) => "error" in event && event.error), [undefined]);
  assert.deepEqual(report, { handedBack: [], stuck: [], unstored: 0, waiting: 0 });
});

Deno.test("A pool whose lanes a reload moves while counts are on their way takes no lane's counts for another's", async () => {
  const clock = new VirtualClock();
  const store = slowStore(clock, 40, { countsLate: true });
  const lanes = [{ name: "top" }, { name: "held", paused: true }, { name: "low" }];
  const parts = { size: { min: 1, max: 1 }, tickMs: 50, handler: () => pause(clock, 10) };
  const sluice = await start({ ...configOf({ ...parts, lanes }), store }, { clock, seed: 1 });
  const pool = sluice.pool("p");
  const held = [1, 2, 3].map((payload) => ({ lane: "held", payload }));
  const work = Array.from({ length: 300 }, (_, payload) => ({ lane: "low", payload }));
  const added = pool.enqueueAll([...held, ...work]); // there is work to steer: it ticks
  await clock.advance(1_000);
  await added;

  for (const offsetMs of [0, 7, 14, 21, 28, 35, 42]) {
    for (const moved of [lanes.slice(1), lanes, lanes.toReversed()]) {
      const reload = sluice.reload({ ...configOf({ ...parts, lanes: moved }), store });
      let isOver = false;
      reload.finally(() => isOver = true);
      while (!isOver) await clock.advance(1);
      await reload;
      const [during] = pool.snapshot().lanes.filter(({ name }) => name === "held");
      await clock.advance(offsetMs);
      const [after] = pool.snapshot().lanes.filter(({ name }) => name === "held");
      assert.deepEqual([during?.ready, after?.ready], [3, 3]);
    }
  }

  const stopping = sluice.stop();
  await clock.advance(5_000);
  await stopping;
});

Deno.test("A job that expires while its lease is on its way is dead with no attempt, and never starts", async () => {
  const clock = new VirtualClock();
  const events: PoolEvent[] = [];
  const ran: unknown[] = [];
  const handler = ({ payload }: { readonly payload: unknown }): void => void ran.push(payload);
  const store = slowStore(clock, 40);
  const observer = (event: PoolEvent): void => void events.push(event);
  const parts = { handler, size: { min: 2, max: 2 } };
  const sluice = await start({ ...configOf(parts), store }, { clock, seed: 1, observer });
  const pool = sluice.pool("p");
  await clock.advance(1_000);

  const adding = pool.enqueueAll([
    { lane: "high", payload: "soon over", ttlMs: 60 }, // leased from 40 to 80 ms
    { lane: "high", payload: "long", ttlMs: 10_000 },
  ]);
  await clock.advance(1_000);
  const [job] = await adding;
  assert.ok(job !== undefined && !(job instanceof Error));
  const finding = pool.find(job.id);
  await clock.advance(1_000);
  const found = await finding;

  assert.deepEqual(ran, ["long"]);
  assert.deepEqual([found?.state, found?.reason, found?.attempt], ["dead", "expired", 0]);
  const dead = events.filter((event) => event.kind === "job-dead");
  assert.deepEqual(dead.map(({ reason, serviceMs }) => [reason, serviceMs]), [[
    "expired",
    undefined,
  ]]);
  const [lane] = pool.tally();
  assert.deepEqual([lane?.dead.expired, lane?.dead.late, lane?.shed], [1, 0, 0]);
  const stopping = sluice.stop();
  await clock.advance(1_000);
  await stopping;
});
