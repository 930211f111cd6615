import assert from "node:assert/strict";
import { changesOf, columnsOf, joined, standingAt } from "../../../src/admin/assets/chart_data.js";
import type { DecisionJson } from "../../../src/admin/http/wire.ts";
import type { Sample } from "../../../src/planning/history.ts";

Deno.test("joined() adds what is new, oldest first, and nothing twice", () => {
  const known = [sampleAt(1_000), sampleAt(2_000)];

  const all = joined(known, [sampleAt(2_000), sampleAt(3_000)]);

  assert.deepEqual(all.map(({ atMs }) => atMs), [1_000, 2_000, 3_000]);
});

Deno.test("joined() lets the last sample before a rest stand until shortly before the next", () => {
  const all = joined([sampleAt(1_000, { busy: 0 })], [sampleAt(60_500, { busy: 5 })]);

  assert.deepEqual(all.map(({ atMs, busy }) => [atMs, busy]), [
    [1_000, 0],
    [59_500, 0],
    [60_500, 5],
  ]);
});

Deno.test("joined() takes gaps among the thinned samples for what they are", () => {
  const thin = [sampleAt(0), sampleAt(60_000)];
  const dense = Array.from({ length: 120 }, (_, index) => sampleAt(61_000 + index * 1_000));

  const all = joined([], [...thin, ...dense]);

  assert.equal(all.length, 122);
});

Deno.test("joined() begins anew when a reload changed the lanes, and forgets what is over an hour old", () => {
  const other = sampleAt(4_000, { lanes: [] });

  assert.deepEqual(joined([sampleAt(3_000)], [other]), [other]);
  assert.deepEqual(
    joined([sampleAt(0)], [sampleAt(3_600_500), sampleAt(3_601_500)]).map(({ atMs }) => atMs),
    [3_599_500, 3_600_500, 3_601_500],
  );
});

Deno.test("columnsOf() shows a span that ends now, with the sample before it and the last one until now", () => {
  const samples = [0, 1_000, 2_000, 3_000].map((atMs) => sampleAt(atMs, { live: atMs / 1_000 }));

  const columns = columnsOf(samples, { nowMs: 3_500, spanMs: 2_000 });

  assert.deepEqual(columns.at, [1, 2, 3, 3.5]);
  assert.deepEqual(columns.live, [1, 2, 3, 3]);
  assert.deepEqual(columns.arrivals, [null, 7, 7, 0]);
  assert.deepEqual(columns.busy, [null, 0.5, 0.5, 0]);
  assert.deepEqual(columns.waits, [[40, 40, 40, 40], [0, 0, 0, 0]]);
});

Deno.test("columnsOf() is empty without samples", () => {
  assert.deepEqual(columnsOf([], { nowMs: 1, spanMs: 1 }).at, []);
});

Deno.test("changesOf() keeps changes of the size, each once, oldest first; standingAt() finds the one in force", () => {
  const grew = decisionAt(2_000, 1, 4);
  const shrank = decisionAt(5_000, 4, 2);

  const changes = changesOf([shrank, decisionAt(3_000, 4, 4), grew, { ...grew }]);

  assert.deepEqual(changes, [grew, shrank]);
  assert.equal(standingAt(changes, 1_999), undefined);
  assert.deepEqual(standingAt(changes, 4_999), grew);
  assert.deepEqual(standingAt(changes, 5_000), shrank);
});

function decisionAt(atMs: number, from: number, to: number): DecisionJson {
  return {
    atMs,
    untilMs: atMs,
    from,
    to,
    inputs: {
      ready: 0,
      blocked: 0,
      oldestWaitMs: 0,
      busy: 0,
      live: 0,
      starting: 0,
      retiring: 0,
      stuck: 0,
    },
    proposals: [],
    boundBy: "controller",
    retire: [],
    sentence: "",
  };
}

function sampleAt(atMs: number, more: Partial<Sample> = {}): Sample {
  const lane = {
    targetWaitMs: 50,
    startWithinMs: undefined,
    ready: 0,
    running: 0,
    oldestWaitMs: 0,
    longestWaitMs: 0,
    mostReady: 0,
    arrivals: 0,
    starts: 0,
    late: 0,
    waitedMs: 0,
    completions: 0,
    failures: 0,
    deferrals: 0,
    shed: 0,
    waitP95Ms: 0,
    waitP99Ms: 0,
    ended: 0,
    serviceMs: 0,
    serviceP99Ms: 0,
    servedMs: 0,
    kept: undefined,
  };
  return {
    atMs,
    live: 1,
    leastLive: 1,
    mostLive: 1,
    busy: 0,
    stuck: 0,
    target: 1,
    limit: 4,
    boundBy: "size.max",
    size: { min: 1, max: 4 },
    rateBound: false,
    holdUntilMs: 0,
    heldBy: "",
    used: [],
    openKeys: 0,
    changes: 0,
    reversals: 0,
    arrivals: atMs * 7 / 1_000,
    ended: 0,
    completions: 0,
    failures: 0,
    deferrals: 0,
    shed: 0,
    busyMs: atMs / 2,
    liveMs: atMs,
    lanes: [
      { ...lane, name: "urgent", longestWaitMs: 40 },
      { ...lane, name: "batch" },
    ],
    ...more,
  };
}
