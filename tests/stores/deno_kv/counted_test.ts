/**
 * Who decides by counts waits for one that is newer than the question, others' jobs included.
 *
 * @module
 */

import assert from "node:assert/strict";
import { type ConfigInput, start } from "../../../mod.ts";
import { Counts } from "../../../stores/deno_kv/read/counts.ts";
import { ConfigError } from "../../../src/contract/errors.ts";
import { defineStore } from "../../../src/contract/plugin.ts";
import type { PoolSnapshot, Sluice } from "../../../src/runtime/handles.ts";
import { deafStore, twinOf } from "./_commits.ts";
import { entry, openQueue } from "./_store.ts";

interface Scene {
  /** Starts a pool "p" with lane "a" (and "b") that hears of no other process. */
  run(parts?: Partial<ConfigInput["pools"][string]>): Promise<Sluice>;
  /** The config of `run`, for a reload. */
  config(parts?: Partial<ConfigInput["pools"][string]>): ConfigInput;
  /** Adds jobs by another process. */
  add(count: number): Promise<void>;
  /** What the pool ran. */
  readonly ran: unknown[];
}

async function withScene(test: (scene: Scene) => Promise<void>): Promise<void> {
  const kv = await Deno.openKv(":memory:");
  const other = deafStore(kv, () => 0.3);
  const queue = await openQueue(other, { nowMs: Date.now() });
  const ran: unknown[] = [];
  const store = defineStore({
    name: "deaf",
    create: async () => deafStore(await twinOf(kv), () => 0.7),
  });
  const handler = ({ payload }: { readonly payload: unknown }): void => void ran.push(payload);
  const config = (parts: Partial<ConfigInput["pools"][string]> = {}): ConfigInput => ({
    store,
    pools: {
      p: { handler, size: { min: 1, max: 4 }, lanes: [{ name: "b" }, { name: "a" }], ...parts },
    } as ConfigInput["pools"], // the parts of a test leave the handler
  });
  try {
    await test({
      config,
      run: (parts) => start(config(parts)),
      add: async (count) => {
        const entries = Array.from({ length: count }, (_, payload) => entry({ payload }));
        await queue.add(entries, Date.now());
      },
      ran,
    });
  } finally {
    await other.close();
  }
}

function laneOf(snapshot: PoolSnapshot): PoolSnapshot["lanes"][number] {
  return snapshot.lanes.find(({ name }) => name === "a")!; // each config has it
}

const PAUSED = { lanes: [{ name: "b" }, { name: "a", paused: true }] };

Deno.test("start() on jobs that wait shows them at once", async () => {
  await withScene(async ({ run, add }) => {
    await add(20);
    await using sluice = await run(PAUSED);

    assert.equal(laneOf(sluice.pool("p").snapshot()).ready, 20);
  });
});

Deno.test("slice() at once after the start waits until the jobs that were there have ended", async () => {
  await withScene(async ({ run, add, ran }) => {
    await add(20);
    await using sluice = await run();

    assert.deepEqual(await sluice.slice(60_000), { left: 0 });
    assert.equal(ran.length, 20);
  });
});

Deno.test("slice() waits for jobs that another process has added unheard", async () => {
  await withScene(async ({ run, add, ran }) => {
    await using sluice = await run();
    await sluice.slice(60_000);
    await add(5);

    assert.deepEqual(await sluice.slice(60_000), { left: 0 });
    assert.equal(ran.length, 5);
  });
});

Deno.test("stop() reports what waits, at once after the start and what others have added unheard", async () => {
  await withScene(async ({ run, add }) => {
    await add(20);
    const sluice = await run(PAUSED);
    await add(3);

    assert.equal((await sluice.stop()).waiting, 23);
  });
});

Deno.test("stop() reports nothing that waits after a burst has ended", async () => {
  await withScene(async ({ run, ran }) => {
    for (let round = 0; round < 5; round++) {
      const sluice = await run();
      const jobs = Array.from({ length: 200 }, (_, payload) => ({ lane: "a", payload }));
      const taken = await Promise.all(jobs.map((job) => sluice.enqueue("p", job)));
      await Promise.all(taken.map((job) => job.done));

      assert.equal(laneOf(sluice.pool("p").snapshot()).ready, 0);
      assert.deepEqual(await sluice.stop(), { handedBack: [], stuck: [], waiting: 0, unstored: 0 });
    }
    assert.equal(ran.length, 1000);
  });
});

for (const when of ["at once after the start", "unheard by another process"]) {
  Deno.test(`reload() refuses to remove a lane with jobs that were added ${when}`, async () => {
    await withScene(async ({ run, config, add }) => {
      if (when === "at once after the start") await add(20);
      await using sluice = await run(PAUSED);
      if (when === "unheard by another process") await add(20);

      for (const dryRun of [false, true]) {
        const reload = sluice.reload(config({ lanes: [{ name: "b" }] }), { dryRun });
        if (dryRun) assert.match(JSON.stringify(await reload), /still holds 20 jobs/);
        else {
          await assert.rejects(
            reload,
            (thrown) => thrown instanceof ConfigError && /still holds 20 jobs/.test(thrown.message),
          );
        }
      }
    });
  });
}

Deno.test("reload() removes a lane whose jobs another process has ended unheard", async () => {
  await withScene(async ({ run, config, add }) => {
    await add(3);
    await using sluice = await run(PAUSED);
    await using other = await run();
    await other.pool("p").resume("a");
    await other.slice(60_000);

    await sluice.reload(config({ lanes: [{ name: "b" }] }));

    assert.deepEqual(sluice.pool("p").snapshot().lanes.map(({ name }) => name), ["b"]);
  });
});

const NO_MOVE = { r: 0, z: 0, q: 0, l: 0 };
const READING = {
  ...NO_MOVE,
  versions: { r: "05", z: "", q: "", l: "" },
  oldestReadyAtMs: 0,
  oldestBlockedAtMs: Infinity,
  nextDueAtMs: Infinity,
  headExpiresAtMs: Infinity,
  asOf: 0,
};

Deno.test("Counts.take() adds the own commits that a reading does not hold, and no other", () => {
  const counts = new Counts([0]);
  const move = (r: number, version: string): void =>
    counts.moved(new Map([[0, { ...NO_MOVE, r }]]), version);
  move(9, "01");
  counts.readsBegin();
  move(4, "04"); // the reading holds it
  move(3, "06"); // and not this one
  counts.take(0, { ...READING, r: 13 }, true);
  counts.readsEnd();
  assert.equal(counts.of(0)!.ready, 16);

  move(-5, "05"); // answered late: the reading holds it
  assert.equal(counts.of(0)!.ready, 16);
  move(-16, "07");
  assert.equal(counts.of(0)!.ready, 0);
});
