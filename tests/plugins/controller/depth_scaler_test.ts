import assert from "node:assert/strict";
import { depthScaler } from "../../../plugins/controller/depth_scaler.ts";
import { makeView } from "../../../src/testing/mod.ts";
import { even, highest, poisson, STEP } from "./_loads.ts";
import { faults, make } from "./_make.ts";
import { QueueSim } from "./_queue_sim.ts";

Deno.test("depthScaler adds its step, when more than growAbove jobs are ready", () => {
  const view = (ready: number) => makeView({ live: 4, busy: 4, lanes: [{ ready }] });

  assert.deepEqual(make(depthScaler)(view(41)).workers, 8);
  assert.equal(make(depthScaler)(view(41)).reason, "41 ready, above 40: 4 more");
  assert.equal(make(depthScaler)(view(40)).workers, 4);
  assert.equal(make(depthScaler, { growAbove: 3, growStep: 1 })(view(4)).workers, 5);
});

Deno.test("depthScaler counts its share of the lanes that may cause growth", () => {
  const lanes = [{ ready: 50 }, { ready: 500, targetWaitMs: null }, {
    ready: 500,
    running: 2,
    maxRunning: 2,
  }];

  assert.equal(make(depthScaler)(makeView({ live: 4, busy: 4, lanes })).workers, 8);
  assert.equal(make(depthScaler)(makeView({ live: 4, busy: 4, lanes, peers: 2 })).workers, 4);
});

Deno.test("depthScaler starts from no worker at any depth", () => {
  const view = makeView({ live: 0, target: 0, workers: [], lanes: [{ ready: 1 }] });

  assert.equal(make(depthScaler)(view).workers, 4);
});

Deno.test("depthScaler overshoots as the study has it, when load steps up", () => {
  for (const arrivals of [even(STEP), poisson(STEP, 1), poisson(STEP, 2)]) {
    const flows = [{ arrivals, serviceMs: () => 20 }];

    const run = new QueueSim({
      controller: make(depthScaler),
      flows,
      min: 2,
      max: 32,
      untilMs: 30_000,
    });

    // control.md 1.2: peak 29.8 (a step of 4 less where the ticks fall well), longest wait 136 ms
    const peak = highest(run.changes.map((change) => change.to));
    assert(peak >= 26 && peak <= 30, `peak ${peak}`);
    assert(highest(run.waits.flat()) >= 90 && highest(run.waits.flat()) <= 154);
  }
});

Deno.test("depthScaler refuses options out of range", () => {
  assert.deepEqual(faults(depthScaler, { growAbove: -1 }), ["Expected 0 jobs or more"]);
  assert.deepEqual(faults(depthScaler, { growAbove: 1.5 }), ["Expected a whole number of jobs"]);
  assert.deepEqual(faults(depthScaler, { growAbove: "40" }), ["Expected a count of jobs"]);
  assert.deepEqual(faults(depthScaler, { growStep: 0 }), ["Expected 1 worker or more"]);
  assert.deepEqual(faults(depthScaler, { growStep: 0.5 }), [
    "Expected a whole number of workers",
    "Expected 1 worker or more",
  ]);
  assert.deepEqual(faults(depthScaler, { growStep: "4" }), ["Expected a count of workers"]);
  assert.deepEqual(faults(depthScaler, { idleMs: 0 }), ["Expected a duration above 0 ms"]);
  assert.deepEqual(faults(depthScaler, { idleMs: Infinity }), [
    "Expected a duration of at most a day (86400000 ms)",
  ]);
  assert.deepEqual(faults(depthScaler, { idleMs: "1 s" }), ["Expected a duration in ms"]);
});
