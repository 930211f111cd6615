import assert from "node:assert/strict";
import { Fatal, RejectedError, RetryLater } from "../../src/contract/errors.ts";
import type { LaneCounters } from "../../src/planning/lane_counters.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { sleeper, withPool } from "../_virtual.ts";

const SIZE = { min: 1, max: 1 };

/** Handler that does what the payload says. */
function obedient({ payload }: { payload: unknown }): string {
  if (payload === "fail") throw new Error("failed");
  if (payload === "fatal") throw new Fatal("cannot be done");
  if (payload === "later") throw new RetryLater(3_600_000, "busy");
  return "ok";
}

Deno.test("tally() counts what came of jobs, lane by lane, with the reasons of deaths", async () => {
  const lanes = [
    { name: "high", attempts: 2, backoff: { baseMs: 10, maxMs: 10, jitter: 0 } },
    { name: "low", maxDepth: 2, paused: true },
  ];
  await withPool({ handler: obedient, size: SIZE, lanes }, async ({ clock, pool }) => {
    for (const payload of ["ok", "ok", "fail", "fatal", "later"]) {
      await pool.enqueue({ lane: "high", payload });
    }
    await pool.enqueue({ lane: "low", payload: "ok", ttlMs: 50 });
    await pool.enqueue({ lane: "low", payload: "ok" });
    await assert.rejects(pool.enqueue({ lane: "low", payload: "ok" }), RejectedError);
    await clock.advance(1_000);
    await pool.resume("low");
    await clock.advance(1_000);

    const [high, low] = pool.tally();

    assert.deepEqual(counts(high), {
      ...{
        lane: "high",
        accepted: 5,
        shed: 0,
        late: 0,
        done: 2,
        failed: 3,
        deferred: 1,
        waits: 6,
        runs: 5,
      },
      blockedWaits: undefined,
      cancelled: 0,
      dead: { attempts: 1, fatal: 1, expired: 0, late: 0, payload: 0 },
    });
    assert.deepEqual(counts(low), {
      ...{
        lane: "low",
        accepted: 2,
        shed: 1,
        late: 0,
        done: 1,
        failed: 0,
        deferred: 0,
        waits: 1,
        runs: 1,
      },
      blockedWaits: undefined,
      cancelled: 0,
      dead: { attempts: 0, fatal: 0, expired: 1, late: 0, payload: 0 },
    });
  });
});

Deno.test("tally() counts each end of a job once: done, dead or cancelled, waiting or running, kept or not", async () => {
  const keep = { done: 0, dead: 0 };
  const hang = ({ payload }: { payload: unknown }, { signal }: { signal: AbortSignal }) =>
    payload !== "hang"
      ? obedient({ payload })
      : new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const lanes = [{ name: "high", attempts: 1 }];
  await withPool({ handler: hang, size: SIZE, lanes, keep }, async ({ clock, pool }) => {
    const job = (payload: string, more: object = {}) =>
      pool.enqueue({ lane: "high", payload, ...more });
    const running = await job("hang");
    await clock.advance(10);
    const waiting = [await job("ok"), await job("ok", { delayMs: 5_000 })];
    await job("ok", { ttlMs: 5 });
    await job("fatal");
    await job("ok");
    await clock.advance(100); // one expires
    for (const { id } of [...waiting, running]) {
      assert.equal((await pool.change(id, "cancel")).ok, true);
    }
    await clock.advance(10_000);

    const [tally = assert.fail()] = pool.tally();

    const { accepted, done, dead, cancelled } = tally;
    const died = Object.values(dead).reduce((sum, count) => sum + count, 0);
    assert.deepEqual([accepted, done, died, cancelled], [6, 1, 2, 3]);
  });
});

function counts(tally: LaneCounters | undefined): unknown {
  assert.ok(tally !== undefined);
  return { ...tally, waits: tally.waits.count, runs: tally.runs.count };
}

Deno.test("tally() holds waits and run times exactly", async () => {
  const clock = new VirtualClock();
  const handler = sleeper(() => clock, 100);
  await withPool({ handler, size: SIZE }, async ({ pool }) => {
    for (let index = 0; index < 3; index++) await pool.enqueue({ lane: "high", payload: 100 });
    await clock.advance(1_000);

    const [{ waits, runs } = assert.fail()] = pool.tally();

    assert.equal(waits.sumMs, 0 + 100 + 200);
    assert.equal(runs.sumMs, 300);
    assert.equal(runs.count, 3);
  }, { clock });
});

Deno.test("tally() goes on over a reload for the lanes that stay", async () => {
  await withPool({ size: SIZE }, async ({ clock, pool, sluice }) => {
    await pool.enqueue({ lane: "low", payload: 1 });
    await clock.advance(100);

    await sluice.reload({
      pools: { p: { handler: () => "ok", size: SIZE, lanes: [{ name: "new" }, { name: "low" }] } },
    });

    assert.deepEqual(pool.tally().map(({ lane, done }) => [lane, done]), [["new", 0], ["low", 1]]);
  });
});
