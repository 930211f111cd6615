import assert from "node:assert/strict";
import { makeSummary, makeView, VIEW_NOW_MS, type ViewOverrides } from "../../src/testing/views.ts";
import { HistoryRecorder } from "../../src/planning/history.ts";
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

function at(atMs: number, overrides: ViewOverrides = {}): ReturnType<typeof makeView> {
  return makeView({ ...overrides, nowMs: VIEW_NOW_MS + atMs });
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
    recorder.shown(IN_FORCE, VIEW_NOW_MS + 60_000).samples.map((
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
  assert.deepEqual(shown(), [[0, 20], [1500, 5], [1600, 4], [60_000, 6]]);
});

Deno.test("Recorder shows how the rates of a pool at rest fade, then that its window is over, up to now or the end of the rest", () => {
  const recorder = new HistoryRecorder("p");
  const busy: ViewOverrides = {
    lanes: [{
      name: "a",
      arrivalsPerSec: 50,
      window: { completionsPerSec: 40, serviceMs: makeSummary(20, 4), waitMs: makeSummary(7) },
    }],
  };
  const shown = (nowMs: number): readonly (readonly number[])[] =>
    recorder.shown(IN_FORCE, VIEW_NOW_MS + nowMs).samples.map(({ atMs, lanes: [lane] }) => [
      atMs - VIEW_NOW_MS,
      Number(lane?.arrivalsPerSec.toFixed(2)),
      lane?.completionsPerSec ?? -1,
      lane?.ended ?? -1,
      lane?.waitP95Ms ?? -1,
    ]);

  recorder.tick(at(0, busy), PLAN, true); // the sample of this second, and the beginning of a rest
  const soon = shown(2_500);
  const later = shown(60_000);
  recorder.tick(at(60_000, busy), PLAN);
  const woken = shown(60_000);

  const first = [[0, 50, 40, 4, 7], [1_000, 18.39, 40, 4, 7], [2_000, 6.77, 40, 4, 7]];
  const rest = [[3_000, 2.49, 40, 4, 7], [5_000, 0.34, 40, 4, 7], [10_000, 0, 0, 0, 0]];
  assert.deepEqual(soon, first);
  assert.deepEqual(later, [...first, ...rest]);
  assert.deepEqual(woken, [...first, ...rest, [59_000, 0, 0, 0, 0], [60_000, 50, 40, 4, 7]]);
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
    assert.equal(samples.length, before + 2); // with how it was shortly before
    assert.equal(samples.at(-2)?.live, 1); // as it was until then
    assert.deepEqual(last?.lanes.map(({ arrivalsPerSec }) => arrivalsPerSec), [0, 0]);
  });
});

Deno.test("Recorder shows nothing of the end of a pool of which nothing is known", () => {
  const recorder = new HistoryRecorder("p");

  recorder.stopped(at(0));

  assert.deepEqual(recorder.shown(IN_FORCE, VIEW_NOW_MS + 60_000).samples, []);
});
