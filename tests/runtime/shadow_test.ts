import assert from "node:assert/strict";
import type { Controller } from "../../src/contract/strategy.ts";
import { defineController } from "../../src/contract/plugin.ts";
import { simulate } from "../../src/simulate/mod.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { Shadow } from "../../src/runtime/shadow.ts";
import { EventHub } from "../../src/runtime/event_hub.ts";
import { Redaction } from "../../src/config/redaction.ts";
import { silentLogger } from "../../src/runtime/log.ts";
import type { PoolState } from "../../src/runtime/pool_state.ts";
import type { PoolHandle } from "../../src/runtime/handles.ts";
import type { ShadowReport } from "../../src/contract/decision.ts";
import { makeView } from "../../src/testing/views.ts";
import { configOf, ok, sleeper, withPool } from "../_virtual.ts";

function shadowOf(pool: PoolHandle): ShadowReport {
  const { shadow } = pool.snapshot();
  assert(shadow !== undefined);
  return shadow;
}

/** Puts jobs in for half a second: a pool without any does not tick. */
async function busy(pool: PoolHandle, clock: VirtualClock): Promise<void> {
  for (let count = 0; count < 10; count++) {
    pool.post({ lane: "high", payload: 40 });
    await clock.advance(50);
  }
}

const FIXED = { use: "fixed", with: { workers: 2 } } as const;

Deno.test("a shadow is compared with the controller on each tick, and told of when they part and meet", async () => {
  const clock = new VirtualClock();
  const parts = {
    handler: sleeper(() => clock, 200),
    size: { min: 1, max: 6 },
    controller: { use: "age-scaler", with: {} },
    shadow: { controller: FIXED },
  };
  await withPool(parts, async ({ pool, events }) => {
    await clock.advance(500);
    const idle = shadowOf(pool);
    for (let round = 0; round < 20; round++) {
      for (let count = 0; count < 4; count++) pool.post({ lane: "high", payload: 200 });
      await clock.advance(200);
    }
    const busy = shadowOf(pool);

    assert.deepEqual(
      [idle.controller, idle.share, idle.meanDifference, idle.leastDifference, idle.mostDifference],
      ["fixed", 1, 1, 0, 1],
    );
    assert.equal(idle.ticks, idle.differed);
    assert.deepEqual([idle.workers, idle.liveWorkers], [2, 1]);
    assert.match(idle.sentence ?? "", /^fixed wants 2 \(/);
    assert.match(idle.liveSentence ?? "", /^age-scaler wants 1 \(/);
    assert.ok(busy.leastDifference <= -2 && busy.meanDifference < 0);
    const told = events.flatMap((event) =>
      event.kind === "shadow-differs" || event.kind === "shadow-agrees" ? [event] : []
    );
    assert.deepEqual(
      told.map(({ kind }) => kind),
      told.map((_, index) => index % 2 === 0 ? "shadow-differs" : "shadow-agrees"),
    );
    assert.deepEqual([told[0]?.workers, told[0]?.liveWorkers], [2, 1]);
  }, { clock });
});

Deno.test("a shadow like the controller agrees with it, and changes nothing of what the pool does", async () => {
  const pool = {
    handler: "sleep",
    size: { min: 2, max: 20 },
    lanes: [{ name: "high" }, { name: "low" }],
  };
  const load = {
    durationMs: 20_000,
    pools: {
      p: {
        lanes: {
          high: {
            arrivals: {
              kind: "poisson",
              phases: [{ untilMs: 5000, perSec: 50 }, { untilMs: 10_000, perSec: 500 }, {
                untilMs: 20_000,
                perSec: 50,
              }],
            },
            serviceMs: { kind: "exponential", ms: 20 },
          },
        },
      },
    },
  } as const;

  const alone = await simulate({ pools: { p: pool } }, load);
  const same = { controller: { use: "age-scaler" } };
  const other = { controller: { use: "fixed", with: { workers: 12 } } };
  const beside = await simulate({ pools: { p: { ...pool, shadow: same } } }, load);
  const against = await simulate({ pools: { p: { ...pool, shadow: other } } }, load);

  const { shadow: [agreeing] = [], ...rest } = beside.pools.p!;
  const { shadow: [differing] = [], ...others } = against.pools.p!;
  assert.deepEqual(rest, alone.pools.p);
  assert.deepEqual(others, alone.pools.p);
  assert.ok(agreeing!.ticks >= 400);
  assert.ok(agreeing!.share < 0.02, `differs on ${agreeing!.share}`);
  assert.ok(differing!.share > 0.2, `differs on ${differing!.share}`);
});

Deno.test("a shadow that throws or answers nonsense harms nothing: the pool is not degraded", async () => {
  let turn = 0;
  const answers: readonly (() => ReturnType<Controller>)[] = [
    () => {
      throw new Error("no idea");
    },
    () => ({ workers: NaN, reason: "nonsense" }),
    () => ({ workers: 1, reason: "one" }),
  ];
  const odd = defineController({
    name: "odd",
    create: () => () => answers[Math.min(turn++, answers.length - 1)]!(),
  });
  const clock = new VirtualClock();
  const parts = { handler: sleeper(() => clock, 40), shadow: { controller: odd } };
  await withPool(parts, async ({ pool, events }) => {
    await clock.advance(0);
    const first = shadowOf(pool);
    const { degraded } = pool.snapshot();
    const job = await pool.enqueue({ lane: "high", payload: 40 });
    await busy(pool, clock);

    const later = shadowOf(pool);
    assert.deepEqual([degraded, first.ticks, first.failed, first.error], [
      false,
      0,
      1,
      "no idea",
    ]);
    assert.deepEqual([later.failed, later.error, later.ticks > 0], [2, undefined, true]);
    assert.equal((await job.done).state, "done");
    const told = events.flatMap((event) =>
      event.kind === "plugin-failed" || event.kind === "plugin-recovered"
        ? [`${event.kind} ${event.plugin}`]
        : []
    );
    assert.deepEqual(told, ["plugin-failed shadow odd", "plugin-recovered shadow odd"]);
  }, { clock });
});

Deno.test("Shadow asks a slow candidate so seldom that it takes a twentieth of the time at most", () => {
  let nowMs = 0;
  let asked = 0;
  const run: Controller = () => {
    asked++;
    nowMs += 10;
    return { workers: 1, reason: "slow" };
  };
  const view = makeView({ pool: "p", lanes: [{ name: "high" }] });
  const shadow = new Shadow({ name: "slow", run }, {
    state: view as unknown as PoolState, // a shadow reads what is in a view, and no more
    hub: new EventHub(silentLogger(), new Redaction([])),
    now: () => nowMs,
  });

  for (let tick = 0; tick < 100; tick++) {
    shadow.ask();
    nowMs += 50;
  }

  assert.ok(asked * 10 <= nowMs / 20 + 10, `${asked} times in ${nowMs} ms`);
  assert.equal(shadow.report.skipped, 100 - asked);
});

Deno.test("a shadow is not compared while the bounds are overridden by a target", async () => {
  await withPool({ shadow: { controller: FIXED } }, async ({ clock, pool }) => {
    await clock.advance(200);
    pool.override({ target: 3 }, 10_000);
    await clock.advance(100);
    const before = shadowOf(pool).ticks;
    await clock.advance(5000);

    assert.equal(shadowOf(pool).ticks, before);
  });
});

Deno.test("reload() brings a shadow, changes it, keeps it with its counts, and takes it away", async () => {
  const steady = { use: "fixed", with: { workers: 3 } };
  await withPool({ handler: ok }, async ({ clock, pool, sluice }) => {
    const told: unknown[] = [];
    const reload = async (parts: object): Promise<number | undefined> => {
      const { changes } = await sluice.reload(configOf({ handler: ok, ...parts }));
      told.push(...changes.map(({ change, pointer }) => `${change} ${pointer}`));
      const { shadow } = pool.snapshot();
      await busy(pool, clock);
      return shadow?.ticks;
    };

    const ticks = [
      await reload({ shadow: { controller: FIXED } }),
      await reload({ shadow: { controller: FIXED }, tickMs: 40 }),
      await reload({ shadow: { controller: steady }, tickMs: 40 }),
      await reload({ tickMs: 40 }),
    ];

    assert.deepEqual(ticks.map((count) => count === undefined ? count : count > 0), [
      false,
      true,
      false,
      undefined,
    ]);
    assert.deepEqual(told, [
      "added /pools/p/shadow/controller",
      "changed /pools/p/tickMs",
      "changed /pools/p/shadow/controller",
      "removed /pools/p/shadow/controller",
    ]);
  });
});
