import assert from "node:assert/strict";
import { start } from "../../mod.ts";
import type { Logger } from "../../src/contract/job.ts";
import { silentLogger } from "../../src/runtime/log.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { RetryLater } from "../../src/contract/errors.ts";
import { defineStore } from "../../src/contract/plugin.ts";
import type { QueueOptions } from "../../src/contract/store.ts";
import { MemoryStore } from "../../stores/memory/mod.ts";
import { sleeper, withPool } from "../_virtual.ts";

const START = Date.UTC(2026, 0, 1);
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How far people, NTP and sleeping machines set clocks. */
const STEPS = [2 * SECOND, 40 * SECOND, 5 * MINUTE, HOUR, DAY, 30 * DAY, 3650 * DAY];

/** Notes when, by the wall clock, jobs start. */
function noter(clock: VirtualClock): { readonly at: number[]; readonly handler: () => void } {
  const at: number[] = [];
  return { at, handler: () => void at.push(clock.wall.at(clock.nowMs())) };
}

for (const byMs of STEPS.flatMap((ms) => [ms, -ms])) {
  const name = `${byMs / SECOND} s`;

  Deno.test(`a schedule follows the wall clock within a minute of a step by ${name}`, async () => {
    const clock = new VirtualClock();
    const { at, handler } = noter(clock);
    const schedules = [{ lane: "high", cron: "* * * * *" }];
    await withPool({ handler, schedules }, async ({ pool }) => {
      await clock.advance(3.5 * MINUTE);
      assert.equal(at.length, 3);
      clock.stepWall(byMs);
      at.length = 0;

      await clock.advance(2 * MINUTE);

      const full = Math.ceil((START + 3.5 * MINUTE + byMs) / MINUTE) * MINUTE;
      const times = at.filter((ms) => ms >= full); // a step forward makes up for a time just missed
      assert.ok(times[0]! <= full + MINUTE, `${times[0]} of ${full}`);
      for (const ms of times) assert.equal(ms % MINUTE, 0);
      assert.ok(pool.snapshot().schedules[0]!.nextAtMs! <= full + 2 * MINUTE);
    }, { clock });
  });

  Deno.test(`a delayed job and a retry follow the wall clock at a step by ${name}`, async () => {
    const clock = new VirtualClock();
    const at: Record<string, number> = {};
    const lanes = [{ name: "high", backoff: { baseMs: 30_000, maxMs: 30_000, jitter: 0 } }];
    const handler = ({ payload }: { payload: unknown }): void => {
      const first = at[String(payload)] === undefined;
      at[String(payload)] = clock.nowMs() - START;
      if (payload === "fails" && first) throw new Error("first");
    };
    await withPool({ handler, lanes }, async ({ pool }) => {
      await pool.enqueue({ lane: "high", payload: "fails" });
      await pool.enqueue({ lane: "high", payload: "delayed", delayMs: 40 * SECOND });
      await clock.advance(10 * SECOND);

      clock.stepWall(byMs);
      await clock.advance(10 * SECOND);
      await pool.enqueue({ lane: "high", payload: "after", delayMs: 20 * SECOND });
      await clock.advance(100 * SECOND);

      assert.equal(at["after"], 40 * SECOND);
      // Their time by the wall clock; at most a minute late, never when they are not due.
      const dueMs = (ms: number): number => Math.max(10 * SECOND, ms - byMs);
      if (byMs > 0) {
        assert.equal(at["fails"], dueMs(30 * SECOND));
        assert.equal(at["delayed"], dueMs(40 * SECOND));
      } else {
        assert.ok(at["fails"]! >= 30 * SECOND && at["fails"]! <= 90 * SECOND, `${at["fails"]}`);
        assert.ok(at["delayed"]! >= 40 * SECOND && at["delayed"]! <= 100 * SECOND);
      }
    }, { clock });
  });

  Deno.test(`running jobs, limits, waits and rates go on at a step by ${name}`, async () => {
    const clock = new VirtualClock();
    const caps = [{ use: "api-rate-cap", with: { callsPerSec: 10 } }];
    const parts = {
      handler: sleeper(() => clock, 30 * SECOND),
      size: { min: 2, max: 2 },
      lanes: [{ name: "high", deadlineMs: 5 * MINUTE }],
      timeoutMs: MINUTE,
      leaseMs: 10 * SECOND,
      caps,
    };
    await withPool(parts, async ({ pool, events }) => {
      const jobs = await pool.enqueueAll(
        Array.from({ length: 4 }, () => ({ lane: "high", payload: null })),
      );
      await clock.advance(10 * SECOND);

      clock.stepWall(byMs);
      await clock.advance(SECOND);
      const [lane] = pool.snapshot().lanes;
      await clock.advance(89 * SECOND);

      // The wait of a job that came at a time that comes again begins again.
      const waited = byMs <= -10 * SECOND ? 0 : 10 * SECOND;
      assert.equal(lane!.oldestWaitMs, waited + SECOND);
      for (const job of jobs) {
        assert.equal("done" in job && (await job.done).state, "done");
      }
      const waits = events.flatMap((event) => event.kind === "job-started" ? [event.waitMs] : []);
      assert.deepEqual(waits, [0, 0, waited + 20 * SECOND, waited + 20 * SECOND]);
      assert.deepEqual(events.filter(({ kind }) => kind === "lease-lost"), []);
    }, { clock });
  });
}

Deno.test("a retry that a failing store takes only after the clock was set back comes in time", async () => {
  const clock = new VirtualClock();
  let isDown = false;
  class Failing extends MemoryStore {
    override open(options: QueueOptions): ReturnType<MemoryStore["open"]> {
      const queue = super.open(options);
      const settle = queue.settle.bind(queue);
      queue.settle = (...given) => {
        if (isDown) throw new Error("the disk is full");
        return settle(...given);
      };
      return queue;
    }
  }
  const starts: number[] = [];
  const handler = (): void => {
    starts.push(clock.nowMs());
    if (starts.length === 1) throw new RetryLater(200);
  };
  const lanes = [{ name: "high" }];
  const config = {
    store: defineStore({ name: "failing", create: () => new Failing() }),
    pools: { p: { handler, lanes, size: { min: 1, max: 1 } } },
  };
  const sluice = await start(config, { clock });
  const pool = sluice.pool("p");
  try {
    clock.stepWall(HOUR);
    isDown = true;
    await pool.enqueue({ lane: "high", payload: 1 });
    await clock.advance(SECOND);
    clock.stepWall(-HOUR);
    await clock.advance(SECOND);
    isDown = false;
    await clock.advance(2 * MINUTE);

    assert.equal(starts.length, 2);
  } finally {
    const stopped = sluice.stop();
    await clock.advance(MINUTE);
    await stopped;
  }
});

Deno.test("a step of the wall clock is reported once, and events have its time from then on", async () => {
  const clock = new VirtualClock();
  await withPool({}, async ({ pool, events }) => {
    await clock.advance(MINUTE);
    clock.stepWall(-HOUR);
    await clock.advance(MINUTE);
    await pool.pause("high");

    const stepped = events.filter(({ kind }) => kind === "clock-stepped");
    const atMs = START + MINUTE - HOUR;
    assert.deepEqual(stepped, [{ kind: "clock-stepped", atMs, pool: "", byMs: -HOUR }]);
    assert.equal(events.at(-1)!.atMs, atMs + MINUTE);
  }, { clock });
});

Deno.test("a step is logged where nobody observes", async () => {
  const clock = new VirtualClock();
  const lines: unknown[] = [];
  const log: Logger = {
    ...silentLogger(),
    warn: (message, fields) => lines.push([message, fields]),
  };
  await withPool({}, async () => {
    clock.stepWall(DAY);
    await clock.settle();

    assert.deepEqual(lines, [["The wall clock was changed, or the machine slept", { byMs: DAY }]]);
  }, { clock, log, observed: false });
});
