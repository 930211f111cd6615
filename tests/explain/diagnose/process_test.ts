/**
 * What is wrong with a process or its store, by simulated pools.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { Finding } from "../../../src/explain/diagnose.ts";
import { type ScenarioInput, simulate } from "../../../src/simulate/mod.ts";
import { defineStore } from "../../../src/contract/plugin.ts";
import type { QueueOptions } from "../../../src/contract/store.ts";
import { MemoryStore } from "../../../stores/memory/mod.ts";
import { sleeper, withPool } from "../../_virtual.ts";
import { VirtualClock } from "../../../src/time/virtual_clock.ts";

async function found(more: Partial<ScenarioInput>, ms = 20): Promise<readonly Finding[]> {
  const { pools } = await simulate({
    pools: {
      p: {
        handler: "http",
        size: { min: 1, max: 8 },
        lanes: [{ name: "jobs", targetWaitMs: 100 }],
      },
    },
  }, {
    durationMs: 100_000,
    ...more,
    pools: {
      p: {
        lanes: {
          jobs: { arrivals: { kind: "poisson", perSec: 20 }, serviceMs: { kind: "fixed", ms } },
        },
      },
    },
  });
  return pools["p"]!.diagnosis;
}

function textOf(findings: readonly Finding[]): string {
  return findings.map(({ code, saw }) => `${code}: ${saw}`).join("\n");
}

Deno.test("diagnose() says loop-blocked from late ticks: how long, how often, when last (D7)", async () => {
  const block = (atMs: number) => ({ kind: "block", atMs, forMs: 4500 }) as const;

  const blocked = await found({ faults: [block(70_000), block(90_000)] });
  const over = await found({ faults: [block(20_000)] });

  assert.match(
    textOf(blocked),
    /^loop-blocked: For 1 min the event loop has been blocked: 2 times in the last 1 min, 9 s in all, up to 4\.5 s at once, the last [456][0-9.]* s ago/,
  );
  assert.deepEqual(over, []);
});

Deno.test("diagnose() says store-slow, when leases take longer than the target", async () => {
  const slow = await found({ storeMs: 200 });
  const quick = await found({ storeMs: 10 });

  assert.match(
    textOf(slow),
    /^store-slow: For 1 min workers have waited for the store, which takes 2\d\d ms to lease jobs: 100 % of the jobs/,
  );
  assert.deepEqual(quick, []);
});

Deno.test("diagnose() says store-failing alone after 5 s, with the message, until the store answers", async () => {
  const faults = [{ kind: "store-error", atMs: 40_000, forMs: 130_000 }] as const;

  const failing = await found({ faults, durationMs: 170_000 - 1 });
  const soon = await found({ faults, durationMs: 42_000 });
  const over = await found({ faults, durationMs: 300_000 });

  assert.match(
    textOf(failing),
    /^store-failing: For 2 min \d+ s calls to the store have failed: jobs and their ends wait \(The scenario makes the store fail\)$/,
  );
  assert.ok(!textOf(soon).includes("store-failing"), textOf(soon));
  assert.equal(textOf(over), "");
});

Deno.test("diagnose() says claims-stalled, not at-capacity, when leases bring nothing", async () => {
  const clock = new VirtualClock();
  let isSilent = false;
  class SilentStore extends MemoryStore {
    override open(options: QueueOptions): ReturnType<MemoryStore["open"]> {
      const queue = super.open(options);
      const lease = queue.lease.bind(queue);
      queue.lease = (...given) => isSilent ? [] : lease(...given);
      return queue;
    }
  }
  const store = defineStore({ name: "silent", create: () => new SilentStore() });
  const parts = {
    handler: sleeper(() => clock),
    size: { min: 1, max: 2 },
    lanes: [{ name: "jobs", targetWaitMs: 50 }],
    admission: "admit-all",
  };
  await withPool(parts, async ({ pool }) => {
    const send = async (forMs: number): Promise<void> => {
      for (let atMs = 0; atMs < forMs; atMs += 500) {
        pool.post({ lane: "jobs", payload: 20 });
        await clock.advance(500);
      }
    };
    await send(30_000);
    isSilent = true;
    await send(15_000);

    const [first, ...others] = pool.diagnosis();

    assert.match(
      first?.saw ?? "",
      /^For 1\d s no job has started: the store gives none although \d+ jobs of lane "jobs" are ready and workers wait for them$/,
    );
    assert.equal(first?.code, "claims-stalled");
    assert.ok(!others.some(({ code }) => code === "at-capacity"));
    isSilent = false;
    await send(60_000);
    assert.deepEqual(pool.diagnosis().map(({ code }) => code), []);
  }, { clock, store });
});
