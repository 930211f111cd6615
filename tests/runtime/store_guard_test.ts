import assert from "node:assert/strict";
import { start } from "../../mod.ts";
import { MemoryStore } from "../../stores/memory/mod.ts";
import { StoreError } from "../../src/contract/errors.ts";
import { defineStore } from "../../src/contract/plugin.ts";
import type { Job } from "../../src/contract/job.ts";
import type { QueueOptions } from "../../src/contract/store.ts";
import type { PoolEvent } from "../../src/contract/event.ts";
import type { PoolHandle, StopReport } from "../../src/runtime/handles.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { FaultyStore } from "../cases/_bench.ts";
import { configOf } from "../_virtual.ts";

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
  const sluice = await start({ ...configOf({}), store }, { clock, seed: 1 });
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

/** A pool on a store whose calls of some kinds fail. */
async function withFaults(
  test: (parts: {
    readonly store: FaultyStore;
    readonly pool: PoolHandle;
    readonly clock: VirtualClock;
    readonly events: PoolEvent[];
    readonly stop: () => Promise<StopReport>;
  }) => Promise<void>,
): Promise<void> {
  const clock = new VirtualClock();
  const store = new FaultyStore();
  const events: PoolEvent[] = [];
  const observer = (event: PoolEvent): void => void events.push(event);
  const bound = defineStore({ name: "faulty", create: () => store });
  const sluice = await start({ ...configOf({}), store: bound }, { clock, seed: 1, observer });
  const stop = async (): Promise<StopReport> => {
    const stopping = sluice.stop();
    await clock.advance(60_000);
    return await stopping;
  };
  try {
    await test({ store, pool: sluice.pool("p"), clock, events, stop });
  } finally {
    store.fault = () => undefined;
    await stop();
  }
}

for (const how of ["throw", "reject"] as const) {
  Deno.test(`one job that is stored after an outage ends all pauses: jobs end and start at once (${how})`, async () => {
    await withFaults(async ({ store, pool, clock, events }) => {
      await pool.enqueue({ lane: "high", payload: 1 });
      store.fault = (call) => call === "add" ? undefined : how;
      await clock.advance(60_000);
      assert.equal(pool.snapshot().stale, true);
      store.fault = () => undefined;

      await pool.enqueue({ lane: "high", payload: 2 });
      await clock.settle();
      await clock.advance(1);

      assert.equal(events.filter(({ kind }) => kind === "job-done").length, 2);
      await clock.advance(1_000); // the next tick counts
      assert.equal(pool.snapshot().stale, false);
    });
  });
}

Deno.test("a kind of call that fails by itself is not tried at each job that is stored", async () => {
  await withFaults(async ({ store, pool, clock }) => {
    store.fault = (call) => call === "lease" ? "throw" : undefined;
    for (let job = 0; job < 500; job++) {
      await pool.enqueue({ lane: "high", payload: job });
      await clock.advance(10);
    }

    const failed = store.calls.filter((call) => call.failed).length;
    assert.ok(failed < 15, `${failed} calls`);
  });
});

Deno.test("ends that the store refuses are told of again and again, and by the stop", async () => {
  await withFaults(async ({ store, pool, clock, events, stop }) => {
    store.fault = (call) => call === "settle" ? "reject" : undefined;
    await pool.enqueue({ lane: "high", payload: 1 });
    await clock.advance(60_000);

    const told = events.flatMap((event) => event.kind === "store-failing" ? [event] : []);
    assert.deepEqual(
      told.map(({ call, failures, error }) => [call, failures, error]),
      [["settle", 5, "settle failed"], ["settle", 10, "settle failed"]],
    );
    assert.equal((await stop()).unstored, 1);
  });
});

Deno.test("post() tells the observers of a job that the store does not take", async () => {
  for (const how of ["throw", "reject"] as const) {
    await withFaults(async ({ store, pool, clock, events }) => {
      store.fault = (call) => call === "add" ? how : undefined;

      pool.post({ lane: "low", payload: 1 });
      await clock.settle();

      const told = events.flatMap((event) => event.kind === "job-unstored" ? [event] : []);
      assert.deepEqual(
        told.map(({ lane, error }) => [lane, error]),
        [["low", "The job could not be stored: add failed"]],
      );
    });
  }
});

Deno.test("post() tells the observers of a job that the store gives no answer for, at once or later", async () => {
  const answers = [[], undefined, [{ id: "", duplicate: false, error: new StoreError("full") }]];
  for (const answer of answers.flatMap((answer) => [answer, Promise.resolve(answer)])) {
    class NonsenseStore extends MemoryStore {
      override open(options: QueueOptions): ReturnType<MemoryStore["open"]> {
        return Object.assign(super.open(options), { add: () => answer });
      }
    }
    const clock = new VirtualClock();
    const events: PoolEvent[] = [];
    const store = defineStore({ name: "nonsense", create: () => new NonsenseStore() });
    const observer = (event: PoolEvent): void => void events.push(event);
    const sluice = await start({ ...configOf({}), store }, { clock, seed: 1, observer });
    const lane = sluice.pool("p").snapshot().lanes[0]!.name;

    sluice.post("p", { lane, payload: null });
    await clock.settle();

    assert.deepEqual(events.flatMap((event) => event.kind === "job-unstored" ? [event.lane] : []), [
      lane,
    ]);
    const stopping = sluice.stop();
    await clock.advance(1_000);
    await stopping;
  }
});

for (const call of ["count", "lease", "settle", "renew"] as const) {
  Deno.test(`a ${call} that the store never answers is given up after leaseMs, and the pool goes on`, async () => {
    const clock = new VirtualClock();
    const events: PoolEvent[] = [];
    const answers: (() => void)[] = [];
    let hangs = call === "renew"; // a pool that is alone renews once
    class HangingStore extends MemoryStore {
      override open(options: QueueOptions): ReturnType<MemoryStore["open"]> {
        const queue = super.open(options);
        const real = (queue[call] as (...given: unknown[]) => unknown).bind(queue);
        const held = (...given: unknown[]): unknown => {
          if (!hangs) return real(...given);
          return new Promise((resolve) => answers.push(() => resolve(real(...given))));
        };
        return Object.assign(queue, { [call]: held });
      }
    }
    const store = defineStore({ name: "hanging", create: () => new HangingStore() });
    const ran: unknown[] = [];
    const handler = ({ payload }: Job): void => void ran.push(payload);
    const parts = { handler, leaseMs: 5000, size: { min: 2, max: 2 } };
    const sluice = await start({ ...configOf(parts), store }, {
      clock,
      seed: 1,
      observer: (event) => void events.push(event),
    });
    const pool = sluice.pool("p");
    await clock.advance(100);

    hangs = true;
    const jobs = await pool.enqueueAll(
      Array.from({ length: 6 }, (_, payload) => ({ lane: "high", payload, delayMs: 50 })),
    );
    await clock.advance(20_000);
    const failed = events.find(({ kind }) => kind === "store-failed");
    assert.match(
      failed !== undefined && "error" in failed ? String(failed.error) : "",
      new RegExp(`^No answer to ${call} within 5000 ms$`),
    );
    assert.equal(pool.snapshot().stale, true);
    hangs = false;
    for (const answer of answers) answer(); // all of them late
    await clock.advance(30_000);

    for (const job of jobs) {
      assert.ok(!(job instanceof Error));
      assert.equal((await job.done).state, "done");
    }
    assert.deepEqual(ran.sort(), [0, 1, 2, 3, 4, 5]);
    assert.equal(pool.snapshot().stale, false);
    assert.equal(events.some(({ kind }) => kind === "lease-lost"), false);
    const stopping = sluice.stop();
    await clock.advance(60_000);
    assert.deepEqual(await stopping, { handedBack: [], stuck: [], waiting: 0, unstored: 0 });
  });

  Deno.test(`a stop ends within its bound where the store never answers ${call}`, async () => {
    const clock = new VirtualClock();
    let hangs = false;
    class HangingStore extends MemoryStore {
      override open(options: QueueOptions): ReturnType<MemoryStore["open"]> {
        const queue = super.open(options);
        const real = (queue[call] as (...given: unknown[]) => unknown).bind(queue);
        const held = (...given: unknown[]): unknown =>
          hangs ? new Promise(() => {}) : real(...given);
        return Object.assign(queue, { [call]: held });
      }
    }
    const store = defineStore({ name: "hanging", create: () => new HangingStore() });
    const sluice = await start({ ...configOf({ drainMs: 1000 }), store }, { clock, seed: 1 });
    await clock.advance(100);
    hangs = true;
    for (let payload = 0; payload < 5; payload++) {
      sluice.post("p", { lane: "high", payload });
    }
    await clock.advance(100);

    let report: unknown;
    sluice.stop().then((given) => report = given);
    await clock.advance(1000 + 250 + 3 * 5000);

    assert.ok(report !== undefined);
  });
}
