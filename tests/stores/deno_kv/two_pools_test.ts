import assert from "node:assert/strict";
import { start } from "../../../mod.ts";
import type { ConfigInput } from "../../../src/config/input.ts";
import type { Sluice } from "../../../src/runtime/handles.ts";
import { until } from "./_remote.ts";
import { withFolder } from "./_store.ts";

/** Two pools on one file, each with a handle of its own, as two processes have them; and who ran what. */
async function withTwo(
  test: (one: Sluice, other: Sluice, ran: Map<Sluice, unknown[]>) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const ran = new Map<Sluice, unknown[]>();
    const open = async (): Promise<Sluice> => {
      const own: unknown[] = [];
      const config: ConfigInput = {
        store: { use: "deno-kv", with: { path: `${folder}/queue.db`, pollMs: 50 } },
        pools: {
          p: {
            handler: ({ payload }) => void own.push(payload),
            size: { min: 1, max: 1 },
            lanes: [{ name: "high" }, { name: "low" }],
          },
        },
      };
      const sluice = await start(config);
      ran.set(sluice, own);
      return sluice;
    };
    const [one, other] = [await open(), await open()];
    try {
      await test(one, other, ran);
    } finally {
      await Promise.all([one.stop(), other.stop()]);
    }
  });
}

function lanesPaused(sluice: Sluice): readonly boolean[] {
  return sluice.pool("p").snapshot().lanes.map(({ paused }) => paused);
}

Deno.test("a pause of a lane holds for all processes, and so does its end", async () => {
  await withTwo(async (one, other, ran) => {
    for (let round = 0; round < 3; round++) {
      for (const [from, to] of [[one, other], [other, one]] as const) {
        await from.pool("p").pause("high");
        await until(() => lanesPaused(to)[0]!);
        assert.deepEqual(lanesPaused(to), [true, false]);
        await from.pool("p").enqueueAll(
          ["high", "high", "low"].map((lane) => ({ lane, payload: lane })),
        );
        await until(() => [...ran.values()].flat().includes("low"));
        assert.deepEqual([...ran.values()].flat(), ["low"]);

        await to.pool("p").resume("high");
        await until(() => [...ran.values()].flat().length === 3);
        await until(() => !lanesPaused(from)[0]!);
        for (const own of ran.values()) own.length = 0;
      }
    }
  });
});

Deno.test("a pool that is quiet goes on once another process has ended a pause", async () => {
  await withTwo(async (one, other, ran) => {
    await one.pool("p").pause();
    await until(() => other.pool("p").snapshot().paused);
    await one.stop(); // only the other is left to run what comes
    await other.pool("p").enqueue({ lane: "high", payload: 1 });
    await other.pool("p").resume();
    await until(() => ran.get(other)!.length === 1);
  });
});

Deno.test("draining one process touches no other", async () => {
  await withTwo(async (one, other, ran) => {
    await one.pool("p").drain();
    assert.equal(one.pool("p").snapshot().stopped, true);
    assert.deepEqual(
      [other.pool("p").snapshot().draining, other.pool("p").snapshot().paused],
      [false, false],
    );
    assert.deepEqual(lanesPaused(other), [false, false]);
    await other.pool("p").enqueueAll([1, 2, 3].map((payload) => ({ lane: "high", payload })));
    await until(() => ran.get(other)!.length === 3);
    assert.deepEqual(ran.get(one), []);
  });
});
