import assert from "node:assert/strict";
import {
  changesOf,
  columnsOf,
  joined,
  overSince,
  standingAt,
} from "../../../src/admin/assets/chart_data.js";
import type { DecisionJson } from "../../../src/admin/http/wire.ts";
import type { Sample } from "../../../src/planning/history.ts";

Deno.test("joined() adds what is new, oldest first, and nothing twice", () => {
  const known = [sampleAt(1_000), sampleAt(2_000)];

  const all = joined(known, [sampleAt(2_000), sampleAt(3_000)]);

  assert.deepEqual(all.map(({ atMs }) => atMs), [1_000, 2_000, 3_000]);
});

Deno.test("joined() begins anew when a reload changed the lanes, and forgets what is over an hour old", () => {
  const other = sampleAt(4_000, { lanes: [] });

  assert.deepEqual(joined([sampleAt(3_000)], [other]), [other]);
  assert.deepEqual(
    joined([sampleAt(0)], [sampleAt(3_600_500), sampleAt(3_601_500)]).map(({ atMs }) => atMs),
    [3_600_500, 3_601_500],
  );
});

Deno.test("columnsOf() says what happened between two samples: rates by their counts, and extremes", () => {
  const samples = [0, 1_000, 2_000, 3_000].map((atMs) => sampleAt(atMs));

  const columns = columnsOf(samples, { nowMs: 3_000, spanMs: 120_000 });

  assert.deepEqual(columns.map(({ fromMs, toMs }) => [fromMs, toMs]), [
    [0, 1_000],
    [1_000, 2_000],
    [2_000, 3_000],
  ]);
  for (const { comes, busy, least, most, lanes } of columns) {
    assert.deepEqual([comes, busy, least, most], [7, 0.5, 1, 1]);
    assert.deepEqual(lanes, [{ waitMs: 40, times: 0.8 }, { waitMs: 0, times: 0 }]);
  }
});

Deno.test("columnsOf() takes samples that are closer than a column together, and leaves out what is older", () => {
  const samples = Array.from({ length: 31 }, (_, index) => sampleAt(index * 1_000));
  const high = sampleAt(27_000).lanes.map((lane) => ({ ...lane, longestWaitMs: 900 }));
  samples[27] = sampleAt(27_000, { lanes: high, mostLive: 9 });

  const columns = columnsOf(samples, { nowMs: 30_000, spanMs: 600_000 });
  const short = columnsOf(samples, { nowMs: 30_000, spanMs: 5_000 });

  assert.deepEqual(columns.map(({ toMs }) => toMs), [
    5_000,
    10_000,
    15_000,
    20_000,
    25_000,
    30_000,
  ]);
  assert.deepEqual(columns.map(({ comes }) => comes), [7, 7, 7, 7, 7, 7]);
  assert.deepEqual(columns.map(({ most }) => most), [1, 1, 1, 1, 1, 9]);
  assert.deepEqual(columns.map(({ lanes }) => lanes[0]?.waitMs), [40, 40, 40, 40, 40, 900]);
  assert.deepEqual(short.map(({ toMs }) => toMs), [26_000, 27_000, 28_000, 29_000, 30_000]);
});

Deno.test("columnsOf() shows a pool at rest up to now, with nothing that happens", () => {
  const columns = columnsOf([sampleAt(0), sampleAt(1_000)], { nowMs: 60_000, spanMs: 120_000 });

  assert.deepEqual(columns.map(({ toMs, comes, most }) => [toMs, comes, most]), [
    [1_000, 7, 1],
    [60_000, 0, 1],
  ]);
});

Deno.test("columnsOf() says what bound a pool only while more would have started", () => {
  const boundBy = (more: Partial<Sample>): string =>
    columnsOf([sampleAt(0), sampleAt(1_000, more)], { nowMs: 1_000, spanMs: 120_000 })[0]!.boundBy;
  const late = sampleAt(1_000).lanes.map((lane) => ({ ...lane, late: 1 }));
  const full = { live: 4, boundBy: "cap:db-pool-cap" };

  assert.equal(boundBy(full), "");
  assert.equal(boundBy({ ...full, lanes: late }), "cap db-pool-cap");
  assert.equal(boundBy({ ...full, shed: 1 }), "cap db-pool-cap");
  assert.equal(boundBy({ ...full, lanes: late, target: 0 }), ""); // it drains
  assert.equal(boundBy({ lanes: late }), "");
  assert.equal(boundBy({ rateBound: true, boundBy: "cap:api-rate-cap" }), "cap api-rate-cap");
  assert.equal(boundBy({ holdUntilMs: 9, heldBy: "mailer" }), "downstream mailer");
});

Deno.test("columnsOf() is empty without samples", () => {
  assert.deepEqual(columnsOf([], { nowMs: 1, spanMs: 1 }), []);
});

Deno.test("overSince() says from when a lane has been over its target without a break until now", () => {
  const lanes = (waitMs: number): Partial<Sample> => ({
    lanes: sampleAt(0).lanes.map((lane) => ({ ...lane, longestWaitMs: waitMs })),
  });
  const waits = [10, 90, 10, 90, 90, 90];
  const samples = waits.map((ms, index) => sampleAt(index * 1_000, lanes(ms)));
  const columns = columnsOf(samples, { nowMs: 5_000, spanMs: 120_000 });

  assert.equal(overSince(columns, 0), 2_000);
  assert.equal(overSince(columns.slice(0, 2), 0), undefined);
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
    maxRunning: null,
    blocked: 0,
    oldestBlockedMs: 0,
    held: { worker: 0, growth: 0, rate: 0, lane: 0, key: 0, policy: 0, store: 0, receiver: 0 },
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
    startsPerSec: null,
    leaseMs: 0,
    loopBlocks: 0,
    loopBlockedMs: 0,
    starts: 0,
    lanes: [
      { ...lane, name: "urgent", longestWaitMs: 40 },
      { ...lane, name: "batch" },
    ],
    ...more,
  };
}
