import assert from "node:assert/strict";
import { start } from "../../mod.ts";
import { MemoryStore } from "../../stores/memory/mod.ts";
import { defineStore, type Plugin } from "../../src/contract/plugin.ts";
import type { Store } from "../../src/contract/store.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { SkewedClock } from "../chaos/clock.ts";
import { configOf } from "../_virtual.ts";

/** One process's door to a store that others share. */
function shared(
  store: MemoryStore,
  open: Store["open"] = (options) => store.open(options),
): Plugin<"store"> {
  return defineStore({
    name: "shared",
    create: () => ({
      open,
      get: (key) => store.get(key),
      commit: (checks, sets) => store.commit(checks, sets),
      close: () => {},
    }),
  });
}

Deno.test("A pool that was suspended learns what it has lost before it leases again, and keeps that", async () => {
  const clock = new VirtualClock();
  const store = new MemoryStore();
  const runs: { readonly signal: AbortSignal; end(): void }[] = [];
  const handler = (_job: unknown, { signal }: { readonly signal: AbortSignal }): Promise<void> =>
    new Promise((resolve) => runs.push({ signal, end: resolve }));
  const own = new SkewedClock(clock, 0);
  const working = configOf({ handler, size: { min: 2, max: 2 }, leaseMs: 3_000 });
  const sluice = await start({ ...working, store: shared(store) }, { clock: own, seed: 1 });
  const watching = configOf({ caps: [{ use: "fixed-cap", with: { workers: 0 } }], leaseMs: 3_000 });
  const other = await start({ ...watching, store: shared(store) }, { clock, seed: 1 });
  const job = await sluice.enqueue("p", { lane: "high", payload: 1 });
  await clock.advance(2_000);

  own.stall(9_000);
  await clock.advance(8_000); // long enough for the other process to take the job back
  own.stall(0);
  await sluice.pool("p").resume(); // a turn, before any timer that has been due meanwhile
  await clock.advance(500);

  assert.deepEqual(runs.map(({ signal }) => signal.aborted), [true, false]);
  for (const { end } of runs) end();
  const stopped = [sluice.stop(), other.stop()];
  await clock.advance(10_000);
  await Promise.all(stopped);
  assert.equal((await job.done).state, "done");
});

Deno.test("A pool that was alone when it was suspended keeps what it leases after it was told of its loss", async () => {
  const clock = new VirtualClock();
  const store = new MemoryStore();
  const runs: { readonly signal: AbortSignal; end(): void }[] = [];
  const handler = (_job: unknown, { signal }: { readonly signal: AbortSignal }): Promise<void> =>
    new Promise((resolve) => runs.push({ signal, end: resolve }));
  const own = new SkewedClock(clock, 0);
  const working = configOf({ handler, size: { min: 2, max: 2 }, leaseMs: 3_000 });
  // The word that another has joined comes late, as it does from another process.
  const late = shared(store, (options) => {
    const { listener } = options;
    const wake = (): void => {
      clock.at(clock.nowMs() + 10_000, () => listener.wake());
    };
    return store.open({
      ...options,
      listener: {
        wake,
        cancelled: (id) => listener.cancelled(id),
        ended: (record) => listener.ended(record),
      },
    });
  });
  const sluice = await start({ ...working, store: late }, { clock: own, seed: 1 });
  const job = await sluice.enqueue("p", { lane: "high", payload: 1 });
  await clock.advance(10);

  own.stall(8_000);
  const watching = configOf({ caps: [{ use: "fixed-cap", with: { workers: 0 } }], leaseMs: 3_000 });
  const other = await start({ ...watching, store: shared(store) }, { clock, seed: 1 });
  await clock.advance(7_000);
  own.stall(0);
  await sluice.pool("p").resume(); // a turn, before it has heard of the other
  await clock.advance(10_000);

  assert.deepEqual(runs.map(({ signal }) => signal.aborted), [true, false]);
  for (const { end } of runs) end();
  const stopped = [sluice.stop(), other.stop()];
  await clock.advance(30_000);
  await Promise.all(stopped);
  assert.equal((await job.done).state, "done");
});
