import assert from "node:assert/strict";
import { RetryLater } from "../../src/contract/errors.ts";
import type { Job, JobContext } from "../../src/contract/job.ts";
import { randomStream } from "../../src/base/random.ts";
import type { JobHandle } from "../../src/runtime/handles.ts";
import { Bench, FaultyStore, type QueueCall } from "./_bench.ts";

const OUTAGES = [undefined, "throw", "reject"] as const;
const CALLS: readonly QueueCall[] = ["lease", "settle", "renew", "count"];

for (const latencyMs of [undefined, 0, 8]) {
  for (const seed of [1, 2, 3, 4]) {
    // A5, B9, C1: whatever the store's answers do
    Deno.test(`two processes lose nothing on a store that fails now and then and answers ${latencyMs === undefined ? "at once" : `after ${latencyMs} ms`} (seed ${seed})`, async () => {
      const store = new FaultyStore();
      const bench = new Bench(store);
      const chance = randomStream(seed, `${latencyMs}`);
      const draw = (below: number): number => Math.floor(chance() * below);
      store.after = latencyMs === undefined ? undefined : bench.clock;
      store.latencyMs = latencyMs ?? 0;
      const live = new Map<string, number>();
      const keys = new Map<string, number>();
      const handler = (job: Job, { signal }: JobContext): Promise<void> => {
        const runs = (live.get(job.id) ?? 0) + 1;
        live.set(job.id, runs);
        assert.equal(runs, 1, `${job.id} runs twice at once`);
        const key = job.key ?? "";
        keys.set(key, (keys.get(key) ?? 0) + 1);
        if (key !== "") assert.ok(keys.get(key)! <= 2, `${keys.get(key)} of ${key} run`);
        return new Promise<void>((resolve, reject) => {
          const end = (how: () => void): void => {
            timer.cancel();
            live.set(job.id, 0);
            keys.set(key, keys.get(key)! - 1);
            how();
          };
          const ms = Number(job.payload);
          const timer = bench.clock.at(bench.clock.nowMs() + ms, () =>
            end(() => {
              if (ms % 5 === 1 && job.attempt === 1) reject(new Error("down"));
              else if (ms % 5 === 2 && chance() < 0.5) reject(new RetryLater(40));
              else resolve();
            }));
          signal.addEventListener("abort", () => end(() => reject(signal.reason)));
        });
      };
      const parts = {
        handler,
        lanes: [
          { name: "high", maxRunningPerKey: 2, backoff: { baseMs: 30, maxMs: 200 } },
          { name: "low", maxRunning: 2, backoff: { baseMs: 30, maxMs: 200 } },
        ],
        caps: [{ use: "fixed-cap", with: { workers: 5 } }],
        size: { min: 0, max: 6 },
        admission: "admit-all",
        leaseMs: 60_000,
      } as const;
      try {
        const one = await bench.start(parts, { cap: 5 });
        const adding: Promise<JobHandle>[] = [];
        for (let step = 0; step < 150; step++) {
          if (step === 50) await bench.start({ ...parts, size: { min: 1, max: 6 } }, { cap: 5 });
          for (let count = draw(4); count > 0; count--) {
            const lane = chance() < 0.5 ? "high" : "low";
            const delayMs = chance() < 0.2 ? draw(300) : 0;
            const key = lane === "high" ? { key: `k${draw(3)}` } : {};
            adding.push(one.pool.enqueue({ lane, payload: draw(60), delayMs, ...key }));
          }
          if (chance() < 0.15) {
            const failing = CALLS[draw(CALLS.length)];
            const how = OUTAGES[draw(OUTAGES.length)];
            const share = 0.3 + chance();
            store.fault = (call) => call === failing && chance() < share ? how : undefined;
          }
          if (chance() < 0.2) store.fault = () => undefined;
          await bench.advance(draw(80), { stepMs: 20 });
        }
        store.fault = () => undefined;
        await bench.advance(30_000, { stepMs: 100 });

        const jobs = await Promise.all(adding);
        await bench.referee.account(one.pool, jobs);
        assert.ok([...live.values(), ...keys.values()].every((count) => count === 0));
        for (const { pool } of bench.processes) {
          assert.equal(pool.snapshot().stale, false);
          for (const { ready, blocked, delayed, running } of pool.snapshot().lanes) {
            assert.deepEqual([ready, blocked, delayed, running], [0, 0, 0, 0]);
          }
        }
      } finally {
        await bench.stop();
      }
    });
  }
}
