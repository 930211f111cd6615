import assert from "node:assert/strict";
import type { ScheduleView } from "../../mod.ts";
import { MemoryStore } from "../../stores/memory/mod.ts";
import { withPool } from "../_virtual.ts";
import { withBench } from "../cases/_bench.ts";

const START = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;

function parts(ran: unknown[]) {
  return {
    handler: ({ payload }: { payload: unknown }) => void ran.push(payload),
    schedules: [
      { lane: "high", cron: "* * * * *", payload: "often" },
      { lane: "low", cron: "0 0 1 1 *", payload: "yearly" },
    ],
  };
}

function idOf(views: readonly ScheduleView[], lane: string): string {
  return views.find((view) => view.lane === lane)!.id;
}

Deno.test("a schedule knows its latest job, in all processes, however it came", async () => {
  await withBench(async (bench) => {
    const ran: unknown[] = [];
    const [one, other] = [await bench.start(parts(ran)), await bench.start(parts(ran))];
    await bench.clock.advance(MINUTE + 100);
    const [often, yearly] = await other.pool.schedules();

    assert.equal((await one.pool.find(often?.lastJob ?? ""))?.state, "done");
    assert.equal(yearly?.lastJob, undefined);
    await other.pool.changeSchedule(yearly?.id ?? "", "run");
    await bench.clock.advance(100);

    assert.deepEqual(ran, ["often", "yearly"]);
    const [, after] = await one.pool.schedules();
    assert.equal((await one.pool.find(after?.lastJob ?? ""))?.state, "done");
    assert.deepEqual([after?.nextAtMs, after?.lastAtMs], [yearly?.nextAtMs, yearly?.lastAtMs]);
  });
});

Deno.test("a paused schedule adds no job, in any process, and begins again once it is resumed", async () => {
  await withBench(async (bench) => {
    const ran: unknown[] = [];
    const [one, other] = [await bench.start(parts(ran)), await bench.start(parts(ran))];
    const id = idOf(await one.pool.schedules(), "high");
    const paused = await one.pool.changeSchedule(id, "pause");
    await bench.clock.advance(10 * MINUTE);

    assert.deepEqual([paused?.paused, paused?.nextAtMs, ran], [true, undefined, []]);
    assert.equal(other.pool.snapshot().schedules[0]!.paused, true);
    const later = await bench.start(parts(ran));
    await bench.clock.advance(MINUTE);
    assert.deepEqual([later.pool.snapshot().schedules[0]!.paused, ran], [true, []]);

    const resumed = await other.pool.changeSchedule(id, "resume");
    const now = START + 11 * MINUTE;
    assert.deepEqual([resumed?.paused, resumed?.lastAtMs], [false, now]);
    assert.equal(resumed?.nextAtMs, now + MINUTE);
    await bench.clock.advance(2 * MINUTE);
    assert.deepEqual(ran, ["often", "often"]);
  });
});

Deno.test("a schedule that is paused twice, or resumed without a pause, is as after one", async () => {
  const ran: unknown[] = [];
  await withPool(parts(ran), async ({ clock, pool }) => {
    const id = idOf(pool.snapshot().schedules, "high");
    await clock.advance(MINUTE + 100);
    const resumed = await pool.changeSchedule(id, "resume");
    assert.equal(resumed?.lastAtMs, START + MINUTE);
    await pool.changeSchedule(id, "pause");
    await pool.changeSchedule(id, "pause");
    await pool.changeSchedule(id, "run");
    await clock.advance(MINUTE);

    assert.deepEqual(ran, ["often", "often"]);
  });
});

Deno.test("changeSchedule() knows no other id, and no other change", async () => {
  await withPool(parts([]), async ({ pool }) => {
    assert.equal(await pool.changeSchedule("other", "run"), undefined);
    const change = "stop" as "pause"; // from JavaScript
    await assert.rejects(pool.changeSchedule("x", change), {
      name: "TypeError",
      message: 'Expected one of "run", "pause", "resume" but received "stop"',
    });
  });
});

/** A store in memory that says to any first commit of a schedule that another was there before. */
class Contended extends MemoryStore {
  #refused = 0;

  override commit(
    checks: Readonly<Record<string, string | undefined>>,
    sets: Readonly<Record<string, unknown>>,
  ): boolean {
    const isSchedule = Object.keys(sets).some((key) => key.startsWith("schedule/"));
    if (isSchedule && this.#refused++ % 2 === 0) return false;
    return super.commit(checks, sets);
  }
}

Deno.test("a pause that meets a change of another process is made all the same", async () => {
  await withBench(async (bench) => {
    const ran: unknown[] = [];
    const { pool } = await bench.start(parts(ran));
    const id = idOf(await pool.schedules(), "high");
    await pool.changeSchedule(id, "pause");
    await bench.clock.advance(5 * MINUTE);

    assert.deepEqual(ran, []);
  }, new Contended());
});
