import assert from "node:assert/strict";
import { start } from "../../mod.ts";
import { MemoryStore } from "../../stores/memory/mod.ts";
import { StoreError } from "../../src/contract/errors.ts";
import type { PoolEvent } from "../../src/contract/event.ts";
import { defineStore } from "../../src/contract/plugin.ts";
import type { Plugin } from "../../src/contract/plugin.ts";
import type { Queue, QueueOptions, StateEntry } from "../../src/contract/store.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { configOf } from "../_virtual.ts";

/** A store whose `add` is answered when its test says so. */
class Held extends MemoryStore {
  /** Stores what was given and answers. */
  readonly answers: (() => void)[] = [];
  holds = true;

  override open(options: QueueOptions): ReturnType<MemoryStore["open"]> {
    const queue = super.open(options);
    const add = queue.add.bind(queue);
    const held: Queue["add"] = (entries, nowMs) =>
      this.holds
        ? new Promise((resolve) => this.answers.push(() => resolve(add(entries, nowMs))))
        : add(entries, nowMs);
    return Object.assign(queue, { add: held }) as typeof queue;
  }
}

function storeOf(made: MemoryStore): Plugin<"store"> {
  return defineStore({ name: "held", create: () => made }) as Plugin<"store">;
}

Deno.test("a job that the store never answers for is given up after leaseMs, with its place in the lane", async () => {
  const clock = new VirtualClock();
  const store = new Held();
  const events: PoolEvent[] = [];
  const parts = { leaseMs: 5000, lanes: [{ name: "high", maxDepth: 3 }] };
  const sluice = await start({ ...configOf(parts), store: storeOf(store) }, {
    clock,
    seed: 1,
    observer: (event) => void events.push(event),
  });
  const pool = sluice.pool("p");

  const one = pool.enqueue({ lane: "high", payload: 1 }).catch((thrown) => thrown);
  const many = pool.enqueueAll([2, 3].map((payload) => ({ lane: "high", payload })))
    .catch((thrown) => thrown);
  await clock.advance(4999);
  assert.equal(pool.snapshot().storeRefusedAtMs, undefined);
  await clock.advance(1);

  for (const thrown of [await one, await many]) {
    assert.ok(thrown instanceof StoreError);
    assert.match(thrown.message, /^The job could not be stored: No answer to add within 5000 ms; /);
    assert.deepEqual([thrown.mayBeDone, thrown.isLate], [true, true]);
  }
  assert.equal(pool.snapshot().storeRefusedAtMs, clock.nowMs());
  store.holds = false;
  const later = await pool.enqueueAll([4, 5, 6].map((payload) => ({ lane: "high", payload })));
  assert.ok(later.every((job) => !(job instanceof Error)));
  for (const answer of store.answers) answer(); // late
  await clock.advance(1000);
  assert.equal(events.filter(({ kind }) => kind === "job-added").length, 6);
  assert.equal(events.filter(({ kind }) => kind === "job-done").length, 6);
  const stopping = sluice.stop();
  await clock.advance(60_000);
  assert.equal((await stopping).waiting, 0);
});

Deno.test("a stop ends the wait of those who enqueue into a store that never answers", async () => {
  const clock = new VirtualClock();
  const sluice = await start({ ...configOf({ leaseMs: 600_000 }), store: storeOf(new Held()) }, {
    clock,
    seed: 1,
  });
  const refused = sluice.enqueue("p", { lane: "high", payload: 1 }).catch((thrown) => thrown);

  const stopping = sluice.stop();
  await clock.advance(60_000);

  await stopping;
  const thrown = await refused;
  assert.ok(thrown instanceof StoreError);
  assert.match(thrown.message, /No answer before the pool stopped/);
  assert.equal(clock.nextAtMs(), undefined);
});

for (const call of ["open", "get", "close"] as const) {
  Deno.test(`a start fails after leaseMs where the store never answers ${call}`, async () => {
    const clock = new VirtualClock();
    class Hanging extends MemoryStore {
      override open(options: QueueOptions): ReturnType<MemoryStore["open"]> {
        if (call === "close") throw new Error("cannot be opened");
        return call === "open" ? new Promise(() => {}) as never : super.open(options);
      }
      override get(): StateEntry | undefined {
        return new Promise(() => {}) as never;
      }
      override close(): void {
        if (call === "close") return new Promise(() => {}) as never;
      }
    }
    const given = { ...configOf({ leaseMs: 5000 }), store: storeOf(new Hanging()) };

    const failed = start(given, { clock, seed: 1 }).catch((thrown) => thrown);
    await clock.advance(30_000);

    const thrown = await Promise.race([failed, Promise.resolve("it waits on")]);
    assert.ok(thrown instanceof StoreError, String(thrown));
    const why = call === "close" ? "cannot be opened" : "No answer within 5000 ms";
    assert.equal(thrown.message, `The store failed: ${why}`);
  });
}

Deno.test("a queue that opens after its start has failed is left", async () => {
  const clock = new VirtualClock();
  const left: number[] = [];
  class Slow extends MemoryStore {
    override open(options: QueueOptions): ReturnType<MemoryStore["open"]> {
      const queue = super.open(options);
      const leave = queue.leave.bind(queue);
      queue.leave = (nowMs) => {
        left.push(nowMs);
        return leave(nowMs);
      };
      return new Promise((resolve) =>
        clock.at(clock.nowMs() + 8000, () => resolve(queue))
      ) as never;
    }
  }
  const given = { ...configOf({ leaseMs: 5000 }), store: storeOf(new Slow()) };
  const failed = start(given, { clock, seed: 1 }).catch((thrown) => thrown);

  await clock.advance(10_000);

  assert.ok(await failed instanceof StoreError);
  assert.equal(left.length, 1);
});

Deno.test("a stop ends where the store never closes", async () => {
  const clock = new VirtualClock();
  class Endless extends MemoryStore {
    override close(): void {
      return new Promise(() => {}) as never;
    }
  }
  const sluice = await start({ ...configOf({}), store: storeOf(new Endless()) }, {
    clock,
    seed: 1,
  });
  let report: unknown;

  sluice.stop().then((given) => report = given);
  await clock.advance(60_000);

  assert.ok(report !== undefined);
});
