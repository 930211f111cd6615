/**
 * Random schedules of everything that can happen to a pool, on a virtual clock.
 *
 * @module
 */

import assert from "node:assert/strict";
import fc from "fast-check";
import type { PoolEvent } from "../../src/contract/event.ts";
import { Fatal, RejectedError, RetryLater } from "../../src/contract/errors.ts";
import type { Job, JobContext } from "../../src/contract/job.ts";
import type { JobHandle, PoolHandle } from "../../src/runtime/handles.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { withPool } from "../_virtual.ts";

const CAP = 5;
const MIN = 1;
const MAX = 6;
const PER_KEY = 2;

type Step =
  | { readonly do: "enqueue"; readonly lane: "high" | "low"; readonly plan: Plan }
  | { readonly do: "advance"; readonly ms: number }
  | { readonly do: "pause" | "resume"; readonly lane: "high" | "low" | undefined }
  | { readonly do: "cancel"; readonly which: number }
  | { readonly do: "override"; readonly target: number };

interface Plan {
  readonly ms: number;
  readonly end: "ok" | "throw" | "later" | "fatal" | "once";
  readonly key: number;
  readonly delayMs: number;
  readonly heedsAbort: boolean;
}

const plans = fc.record<Plan>({
  ms: fc.integer({ min: 0, max: 400 }),
  end: fc.constantFrom("ok", "ok", "ok", "throw", "later", "fatal", "once"),
  key: fc.integer({ min: 0, max: 3 }),
  delayMs: fc.constantFrom(0, 0, 0, 10, 200),
  heedsAbort: fc.boolean(),
});

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("enqueue" as const),
      lane: fc.constantFrom("high" as const, "low" as const),
      plan: plans,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("advance" as const),
      ms: fc.integer({ min: 0, max: 300 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom("pause" as const, "resume" as const),
      lane: fc.constantFrom("high" as const, "low" as const, undefined),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("cancel" as const), which: fc.nat(60) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("override" as const),
      target: fc.integer({ min: MIN, max: MAX }),
    }),
  },
);

/** Watches a run and fails it at the first breach. */
class Referee {
  readonly runs = new Map<string, number>();
  readonly running = new Map<string, number>();
  readonly keys = new Map<string, number>();
  interrupted = 0;

  constructor(readonly clock: VirtualClock) {}

  handler = (job: Job, context: JobContext): Promise<string> => {
    const plan = job.payload as Plan; // the test enqueues nothing else
    this.runs.set(job.id, (this.runs.get(job.id) ?? 0) + 1);
    this.#count(this.running, job.id, 1);
    assert.equal(this.running.get(job.id), 1, `${job.id} runs twice at once`);
    const total = [...this.running.values()].reduce((sum, count) => sum + count, 0);
    assert.ok(total <= CAP, `${total} run`);
    if (job.key !== undefined) {
      this.#count(this.keys, job.key, 1);
      assert.ok(this.keys.get(job.key)! <= PER_KEY, `${this.keys.get(job.key)} of ${job.key} run`);
    }
    return new Promise((resolve, reject) => {
      let ended = false;
      const end = (how: () => void): void => {
        if (ended) return;
        ended = true;
        timer.cancel();
        this.#count(this.running, job.id, -1);
        if (job.key !== undefined) this.#count(this.keys, job.key, -1);
        how();
      };
      const timer = this.clock.at(this.clock.nowMs() + plan.ms, () =>
        end(() => {
          if (plan.end === "throw" || (plan.end === "once" && job.attempt === 1)) {
            reject(new Error("failed"));
          } else if (plan.end === "later" && this.runs.get(job.id)! < 3) {
            reject(new RetryLater(30));
          } else if (plan.end === "fatal") reject(new Fatal("no"));
          else resolve("ok");
        }));
      if (!plan.heedsAbort) return;
      context.signal.addEventListener("abort", () => end(() => reject(context.signal.reason)));
    });
  };

  check(pool: PoolHandle): void {
    const { live, workers, size, totals, lanes } = pool.snapshot();
    assert.ok(workers.length <= CAP, `${workers.length} workers`);
    assert.ok(live >= Math.min(size.min, CAP) - workers.filter((w) => w.state === "stuck").length);
    assert.ok(live <= size.max);
    assert.equal(
      lanes.reduce((sum, lane) => sum + lane.running, 0),
      [...this.running.values()].reduce((a, b) => a + b, 0),
    );
    assert.ok(totals.starts >= totals.completions + totals.failures + totals.deferrals);
  }

  #count(map: Map<string, number>, key: string, change: number): void {
    const count = (map.get(key) ?? 0) + change;
    if (count === 0) map.delete(key);
    else map.set(key, count);
  }
}

async function play(schedule: readonly Step[], drainMs: number): Promise<void> {
  const clock = new VirtualClock();
  const referee = new Referee(clock);
  const parts = {
    handler: referee.handler,
    size: { min: MIN, max: MAX },
    caps: [{ use: "fixed-cap", with: { workers: CAP } }],
    lanes: [
      {
        name: "high",
        attempts: 2,
        backoff: { baseMs: 20, maxMs: 100, jitter: 0.5 },
        maxRunningPerKey: PER_KEY,
      },
      {
        name: "low",
        attempts: 3,
        backoff: { baseMs: 20, maxMs: 100, jitter: 0.5 },
        maxDepth: 30,
        maxRunning: 3,
      },
    ],
    lanePolicy: { use: "reserved-lane", with: { reserve: { high: 1 } } },
    drainMs,
  } as const;
  await withPool(parts, async ({ pool, events }) => {
    const jobs: JobHandle[] = [];
    for (const step of schedule) {
      await act(step, pool, jobs, clock);
      await clock.settle();
      referee.check(pool);
    }
    await pool.resume();
    await pool.resume("high");
    await pool.resume("low");
    await clock.advance(20_000);
    referee.check(pool);

    assert.equal(referee.running.size, 0);
    for (const job of jobs) {
      const record = await pool.find(job.id);
      assert.ok(
        record !== undefined && record.endedAtMs !== undefined,
        `${job.id} is lost: ${record?.state}`,
      );
      assert.equal((await job.done).state, record.state);
    }
    checkEvents(events, jobs);
  }, { clock });
}

async function act(
  step: Step,
  pool: PoolHandle,
  jobs: JobHandle[],
  clock: VirtualClock,
): Promise<void> {
  switch (step.do) {
    case "enqueue": {
      const { plan, lane } = step;
      const key = lane === "high" ? { key: `k${plan.key}` } : {};
      try {
        jobs.push(await pool.enqueue({ lane, payload: plan, delayMs: plan.delayMs, ...key }));
      } catch (thrown) {
        assert.ok(thrown instanceof RejectedError);
      }
      return;
    }
    case "advance":
      return await clock.advance(step.ms);
    case "pause":
      return await pool.pause(step.lane);
    case "resume":
      return await pool.resume(step.lane);
    case "cancel": {
      const job = jobs[step.which];
      if (job !== undefined) await pool.change(job.id, "cancel");
      return;
    }
    case "override":
      return pool.override({ target: step.target }, 500);
  }
}

/** Each job ends once, by one end; nothing is ever handed back or interrupted by scaling. */
function checkEvents(events: readonly PoolEvent[], jobs: readonly JobHandle[]): void {
  const ends = new Map<string, number>();
  for (const event of events) {
    if (event.kind === "job-done" || event.kind === "job-dead" || event.kind === "job-cancelled") {
      ends.set(event.id, (ends.get(event.id) ?? 0) + 1);
    }
    assert.notEqual(event.kind, "job-handed-back");
    assert.notEqual(event.kind, "lease-lost");
    assert.notEqual(event.kind, "plugin-failed");
  }
  for (const job of jobs) {
    assert.equal(ends.get(job.id), 1, `${job.id} ended ${ends.get(job.id)} times`);
  }
}

Deno.test("A pool loses no job, runs none twice and stays within its bounds, for any schedule", async () => {
  const schedules = fc.array(steps, { minLength: 5, maxLength: 60 });
  await fc.assert(fc.asyncProperty(schedules, (schedule) => play(schedule, 30_000)), {
    numRuns: 150,
  });
});

Deno.test("A drain at any moment ends every job or hands it back, uncharged", async () => {
  const schedules = fc.array(steps, { minLength: 5, maxLength: 40 });
  const property = fc.asyncProperty(schedules, fc.nat(500), async (schedule, drainMs) => {
    const clock = new VirtualClock();
    const referee = new Referee(clock);
    const parts = {
      handler: referee.handler,
      size: { min: MIN, max: MAX },
      caps: [{ use: "fixed-cap", with: { workers: CAP } }],
      lanes: [{ name: "high", maxRunningPerKey: PER_KEY }, { name: "low" }],
      drainMs,
    } as const;
    await withPool(parts, async ({ pool, sluice, events }) => {
      const jobs: JobHandle[] = [];
      for (const step of schedule) await act(step, pool, jobs, clock);
      const before = pool.snapshot().lanes.reduce((sum, lane) => sum + lane.running, 0);
      const stopping = sluice.stop();
      await clock.advance(drainMs + 20_000);
      const report = await stopping;

      assert.ok(report.handedBack.length <= before);
      const outcomes = await Promise.all(jobs.map((job) => job.done));
      const unfinished = outcomes.filter((outcome) => outcome.state === "unfinished").length;
      assert.ok(unfinished >= report.handedBack.length);
      for (const id of report.handedBack) {
        const event = events.find((event) => event.kind === "job-handed-back" && event.id === id);
        assert.notEqual(event, undefined);
      }
      await assert.rejects(pool.enqueue({ lane: "high", payload: 1 }), /pool "p" is stopping/);
    }, { clock });
  });
  await fc.assert(property, { numRuns: 100 });
});
