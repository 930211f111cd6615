import assert from "node:assert/strict";
import { makeSummary, makeView, VIEW_NOW_MS, type ViewOverrides } from "../../src/testing/views.ts";
import { LaneExtremes, LiveMeter } from "../../src/planning/extremes.ts";
import { HistoryRecorder } from "../../src/planning/history.ts";
import type { MeasuredPool } from "../../src/planning/sample.ts";
import type { Plan } from "../../src/planning/planner.ts";
import type { VirtualClock } from "../../src/time/virtual_clock.ts";
import { sleeper, withPool } from "../_virtual.ts";

const IN_FORCE = { controller: { name: "age-scaler" }, admission: { name: "shed-at-cap" } };

const PLAN: Plan = {
  target: 3,
  limit: 4,
  startsPerSec: Infinity,
  rates: [],
  rateCap: "",
  boundBy: "controller",
  proposals: [
    { by: "age-scaler", kind: "controller", workers: 3, reason: "" },
    { by: "a", kind: "cap", workers: Infinity, reason: "" },
    { by: "b", kind: "cap", workers: 4, reason: "" },
  ],
  reviewAtMs: Infinity,
  failures: [],
};

/** Counts of lanes that no test sets. */
const NONE = {
  arrivals: 0,
  starts: 0,
  late: 0,
  waitedMs: 0,
  completions: 0,
  failures: 0,
  deferrals: 0,
  shed: 0,
  planned: 0,
};

/** A pool as it is measured: `longestWaitMs` and `mostReady` since the last sample, of each lane. */
function at(
  atMs: number,
  overrides: ViewOverrides = {},
  { longestWaitMs = 0, mostReady = 0 } = {},
): MeasuredPool {
  const view = makeView({ ...overrides, nowMs: VIEW_NOW_MS + atMs });
  const lanes = view.lanes.map((lane) => {
    const extremes = new LaneExtremes();
    extremes.waited(longestWaitMs);
    extremes.ready(mostReady);
    return { ...lane, ...NONE, extremes };
  });
  return {
    ...view,
    lanes,
    workerTime: new LiveMeter(view.nowMs, view.live),
    emptyLeases: 0,
    planned: 0,
    ahead: 0,
    leaseMs: 30_000,
    loopBlocks: 0,
    loopBlockedMs: 0,
  };
}

function times(recorder: HistoryRecorder): readonly number[] {
  return recorder.read(IN_FORCE).samples.map(({ atMs }) => atMs - VIEW_NOW_MS);
}

Deno.test("Recorder takes one sample a second, however often it looks", () => {
  const recorder = new HistoryRecorder("p");

  for (let atMs = 0; atMs <= 3000; atMs += 50) recorder.tick(at(atMs), PLAN);

  assert.deepEqual(times(recorder), [0, 1000, 2000, 3000]);
});

Deno.test("Recorder keeps two minutes by the second and an hour by the minute, and no more", () => {
  const recorder = new HistoryRecorder("p");

  for (let atMs = 0; atMs <= 5 * 3_600_000; atMs += 1000) recorder.tick(at(atMs), PLAN);

  const found = times(recorder);
  const gaps = found.slice(1).map((atMs, index) => atMs - found[index]!);
  assert.equal(found.at(-1), 5 * 3_600_000);
  assert.ok(gaps.slice(-119).every((gap) => gap === 1000));
  assert.ok(found.length <= 180);
  assert.ok(found.at(-1)! - found[0]! >= 3_540_000);
  assert.ok(gaps.every((gap) => gap > 0 && gap <= 60_000));
});

Deno.test("Recorder says what sets the limit: the tightest cap, the start rate while it binds, or size.max", () => {
  const recorder = new HistoryRecorder("p");

  recorder.tick(at(0), PLAN);
  recorder.tick(at(1000, { rateBound: true }), { ...PLAN, startsPerSec: 5, rateCap: "cap:a" });
  recorder.tick(at(2000), { ...PLAN, limit: 9 });

  const { samples } = recorder.read(IN_FORCE);
  assert.deepEqual(samples.map(({ boundBy }) => boundBy), ["cap:b", "cap:a", "size.max"]);
});

Deno.test("Recorder remembers the fewest workers that lower lanes left while they had ready jobs", () => {
  const recorder = new HistoryRecorder("p");
  const lanes = (low: number, ready: number): ViewOverrides => ({
    live: 10,
    busy: 10,
    lanes: [{ name: "high" }, { name: "low", running: low, ready }],
  });

  recorder.tick(at(0, lanes(8, 0)), PLAN);
  recorder.tick(at(500, lanes(7, 4)), PLAN);
  recorder.tick(at(750, lanes(9, 0)), PLAN);
  recorder.tick(at(1000, lanes(6, 4)), PLAN);

  const { samples } = recorder.read(IN_FORCE);
  assert.deepEqual(samples.map(({ lanes }) => lanes.map(({ kept }) => kept)), [
    [undefined, undefined],
    [3, undefined],
  ]);
});

Deno.test("Recorder takes counts and quantiles from the view, zero where there is none", () => {
  const recorder = new HistoryRecorder("p");

  recorder.tick(
    at(0, {
      totals: { completions: 5, failures: 2, deferrals: 1, arrivals: 9, shed: 3, busyMs: 70 },
      workers: [{ state: "busy" }, { state: "stuck" }],
      lanes: [
        { name: "a", window: { waitMs: makeSummary(7), serviceMs: makeSummary(20, 4) } },
        { name: "b" },
      ],
    }),
    PLAN,
  );

  const [sample] = recorder.read(IN_FORCE).samples;
  assert.deepEqual(
    [sample?.ended, sample?.completions, sample?.arrivals, sample?.shed, sample?.busyMs],
    [8, 5, 9, 3, 70],
  );
  assert.equal(sample?.stuck, 1);
  assert.deepEqual(
    sample?.lanes.map((lane) => [lane.waitP95Ms, lane.waitP99Ms, lane.ended, lane.serviceMs]),
    [[7, 7, 4, 20], [0, 0, 0, 0]],
  );
});

Deno.test("Recorder.read() answers the same object until the next sample, or another strategy", () => {
  const recorder = new HistoryRecorder("p");
  recorder.tick(at(0), PLAN);

  const first = recorder.read(IN_FORCE);
  recorder.tick(at(500), PLAN);
  const second = recorder.read(IN_FORCE);
  recorder.tick(at(1000), PLAN);
  const third = recorder.read(IN_FORCE);

  assert.equal(second, first);
  assert.notEqual(third, first);
  assert.equal(recorder.read({ ...IN_FORCE, controller: { name: "fixed" } }).controller, "fixed");
  assert.equal(
    recorder.read({ ...IN_FORCE, admission: { name: "admit-all" } }).admission,
    "admit-all",
  );
});

Deno.test("Recorder takes nothing while the store cannot be read, and forgets when lanes change", () => {
  const recorder = new HistoryRecorder("p");

  recorder.tick(at(0), PLAN);
  recorder.tick(at(1000, { stale: true }), PLAN);
  assert.deepEqual(times(recorder), [0]);

  recorder.tick(at(2000, { lanes: [{ name: "other" }] }), PLAN);
  assert.deepEqual(times(recorder), [2000]);
});

Deno.test("Recorder shows what the pool was like when it came to rest, and keeps a rest that lasted", () => {
  const recorder = new HistoryRecorder("p");
  const shown = (): readonly (readonly [number, number])[] =>
    recorder.shown(IN_FORCE).samples.map((
      { atMs, live },
    ) => [atMs - VIEW_NOW_MS, live]);

  recorder.tick(at(0, { live: 20 }), PLAN);
  recorder.tick(at(50, { live: 3 }), PLAN);
  const working = shown();
  recorder.tick(at(100, { live: 2 }), PLAN, true);
  const resting = shown();
  recorder.tick(at(1500, { live: 5 }), PLAN);
  recorder.tick(at(1600, { live: 4 }), PLAN, true);
  recorder.tick(at(60_000, { live: 6 }), PLAN);

  assert.deepEqual(working, [[0, 20]]);
  assert.deepEqual(resting, [[0, 20], [100, 2]]);
  assert.deepEqual(shown(), [[0, 20], [1500, 5], [1600, 4], [59_000, 4], [60_000, 6]]);
});

Deno.test("Recorder keeps the extremes of a second: of a short rest in it too, each in one sample only", () => {
  const recorder = new HistoryRecorder("p");
  const waits = (): readonly (number | undefined)[] =>
    recorder.read(IN_FORCE).samples.map(({ lanes }) => lanes[0]?.longestWaitMs);

  recorder.tick(at(0), PLAN);
  recorder.tick(at(300, {}, { longestWaitMs: 240 }), PLAN, true); // it rests within the second
  recorder.tick(at(1_000, {}, { longestWaitMs: 10 }), PLAN);
  recorder.tick(at(2_000, {}, { longestWaitMs: 20 }), PLAN);

  assert.deepEqual(waits(), [0, 240, 20]);
});

Deno.test("Recorder says in a sample what was there since the one before, and begins anew", () => {
  const recorder = new HistoryRecorder("p");
  const lanes = [{ name: "a", ready: 2, oldestWaitMs: 7 }];
  const pool = at(1_000, { live: 3, lanes });
  for (const live of [9, 1]) pool.workerTime.look(VIEW_NOW_MS, live);
  recorder.tick({ ...at(0, { live: 3, lanes }), workerTime: new LiveMeter(VIEW_NOW_MS) }, PLAN);
  recorder.tick(pool, PLAN);

  const [first, second] = recorder.read(IN_FORCE).samples;

  assert.deepEqual([first?.leastLive, first?.mostLive], [3, 3]); // there was none before
  assert.deepEqual([second?.leastLive, second?.mostLive, second?.live], [1, 9, 3]);
  assert.deepEqual([second?.lanes[0]?.mostReady, second?.lanes[0]?.longestWaitMs], [2, 7]);
  assert.deepEqual([pool.workerTime.least, pool.workerTime.most], [3, 3]);
});

Deno.test("Recorder folds what is older than two minutes by the minute, and loses no extreme", () => {
  const recorder = new HistoryRecorder("p");

  for (let second = 0; second <= 600; second++) {
    const longestWaitMs = second % 60 === 7 ? 500 : 1; // once a minute
    recorder.tick(at(second * 1_000, {}, { longestWaitMs }), PLAN);
  }

  const folded = recorder.read(IN_FORCE).samples.slice(0, -120);
  assert.equal(folded.length, 9); // eight minutes, and what has begun
  assert.ok(folded.slice(0, 8).every(({ lanes }) => lanes[0]?.longestWaitMs === 500));
});

Deno.test("PoolHandle history() ends with the workers that a pool at rest has", async () => {
  let clock: VirtualClock | undefined;
  await withPool({ handler: sleeper(() => clock!) }, async (virtual) => {
    clock = virtual.clock;
    const { pool } = virtual;
    await pool.enqueueAll(Array.from({ length: 40 }, () => ({ lane: "high", payload: 200 })));
    await virtual.clock.advance(120_000);

    const last = pool.history().samples.at(-1);

    assert.ok(pool.history().samples.some(({ live }) => live > 1));
    assert.deepEqual([pool.snapshot().live, last?.live, last?.target], [1, 1, 1]);
  });
});

Deno.test("history() of a drained pool ends with what is left: no worker from then on", async () => {
  let clock: VirtualClock | undefined;
  await withPool({ handler: sleeper(() => clock!) }, async (virtual) => {
    clock = virtual.clock;
    const { pool } = virtual;
    await pool.enqueue({ lane: "high", payload: 5_000 });
    await clock.advance(60_500);
    const before = pool.history().samples.length;
    const drained = pool.drain();
    await clock.advance(100);
    await drained;
    const stoppedAtMs = clock.nowMs() - 100;
    await clock.advance(30_000);

    const { samples } = pool.history();
    const last = samples.at(-1);

    assert.deepEqual([last?.live, last?.busy, last?.target], [0, 0, 0]);
    assert.equal(last?.atMs, stoppedAtMs);
    assert.ok(samples.length <= before + 3); // with how it was shortly before
    assert.equal(samples.findLast(({ atMs }) => atMs < stoppedAtMs)?.live, 1); // as it was until then
  });
});

Deno.test("Recorder shows nothing of the end of a pool of which nothing is known", () => {
  const recorder = new HistoryRecorder("p");

  recorder.stopped(at(0));

  assert.deepEqual(recorder.shown(IN_FORCE).samples, []);
});
