import assert from "node:assert/strict";
import type { PoolParts } from "../_virtual.ts";
import { withPool } from "../_virtual.ts";
import { withBench } from "../cases/_bench.ts";

const START = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;

Deno.test("a schedule with an interval adds a job at each of its times, in one of all processes", async () => {
  await withBench(async (bench) => {
    const ran: unknown[] = [];
    const parts: PoolParts = {
      handler: ({ payload }: { payload: unknown }) => void ran.push(payload),
      schedules: [{ lane: "high", everyMs: 15 * MINUTE, payload: 1 }],
    };
    const [one] = [await bench.start(parts), await bench.start(parts)];
    await bench.clock.advance(60 * MINUTE + 100);

    assert.deepEqual(ran, [1, 1, 1, 1]);
    const [view] = await one.pool.schedules();
    assert.deepEqual([view?.cron, view?.everyMs, view?.nextAtMs], [
      undefined,
      15 * MINUTE,
      START + 75 * MINUTE,
    ]);
  });
});

Deno.test("a schedule with a jitter adds its job at its time, due by chance within the jitter", async () => {
  const begun: number[] = [];
  const parts: PoolParts = {
    handler: ({ createdAtMs }: { createdAtMs: number }) => {
      begun.push(now() - createdAtMs);
    },
    schedules: [{ lane: "high", everyMs: MINUTE, jitterMs: 20_000 }],
  };
  let now = (): number => 0;
  await withPool(parts, async ({ clock }) => {
    now = () => clock.nowMs();
    await clock.advance(50 * MINUTE + 30_000);

    assert.equal(begun.length, 50);
    assert.ok(begun.every((ms) => ms >= 0 && ms <= 20_000), String(begun));
    assert.ok(new Set(begun).size > 40 && Math.max(...begun) > 15_000, String(begun));
  });
});

Deno.test("without overlap a time passes without a job while the latest one has not ended, and that is said", async () => {
  await withBench(async (bench) => {
    const ends: (() => void)[] = [];
    const parts: PoolParts = {
      handler: () => new Promise<void>((resolve) => ends.push(resolve)),
      timeoutMs: 60 * MINUTE,
      schedules: [{ lane: "high", everyMs: MINUTE, overlap: false }],
    };
    const [one, other] = [await bench.start(parts), await bench.start(parts)];
    await bench.clock.advance(3 * MINUTE + 100);

    assert.equal(ends.length, 1);
    const [late] = await other.pool.schedules();
    assert.equal(late?.skippedAtMs, START + 3 * MINUTE);
    assert.equal(late?.nextAtMs, START + 4 * MINUTE);
    ends[0]!();
    await bench.clock.advance(MINUTE);
    const [after] = await one.pool.schedules();
    assert.equal(ends.length, 2);
    assert.deepEqual([after?.skippedAtMs, after?.lastAtMs], [
      START + 3 * MINUTE,
      START + 4 * MINUTE,
    ]);
    assert.notEqual(after?.lastJob, late?.lastJob);
    await one.pool.changeSchedule(after!.id, "run"); // by hand, in any case
    await bench.clock.advance(100);
    assert.equal(ends.length, 3);
    for (const end of ends) end();
    await bench.clock.advance(100);
  });
});
