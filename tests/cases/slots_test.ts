import assert from "node:assert/strict";
import { RetryLater } from "../../src/contract/errors.ts";
import type { Job, JobContext } from "../../src/contract/job.ts";
import { randomStream } from "../../src/base/random.ts";
import type { JobHandle } from "../../src/runtime/handles.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { mostInASecond } from "../_rate.ts";
import { sleeper } from "../_virtual.ts";
import { Bench, FaultyStore, type Process, withCase } from "./_bench.ts";

/** How a run goes wrong. */
const ENDS = ["ok", "throws", "hangs", "deaf", "late", "cancelled"] as const;

// C1
for (const seed of [1, 2]) {
  Deno.test(`slots come back however runs end, 200 times (seed ${seed})`, async () => {
    const bench = new Bench();
    const chance = randomStream(seed);
    const deaf: (() => void)[] = [];
    const handler = (job: Job, { signal }: JobContext): unknown => {
      const end = job.payload;
      if (end === "throws") throw new Error("crash");
      return new Promise<void>((resolve, reject) => {
        if (end === "deaf") return void deaf.push(resolve);
        if (end === "late") return void bench.clock.at(bench.clock.nowMs() + 900, resolve); // in its grace
        signal.addEventListener("abort", () => reject(signal.reason));
        if (end !== "hangs") bench.clock.at(bench.clock.nowMs() + 20, resolve);
      });
    };
    const parts = {
      handler,
      lanes: [{ name: "high", attempts: 2, maxRunningPerKey: 2, maxRunning: 3 }, { name: "low" }],
      caps: [{ use: "fixed-cap", with: { workers: 4 } }],
      size: { min: 2, max: 8 },
      timeoutMs: 500,
      lanePolicy: "strict-priority",
      admission: "admit-all",
    } as const;
    await withCase(parts, async ({ pool, seat }) => {
      const jobs: JobHandle[] = [];
      for (let round = 0; round < 200; round++) {
        const end = ENDS[Math.floor(chance() * ENDS.length)]!;
        const lane = chance() < 0.5 ? "high" : "low";
        const key = `k${Math.floor(chance() * 3)}`;
        const job = await pool.enqueue({ lane, payload: end, key });
        jobs.push(job);
        await bench.advance(chance() * 200, { stepMs: 50 });
        if (end === "cancelled") await pool.change(job.id, "cancel");
        if (deaf.length >= 3) deaf.splice(0).forEach((wake) => wake());
      }
      for (let round = 0; round < 40; round++) {
        deaf.splice(0).forEach((wake) => wake());
        await bench.advance(5000, { stepMs: 250 });
      }
      await bench.referee.account(pool, jobs);
      assert.deepEqual([seat.handlers, seat.running.size], [0, 0]);
      assert.ok(pool.snapshot().lanes.every((lane) => lane.running === 0 && lane.blocked === 0));

      const before = pool.snapshot().totals.completions;
      for (let index = 0; index < 400; index++) {
        pool.post({ lane: "low", payload: "ok", key: `k${index % 3}` });
      }
      await bench.advance(2020, { stepMs: 20 });
      assert.ok(pool.snapshot().totals.completions - before >= 395); // 4 workers, 20 ms a job
    }, { bench, cap: 4 });
  });
}

// C3
for (const heeds of [true, false]) {
  Deno.test(`a holder that was frozen past its lease ends nothing and takes no place (handlers ${heeds ? "heed" : "ignore"} the abort)`, async () => {
    const bench = new Bench();
    const clocks = [new VirtualClock(), new VirtualClock()] as const;
    const aborts: string[] = [];
    const runsOf = (clock: VirtualClock) => (job: Job, context: JobContext): unknown => {
      const { signal } = context;
      signal.addEventListener("abort", () => aborts.push(signal.reason.why));
      return heeds
        ? sleeper(() => clock, 4000)(job, context)
        : new Promise<void>((resolve) => clock.at(clock.nowMs() + 4000, resolve));
    };
    const parts = (clock: VirtualClock) => ({
      handler: runsOf(clock),
      lanes: [{ name: "high", maxRunningPerKey: 1, attempts: 50 }],
      size: { min: 2, max: 4 },
      leaseMs: 1000,
    });
    const holders: Process[] = [];
    try {
      for (const clock of clocks) holders.push(await bench.start(parts(clock), { clock }));
      const jobs: JobHandle[] = [];
      for (let index = 0; index < 12; index++) {
        jobs.push(await holders[0]!.pool.enqueue({ lane: "high", payload: 4000, key: "k" }));
      }
      await bench.advance(500);

      for (let round = 0; round < 5; round++) {
        const frozen = holders.find(({ seat }) => seat.running.size > 0)!;
        await bench.advance(6000, { frozen: [frozen] });
        assert.equal(await runningByStore(holders), 1);
        const late = 6000;
        await frozen.clock.advance(late); // thawed: its timers all fire, one after the other
        await bench.settle();
        assert.equal(await runningByStore(holders), 1);
        await bench.advance(300);
      }
      const lost = bench.referee.events.filter(({ kind }) => kind === "lease-lost");
      assert.ok(lost.length >= 5, `${lost.length}`);
      const reaped = bench.referee.events.filter(({ kind }) => kind === "jobs-reaped");
      assert.ok(reaped.length >= 5, `${reaped.length}`);
      assert.deepEqual(aborts, aborts.map(() => "lease-lost"));
      assert.ok(aborts.length >= 5, `${aborts.length}`);
      await bench.advance(100_000, { stepMs: 100 });
      await bench.referee.account(holders[0]!.pool, jobs);
      const done = bench.referee.events.filter(({ kind }) => kind === "job-done");
      assert.equal(done.length, 12);
    } finally {
      await bench.stop();
    }
  });
}

/** Jobs that someone holds, as the store knows it. */
async function runningByStore(holders: readonly Process[]): Promise<number> {
  return (await holders[0]!.pool.list({ state: "running", limit: 10 })).jobs.length;
}

// C6
for (const latencyMs of [undefined, 0, 30]) {
  Deno.test(`one key runs one job at a time, over two pools of eight workers (store answers ${latencyMs === undefined ? "at once" : `after ${latencyMs} ms`})`, async () => {
    const store = new FaultyStore();
    const bench = new Bench(store);
    store.after = latencyMs === undefined ? undefined : bench.clock;
    store.latencyMs = latencyMs ?? 0;
    let running = 0;
    const sleep = sleeper(() => bench.clock, 50);
    const handler = async (job: Job, context: JobContext): Promise<void> => {
      assert.equal(++running, 1);
      await sleep(job, context);
      running--;
    };
    const parts = {
      handler,
      lanes: [{ name: "high", maxRunningPerKey: 1 }],
      size: { min: 8, max: 8 },
    };
    try {
      const one = await bench.start(parts);
      await bench.start(parts);
      const given = { lane: "high", payload: 50, key: "serial" };
      const adding = one.pool.enqueueAll(Array.from({ length: 12 }, () => given));
      await bench.advance(3000);

      const jobs = await adding as readonly JobHandle[]; // nothing refuses them
      await bench.referee.account(one.pool, jobs);
      for (const job of jobs) assert.equal((await job.done).state, "done");
      const order = bench.referee.events.flatMap((event) =>
        event.kind === "job-started" ? [event.id] : []
      );
      assert.deepEqual(order, jobs.map(({ id }) => id));
    } finally {
      await bench.stop();
    }
  });
}

const rateParts = (bench: Bench) => ({
  handler: sleeper(() => bench.clock, 20),
  caps: [{ use: "api-rate-cap", with: { callsPerSec: 10, headroom: 0 } }],
  size: { min: 1, max: 20 },
  lanes: [{ name: "high" }],
  admission: "admit-all",
} as const);

/** Most starts of all processes in any half-open second. */
function mostStarts(bench: Bench): number {
  return mostInASecond(
    bench.referee.events.flatMap((event) => event.kind === "job-started" ? [event.atMs] : []),
  );
}

// C10
Deno.test("a rate of the cluster holds in every second over four processes, for bursts after quiet times", async () => {
  const bench = new Bench();
  try {
    const { pool } = await bench.start(rateParts(bench));
    for (let index = 0; index < 3; index++) await bench.start(rateParts(bench));
    await bench.advance(1500);
    for (let burst = 0; burst < 8; burst++) {
      for (let index = 0; index < 25; index++) pool.post({ lane: "high", payload: 20 });
      await bench.advance(burst % 2 === 0 ? 950 : 4100);
    }

    assert.ok(mostStarts(bench) <= 10, `${mostStarts(bench)} in a second`);
    assert.ok(bench.referee.events.filter(({ kind }) => kind === "job-started").length > 100);
  } finally {
    await bench.stop();
  }
});

// C10
Deno.test("a rate of the cluster holds in every second while processes come, go and die", async () => {
  const bench = new Bench();
  try {
    const parts = { ...rateParts(bench), leaseMs: 3000 };
    const first = await bench.start(parts);
    const dying = await bench.start({ ...parts, handler: () => 1 }, { clock: new VirtualClock() });
    for (let index = 0; index < 300; index++) first.pool.post({ lane: "high", payload: 20 });
    for (let index = 0; index < 3; index++) {
      await bench.advance(1700 + 130 * index);
      await bench.start(parts);
    }
    await bench.advance(1550);
    const leaving = bench.processes[2]!.sluice.stop();
    await bench.advance(1330);
    await leaving;
    await bench.advance(7000, { frozen: [dying] });
    assert.equal(first.pool.snapshot().peers, 3);
    const other = bench.processes[3]!.sluice.stop();
    await bench.advance(4000, { frozen: [dying] });
    await other;

    assert.ok(mostStarts(bench) <= 10, `${mostStarts(bench)} in a second`);
  } finally {
    await bench.stop();
  }
});

// C12
Deno.test("jobs that were told to come back in a minute come back spread out, and never as one again", async () => {
  const bench = new Bench();
  const began = bench.clock.nowMs();
  const tries = new Map<string, number[]>();
  const handler = (job: Job, context: JobContext): void => {
    const at = tries.get(job.id) ?? [];
    tries.set(job.id, [...at, bench.clock.nowMs() - began]);
    if (at.length < 3) {
      context.overloaded(60_000);
      throw new RetryLater(60_000, "429");
    }
  };
  const parts = { handler, size: { min: 30, max: 30 }, cooldown: false } as const; // of each job alone
  await withCase(parts, async ({ pool }) => {
    const jobs: JobHandle[] = [];
    for (let index = 0; index < 30; index++) {
      jobs.push(await pool.enqueue({ lane: "high", payload: index }));
    }
    await bench.advance(400_000, { stepMs: 500 });

    await bench.referee.account(pool, jobs);
    for (let attempt = 1; attempt <= 3; attempt++) {
      const times = [...tries.values()].map((at) => at[attempt]!);
      for (const at of tries.values()) assert.ok(at[attempt]! - at[attempt - 1]! >= 60_000);
      times.sort((a, b) => a - b);
      for (let index = 5; index < 30; index++) {
        assert.ok(times[index]! - times[index - 5]! > 100, "six within a tenth of a second");
      }
    }
    const { totals } = pool.snapshot();
    assert.deepEqual([totals.overloads, totals.deferrals, totals.failures], [90, 90, 0]);
  }, { bench });
});
