import assert from "node:assert/strict";
import { defineCap } from "../../src/contract/plugin.ts";
import type { PoolInput } from "../../src/config/input.ts";
import { simulate } from "../../src/simulate/mod.ts";
import type { LaneLoad, ScenarioInput } from "../../src/simulate/mod.ts";

type LaneReport = Awaited<ReturnType<typeof simulate>>["pools"][string]["lanes"][string];

/** Ten seconds of a load on a pool. */
async function play(
  pool: Partial<PoolInput>,
  load: LaneLoad,
  parts: Partial<ScenarioInput> = {},
): Promise<LaneReport> {
  const own = { handler: "./no/such.ts", admission: "admit-all", ...pool } as const;
  const p = { size: { min: 2, max: 8 }, lanes: [{ name: "all" }], ...own };
  const scenario = { durationMs: 10_000, pools: { p: { lanes: { all: load } } }, ...parts };
  return (await simulate({ pools: { p } }, scenario)).pools["p"]!.lanes["all"]!;
}

function sized(workers: number): Pick<PoolInput, "size"> {
  return { size: { min: workers, max: workers } };
}

Deno.test("simulate() draws run times of a knee, and takes slots away for a while", async () => {
  const load = {
    arrivals: { kind: "even", perSec: 400 },
    serviceMs: { kind: "knee", ms: 20, cv: 1, slots: 10 },
  } as const;
  const faults = [{ kind: "slots", atMs: 5000, forMs: 5000, factor: 0.5 }] as const;

  const whole = await play(sized(10), load);
  const half = await play(sized(10), load, { faults });

  assert.ok(whole.sojournMs!.p95 > 50 && whole.sojournMs!.p50 < 20);
  assert.ok(whole.done > 3900 && half.done < 3500, `${whole.done}, ${half.done}`);
});

Deno.test("simulate() lets handlers say that a knee is overloaded, where it tells them", async () => {
  const heard = async (tells: boolean): Promise<number> => {
    let overloads = 0;
    const listener = defineCap({
      name: "listener",
      create: () => ({ totals }) => {
        overloads = totals.overloads;
        return { workers: Infinity, reason: "listens" };
      },
    });
    const serviceMs = { kind: "knee", ms: 20, slots: 10, tells } as const;
    await play({ ...sized(32), caps: [listener] }, {
      arrivals: { kind: "even", perSec: 800 },
      serviceMs,
    });
    return overloads;
  };

  assert.equal(await heard(false), 0);
  assert.ok(await heard(true) > 1000);
});

Deno.test("simulate() keeps workers waiting for a store that is slow to answer", async () => {
  const load = {
    arrivals: { kind: "poisson", perSec: 20 },
    serviceMs: { kind: "exponential", ms: 20 },
  } as const;

  const slow = await play(sized(4), load, { storeMs: 200 });
  const instant = await play(sized(4), load);

  assert.equal(slow.arrived, slow.done + slow.left);
  assert.ok(slow.waitMs!.p50 >= 200, `${slow.waitMs!.p50}`);
  assert.ok(instant.waitMs!.p50 < 5);
});
