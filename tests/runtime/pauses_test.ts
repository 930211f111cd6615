import assert from "node:assert/strict";
import { MemoryStore } from "../../stores/memory/mod.ts";
import { Pauses } from "../../src/runtime/pauses.ts";
import type { PoolState } from "../../src/runtime/pool_state.ts";
import type { StateEntry, Store } from "../../src/contract/store.ts";
import { Bench } from "../cases/_bench.ts";
import { LateState, starting } from "./_late_state.ts";

/** Two processes, each with a lane of its own, on a store whose shared state answers late. */
async function withLate(test: (bench: Bench) => Promise<void>): Promise<void> {
  const store: LateState = new LateState(() => bench.clock, 5);
  const bench = new Bench(store);
  try {
    for (const lanes of [[{ name: "low" }], [{ name: "high" }]]) {
      const process = starting(bench.start({ handler: () => "ok", lanes }));
      await bench.clock.advance(50);
      await process;
    }
    await test(bench);
  } finally {
    await bench.stop();
  }
}

/** Lets `run` end while time passes. */
async function passing(bench: Bench, run: Promise<void>): Promise<void> {
  await bench.clock.advance(100);
  await run;
}

Deno.test("a pause that another process ends is over at once, though the store answers late", async () => {
  await withLate(async (bench) => {
    const [one, other] = bench.processes.map(({ pool }) => pool);
    await passing(bench, one!.pause());
    assert.equal(other!.snapshot().paused, true);
    for (let index = 0; index < 3; index++) other!.post({ lane: "high", payload: index });
    await bench.clock.advance(200_000); // until nothing steers any more
    await passing(bench, one!.resume());

    assert.equal(other!.snapshot().lanes[0]!.ready, 0);
    assert.equal(other!.snapshot().totals.starts, 3);
  });
});

Deno.test("Pauses heeds no answer that is older than what was set meanwhile", async () => {
  const store = new MemoryStore();
  const asked: PromiseWithResolvers<StateEntry | undefined>[] = [];
  const late: Store = {
    open: (options) => store.open(options),
    get: () => {
      const answer = Promise.withResolvers<StateEntry | undefined>();
      asked.push(answer);
      return answer.promise;
    },
    commit: (...given) => store.commit(...given),
    close: () => {},
  };
  const lanes = ["high", "low"].map((name) => ({
    name,
    paused: false,
    pause(paused: boolean): void {
      this.paused = paused;
    },
  }));
  // Pauses read no more of a pool's state.
  const state = { pool: "p", lanes } as unknown as PoolState;
  const pauses = new Pauses({ store: late, state, now: () => 0, changed: () => {} });
  pauses.refresh();
  const set = pauses.set("low", true);
  asked[1]!.resolve(undefined);
  await set;
  assert.equal(lanes[1]!.paused, true);
  asked[0]!.resolve({ value: { pool: false, lanes: [] }, version: "1" });
  await asked[0]!.promise;
  await Promise.resolve();

  assert.equal(lanes[1]!.paused, true);
});
