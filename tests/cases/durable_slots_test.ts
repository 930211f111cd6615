import assert from "node:assert/strict";
import type { Job, JobContext } from "../../src/contract/job.ts";
import { randomStream } from "../../src/base/random.ts";
import type { JobHandle, PoolHandle } from "../../src/runtime/handles.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { sleeper } from "../_virtual.ts";
import type { Process } from "./_bench.ts";
import { DATABASES, type Death } from "./_durable.ts";

const DEATHS: readonly (Death | undefined)[] = ["before", "after", undefined];

/** Jobs that someone holds, as the store knows it. */
async function running(pool: PoolHandle): Promise<number> {
  return (await pool.list({ state: "running", limit: 100 })).jobs.length;
}

for (const [where, withDatabase] of DATABASES) {
  const [rounds, victims] = where === "on a file" ? [25, 8] : [2, 5];

  // C1
  Deno.test(`slots come back ${where} after ${rounds * victims} processes have died in a claim, a run or a finish`, async () => {
    await withDatabase(async (bench) => {
      const chance = randomStream(1, where);
      const draw = (below: number): number => Math.floor(chance() * below);
      const partsOf = (clock: VirtualClock) => {
        const sleep = sleeper(() => clock, 100);
        const handler = async (job: Job, context: JobContext): Promise<void> => {
          await sleep(job, context);
          if (job.attempt === 1 && Number(job.payload) % 7 === 1) throw new Error("down");
        };
        return {
          handler,
          lanes: [{
            name: "high",
            maxRunningPerKey: 4,
            attempts: 1000,
            backoff: { baseMs: 50, maxMs: 50 },
          }],
          caps: [{ use: "fixed-cap", with: { workers: 12 }, scope: "cluster" }],
          size: { min: 1, max: 12 },
          leaseMs: 3000,
          admission: "admit-all",
        } as const;
      };
      const { pool } = await bench.start(partsOf(bench.clock));
      const jobs: JobHandle[] = [];
      for (let round = 0; round < rounds; round++) {
        const entries = Array.from({ length: 20 }, () => (
          { lane: "high", payload: 10 + draw(200), key: "k" }
        ));
        jobs.push(...await pool.enqueueAll(entries) as JobHandle[]);
        const doomed: Process[] = [];
        for (let index = 0; index < victims; index++) {
          const clock = new VirtualClock(bench.clock.nowMs());
          doomed.push(await bench.start(partsOf(clock), { clock }));
        }
        for (const process of doomed) {
          await bench.advance(draw(120), { stepMs: 40 });
          bench.kill(process, DEATHS[draw(DEATHS.length)]);
          assert.ok(await running(pool) <= 4);
        }
        await bench.advance(1500, { stepMs: 100 });
        for (const process of doomed) bench.kill(process); // those that had nothing to call for
      }
      await bench.advance(4500, { stepMs: 100 }); // a lease, and a third until that is seen

      const reaped = bench.referee.events.flatMap((event) =>
        event.kind === "jobs-reaped" ? [event.count] : []
      );
      assert.ok(reaped.length > 0);
      assert.equal(pool.snapshot().reaped > 0, true);
      const isDrained = (): boolean =>
        pool.snapshot().lanes.every(({ ready, blocked, delayed, running }) =>
          ready + blocked + delayed + running === 0
        );
      await bench.until(isDrained, { mostMs: 200_000 });
      const before = pool.snapshot().totals.completions;
      const rest = await pool.enqueueAll(
        Array.from({ length: 60 }, () => ({ lane: "high", payload: 100, key: "k" })),
      ) as JobHandle[];
      await bench.advance(1500, { stepMs: 25 });
      const gained = pool.snapshot().totals.completions - before;
      assert.ok(gained >= 40, `${gained}`); // four at once, each a step of time or two late
      await bench.until(isDrained);
      for (const { id } of [...jobs, ...rest]) {
        assert.equal((await pool.find(id))?.state, "done", id);
      }
      assert.equal(await running(pool), 0);
    });
  });
}
