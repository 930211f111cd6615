/**
 * What a job waits counts from when it was due, also while its key holds it back; growth and admission
 * look at claimable jobs only.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { ConfigInput } from "../../src/config/input.ts";
import type { JobRecord } from "../../src/contract/job.ts";
import type { Sluice } from "../../src/runtime/handles.ts";
import { start } from "../../mod.ts";
import { simulate } from "../../src/simulate/mod.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { sleeper } from "../_virtual.ts";

const BATCH = Array.from({ length: 20 }, () => ({ lane: "high", payload: 500, key: "k" }));

interface Scene {
  readonly sluice: Sluice;
  readonly clock: VirtualClock;
  pass(ms: number): Promise<void>;
}

for (const store of ["memory", "deno-kv"] as const) {
  const test = (
    name: string,
    body: (scene: Scene) => Promise<void>,
    lane: Record<string, unknown> = {},
  ): void => {
    Deno.test(`On ${store} ${name}`, async () => {
      const clock = new VirtualClock();
      const config = {
        store: store === "memory" ? "memory" : { use: "deno-kv", with: { path: ":memory:" } },
        pools: {
          p: {
            handler: sleeper(() => clock),
            size: { min: 1, max: 50 },
            lanes: [{ name: "high", maxRunningPerKey: 1, ...lane }, { name: "low" }],
          },
        },
      } as unknown as ConfigInput;
      const sluice = await start(config, { clock });
      const pass = async (ms: number): Promise<void> => {
        for (let left = ms; left > 0; left -= 25) {
          await clock.advance(Math.min(25, left));
          await new Promise((resolve) => setTimeout(resolve, 0)); // the database answers on its own
          await clock.settle();
        }
      };
      try {
        await body({ sluice, clock, pass });
      } finally {
        const stopped = sluice.stop();
        await pass(12_000); // what is blocked is not waited for, what runs is
        await stopped;
      }
    });
  };

  // D3
  test(
    "jobs that their key held back for longer than their deadline are dropped, and seen",
    async (scene) => {
      const { sluice, pass } = scene;
      const pool = sluice.pool("p");
      await pool.enqueueAll(BATCH);
      await pass(400);

      const { lanes: [lane], target } = pool.snapshot();
      assert.ok(target <= 2, `${target}`);
      assert.deepEqual([lane!.blocked, lane!.oldestWaitMs], [19, 0]);
      assert.ok(Math.abs(lane!.oldestBlockedMs - 400) <= 50, `${lane!.oldestBlockedMs}`);
      await pass(3000);

      const [tally] = pool.tally();
      const started = tally!.waits.count + tally!.blockedWaits!.count;
      assert.equal(tally!.waits.count, 1);
      assert.ok(started === 2 || started === 3, `${started}`); // the third is due for a second then
      assert.equal(tally!.dead.late, 20 - started);
      assert.ok(tally!.blockedWaits!.sumMs >= 500, `${tally!.blockedWaits!.sumMs}`);
      assert.equal(pool.snapshot().lanes[0]!.oldestBlockedMs, 0);
    },
    { deadlineMs: 1000 },
  );

  test(
    "a blocked backlog has no job of another key refused, and starts no worker",
    async (scene) => {
      const { sluice, pass } = scene;
      const pool = sluice.pool("p");
      await pool.enqueueAll(BATCH);
      await pass(5000);

      const other = await sluice.enqueue("p", { lane: "high", payload: 10, key: "other" });
      await pass(100);
      assert.equal((await pool.find(other.id))?.state, "done");
      const { lanes: [lane], target, window } = pool.snapshot();
      assert.ok(target <= 3, `${target}`);
      assert.ok(lane!.oldestBlockedMs >= 4500, `${lane!.oldestBlockedMs}`);
      assert.ok(lane!.window.waitMs!.p99 >= 3000, "it counts from due");
      assert.ok(lane!.window.readyWaitMs!.p99 < 1500, "and without the time that it was blocked");
      assert.ok(window.readyWaitMs!.p99 < 1500 && window.waitMs!.p99 >= 3000);
    },
    { targetWaitMs: 50 },
  );

  test("a job tells when it was due and when its key let it go, also once it has ended", async (scene) => {
    const { sluice, clock, pass } = scene;
    const pool = sluice.pool("p");
    const fromMs = clock.nowMs();
    const first = await pool.enqueue(BATCH[0]!);
    const second = await pool.enqueue({ ...BATCH[0]!, delayMs: 100 });
    const third = await pool.enqueue(BATCH[0]!);
    const times = async ({ id }: { id: string }): Promise<readonly (number | undefined)[]> => {
      const { dueAtMs, readyAtMs, startedAtMs } = await pool.find(id) as JobRecord;
      return [dueAtMs, readyAtMs, startedAtMs].map((ms) =>
        ms && Math.round((ms - fromMs) / 50) * 50
      );
    };
    await pass(300);
    assert.deepEqual((await times(first)).slice(0, 2), [0, 0]);
    assert.deepEqual(await times(second), [100, undefined, undefined]);
    assert.equal((await pool.change(third.id, "cancel")).ok, true);
    await pass(400);
    const running = await times(second);
    assert.ok(running[0] === 100 && running[1]! >= 500 && running[1]! <= 1500, `${running}`);
    await pass(1000);

    assert.equal((await pool.find(second.id))?.state, "done");
    assert.deepEqual(await times(second), running);
    assert.deepEqual((await times(third)).slice(0, 2), [0, undefined]);
  });
}

Deno.test("The simulator drops, counts and measures the same", async () => {
  const lanes = [{ name: "high", maxRunningPerKey: 1, deadlineMs: 1000 }];
  const report = await simulate(
    { pools: { p: { handler: "./none.ts", size: { min: 1, max: 50 }, lanes } } },
    {
      durationMs: 10_000,
      pools: {
        p: { lanes: { high: { backlog: 20, keys: 1, serviceMs: { kind: "fixed", ms: 500 } } } },
      },
    },
  );
  const { done, shed, waitMs } = report.pools.p!.lanes.high!;
  assert.equal(done + shed, 20);
  assert.ok(done === 2 || done === 3, `${done}`);
  assert.ok(waitMs!.max >= 500 && waitMs!.max <= 1010, `${waitMs!.max}`);
});
