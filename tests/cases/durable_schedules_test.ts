import assert from "node:assert/strict";
import { randomStream } from "../../src/base/random.ts";
import type { PoolHandle } from "../../src/runtime/handles.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import type { PoolParts } from "../_virtual.ts";
import { DATABASES, type Death } from "./_durable.ts";

const START = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;

const PARTS: PoolParts = {
  handler: () => "ok",
  schedules: [{ lane: "high", cron: "* * * * *", payload: 1, catchUp: "all" }],
  leaseMs: 10_000,
  tickMs: 500,
};

async function jobsOf(pool: PoolHandle): Promise<number> {
  return (await pool.list({ limit: 100 })).jobs.length;
}

for (const [where, withDatabase] of DATABASES) {
  // E8
  Deno.test(`a time of a schedule has one job ${where}, whatever the clocks of its processes say`, async () => {
    await withDatabase(async (bench) => {
      for (const skewMs of [0, 700, -40_000]) {
        await bench.start(PARTS, { clock: new VirtualClock(START + 1000 + skewMs) });
      }
      await bench.advance(4 * MINUTE, { stepMs: 1000 });

      const { pool, clock } = bench.processes[0]!;
      const first = bench.processes[1]!.clock.nowMs();
      assert.equal(await jobsOf(pool), Math.floor((first - START) / MINUTE));
      const ended = bench.referee.events.filter(({ kind }) => kind === "job-done");
      assert.equal(ended.length, Math.floor((clock.nowMs() - START) / MINUTE));
    });
  });

  Deno.test(`a schedule without overlap has one job at a time ${where}, in all processes`, async () => {
    await withDatabase(async (bench) => {
      const ends: (() => void)[] = [];
      const parts: PoolParts = {
        ...PARTS,
        handler: () => new Promise<void>((resolve) => ends.push(resolve)),
        timeoutMs: 60 * MINUTE,
        schedules: [{ lane: "high", everyMs: MINUTE, overlap: false }],
      };
      const { pool } = await bench.start(parts);
      await bench.start(parts);
      await bench.advance(4 * MINUTE, { stepMs: 1000 });

      assert.equal(ends.length, 1);
      const skippedAtMs = (await pool.schedules())[0]?.skippedAtMs ?? 0;
      assert.ok(skippedAtMs >= START + 3 * MINUTE, `${skippedAtMs - START}`);
      ends[0]!();
      await bench.advance(MINUTE, { stepMs: 1000 });
      assert.equal(ends.length, 2);
      for (const end of ends) end();
    });
  });

  // C1
  Deno.test(`a time of a schedule has one job ${where}, though a process dies at each of them`, async () => {
    await withDatabase(async (bench) => {
      const chance = randomStream(3, where);
      const deaths: readonly Death[] = ["before", "after"];
      const clock = (): VirtualClock => new VirtualClock(bench.clock.nowMs());
      const { pool } = await bench.start(PARTS);
      for (let minute = 0; minute < 6; minute++) {
        const doomed = [
          await bench.start(PARTS, { clock: clock() }),
          await bench.start(PARTS, { clock: clock() }),
        ];
        await bench.advance(MINUTE - 2000, { stepMs: 2000 });
        await bench.advance(1990, { stepMs: 199 });
        for (const process of doomed) bench.kill(process, deaths[Math.floor(chance() * 2)]);
        await bench.advance(510, { stepMs: 10 });
        for (const process of doomed) bench.kill(process);
        await bench.advance(1000 * Math.floor(chance() * 3), { stepMs: 500 });
      }

      const times = Math.floor((bench.clock.nowMs() - START) / MINUTE);
      assert.ok(times >= 6, `${times}`);
      assert.equal(await jobsOf(pool), times);
      await bench.advance(12_000, { stepMs: 500 });
      const { jobs } = await pool.list({ limit: 100 });
      assert.deepEqual(jobs.filter(({ state }) => state !== "done"), []);
    });
  });
}
