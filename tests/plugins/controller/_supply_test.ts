// What the age-scaler counts as able to serve a lane.

import assert from "node:assert/strict";
import { ageScaler } from "../../../plugins/controller/age_scaler.ts";
import { type LaneOverrides, makeView, VIEW_NOW_MS } from "../../../src/testing/mod.ts";
import type { WorkerState } from "../../../src/contract/view.ts";
import { make } from "./_make.ts";
import { saturated } from "./_saturated.ts";

Deno.test("ageScaler counts workers on their way once (A7)", () => {
  const states: WorkerState[] = ["busy", "busy", "starting", "starting", "starting"];
  const workers = states.map((state, index) => ({ id: `w${index}`, state }));
  const view = (ready: number, target: number) =>
    saturated({ ready, oldestWaitMs: 1 }, { live: 2, busy: 2, target, workers });

  // (q - 2 x 1.25 - 3 x 2.25) / 2.25
  assert.equal(make(ageScaler)(view(9, 5)).workers, 5);
  assert.equal(make(ageScaler)(view(11, 5)).workers, 5 + 1);
  assert.equal(make(ageScaler)(view(9, 9)).workers, 9); // others have yet to be started
});

Deno.test("ageScaler leaves due jobs to the workers that are starting for them (A7)", () => {
  const workers = [{ id: "w1", state: "busy" }, { id: "w2", state: "starting" }] as const;
  const due = (ready: number) =>
    saturated({ ready, oldestWaitMs: 30 }, {
      live: 1,
      busy: 1,
      target: 2,
      workers,
      readyOlderThan: (ageMs) => ageMs <= 30 ? ready : 0,
    });

  assert.equal(make(ageScaler)(due(1)).workers, 2);
  assert.equal(make(ageScaler)(due(1)).reviewAtMs, VIEW_NOW_MS + 5);
  assert.equal(make(ageScaler)(due(2)).workers, 3);
});

Deno.test("ageScaler does not count workers that are to leave", () => {
  const view = saturated({ ready: 6, oldestWaitMs: 1 }, { live: 9, busy: 9, target: 4 });

  assert.equal(make(ageScaler)(view).workers, 4 + 1); // (6 - 4 x 1.25) / 2.25, on the 4 that stay
});

Deno.test("ageScaler steers on its share, when several processes serve the store", () => {
  const view = saturated({ ready: 19, oldestWaitMs: 1 }, { peers: 2 });

  assert.equal(make(ageScaler)(view).workers, 4 + 3); // 10 of 19: as with 10 ready and one process
});

Deno.test("ageScaler keeps to each lane's own target", () => {
  const lanes = (first: number, second: number) => [
    { targetWaitMs: 50, meanServiceMs: 20, ready: first, oldestWaitMs: 20 },
    { targetWaitMs: 1000, meanServiceMs: 200, ready: second, oldestWaitMs: 20, running: 4 },
  ];
  const ask = (first: number, second: number) =>
    make(ageScaler)(makeView({ live: 4, busy: 4, lanes: lanes(first, second) }));

  assert.equal(ask(0, 10).workers, 4); // 4 x 500 / 200 = 10 start in half a second
  assert.equal(ask(0, 14).workers, 6); // (14 - 10) / 3.5
  assert.equal(ask(1, 0).workers, 5); // of workers 200 ms long busy, half a one is free in 25 ms
  assert.equal(ask(0, 14).reviewAtMs, VIEW_NOW_MS + 480);
  assert.equal(ask(1, 14).reviewAtMs, VIEW_NOW_MS + 5);
});

Deno.test("ageScaler reckons a lane on what the lanes above leave", () => {
  const lower = { targetWaitMs: 1000, meanServiceMs: 200, ready: 10, oldestWaitMs: 20, running: 4 };
  const upper = { targetWaitMs: 1000, meanServiceMs: 20 };
  const ask = (lane: LaneOverrides) =>
    make(ageScaler)(makeView({ live: 4, busy: 4, lanes: [lane, lower] })).workers;

  assert.equal(ask(upper), 4);
  assert.equal(ask({ ...upper, ready: 40 }), 6); // 40 x 20 ms take 4 starts of 200 ms
  assert.equal(ask({ ...upper, arrivalsPerSec: 80 }), 6); // as do 80/s in half a second
  assert.equal(ask({ ...upper, ready: 40, targetWaitMs: null }), 4); // never causes growth
});

Deno.test("ageScaler does not count workers that a lane policy keeps idle", () => {
  const lanes = [{}, {
    targetWaitMs: 50,
    meanServiceMs: 20,
    ready: 10,
    oldestWaitMs: 1,
    running: 4,
  }];

  assert.equal(make(ageScaler)(makeView({ live: 6, busy: 4, lanes })).workers, 6 + 3);
});
