import assert from "node:assert/strict";
import { ageScaler } from "../../../plugins/controller/age_scaler.ts";
import { depthScaler } from "../../../plugins/controller/depth_scaler.ts";
import { makeView, VIEW_NOW_MS, type ViewOverrides } from "../../../src/testing/mod.ts";
import { even, eventsInMinute, highest, poisson, STEP, targetAt } from "./_loads.ts";
import { make } from "./_make.ts";
import { QueueSim } from "./_queue_sim.ts";

const old = { targetWaitMs: 50, ready: 9, oldestWaitMs: 51 };

/** Asks every 50 ms. `busy` is both the mean since the last time and the count now. */
function sample(
  controller: ReturnType<typeof make>,
  busy: readonly number[],
  overrides: ViewOverrides = {},
): number[] {
  let busyMs = 0;
  return busy.map((count, index) => {
    busyMs += index === 0 ? 0 : count * 50;
    return controller(makeView({
      nowMs: VIEW_NOW_MS + index * 50,
      live: 8,
      busy: count,
      size: { min: 2, max: 32 },
      totals: { busyMs },
      ...overrides,
    })).workers;
  });
}

const deep = (options = {}) => make(depthScaler, options);
const step = (options = {}) => make(ageScaler, { rule: "step", ...options });

Deno.test("ageScaler with the step rule adds 4, when the oldest job is over its target", () => {
  const proposal = step()(makeView({ live: 4, busy: 4, lanes: [{ name: "mail", ...old }] }));

  assert.equal(proposal.workers, 8);
  assert.equal(proposal.reason, "mail: oldest 51 ms, target 50 ms: 4 more");
  assert.equal(step({ growStep: 1 })(makeView({ live: 4, busy: 4, lanes: [old] })).workers, 5);
});

Deno.test("ageScaler with the step rule holds at its target, and for lanes that may not cause growth", () => {
  const lanes = [
    { ...old, oldestWaitMs: 50 },
    { ...old, targetWaitMs: null },
    { ...old, running: 4, maxRunning: 4 },
  ];

  for (const lane of lanes) {
    assert.equal(step()(makeView({ live: 4, busy: 4, lanes: [lane] })).workers, 4);
  }
  assert.equal(step()(makeView({ live: 4, busy: 4, lanes: [old], rateBound: true })).workers, 4);
  assert.equal(step()(makeView({ live: 4, busy: 4, lanes: [old], stale: true })).workers, 4);
});

Deno.test("ageScaler with the step rule takes one step in 50 ms, however often it is asked", () => {
  const controller = step();
  const at = (afterMs: number) =>
    controller(makeView({ nowMs: VIEW_NOW_MS + afterMs, live: 4, busy: 4, lanes: [old] })).workers;

  assert.deepEqual([0, 1, 49, 50, 51].map(at), [8, 4, 4, 8, 4]);
});

Deno.test("ageScaler with the step rule lets one go, after idleMs of idleness", () => {
  const asked = sample(step({ idleMs: 200 }), [1, 1, 1, 1, 1, 1, 1, 1, 1]);

  assert.deepEqual(asked, [8, 8, 8, 8, 7, 8, 8, 8, 7]);
});

Deno.test("ageScaler with the step rule starts over, when idleness is interrupted", () => {
  const asked = sample(step({ idleMs: 200 }), [1, 1, 1, 8, 1, 1, 1, 1, 1]);

  assert.deepEqual(asked, [8, 8, 8, 8, 8, 8, 8, 7, 8]);
});

Deno.test("ageScaler with the step rule takes an empty queue for no idleness, while the pool is busy", () => {
  assert.deepEqual(new Set(sample(step({ idleMs: 200 }), Array(40).fill(7))), new Set([8]));
});

Deno.test("ageScaler with the step rule lets go of workers that only fill what is spare (C4)", () => {
  for (const [make, startWithinMs] of [[step, undefined], [deep, undefined], [deep, 0]] as const) {
    const controller = make({ idleMs: 200 });
    const asked = Array.from({ length: 6 }, (_, index) =>
      controller(makeView({
        nowMs: VIEW_NOW_MS + index * 50,
        live: 8,
        busy: 8,
        size: { min: 2, max: 32 },
        totals: { busyMs: index * 400 },
        lanes: [{}, {
          targetWaitMs: null,
          startWithinMs,
          ready: 9,
          running: 8,
          servedMs: index * 400,
        }],
      })).workers);

    assert.deepEqual(asked, [8, 8, 8, 8, 7, 8]);
  }
});

Deno.test("ageScaler with the step rule grows for what is to start within a time", () => {
  const lane = { name: "mail", targetWaitMs: null, startWithinMs: 1000, ready: 9 };
  const at = (oldestWaitMs: number) =>
    step()(makeView({ live: 4, busy: 4, lanes: [{ ...lane, oldestWaitMs }] }));

  assert.equal(at(899).workers, 4);
  assert.equal(at(901).reason, "mail: oldest 901 ms, target 900 ms: 4 more");
});

Deno.test("ageScaler with the step rule never shrinks below the minimum", () => {
  const asked = sample(step({ idleMs: 50 }), [0, 0, 0, 0], { live: 2 });

  assert.deepEqual(asked, [2, 2, 2, 2]);
});

Deno.test("ageScaler with the step rule asks to be asked, when an idle pool has workers to let go", () => {
  const controller = step({ idleMs: 1000 });
  const view = (afterMs: number, live: number) =>
    makeView({ nowMs: VIEW_NOW_MS + afterMs, live, size: { min: 2, max: 32 } });

  assert.equal(controller(view(0, 4)).reviewAtMs, VIEW_NOW_MS + 1000);
  assert.equal(controller(view(1000, 4)).workers, 3);
  assert.equal(controller(view(2000, 3)).workers, 2);
  assert.equal(controller(view(2050, 2)).reviewAtMs, undefined);
});

Deno.test("ageScaler with the step rule comes out as the study has it, when load steps up", () => {
  const serviceMs = () => 20;
  for (const arrivals of [even(STEP), poisson(STEP, 1), poisson(STEP, 2)]) {
    const run = new QueueSim({
      controller: step(),
      flows: [{ arrivals, serviceMs }],
      min: 2,
      max: 32,
      untilMs: 60_000,
    });

    // control.md 1.1: peak 26 to 30 at a true 800/s, longest wait 107 to 142 ms
    const peak = highest(run.changes.map((change) => change.to));
    assert(peak >= 26 && peak <= 30, `peak ${peak}`);
    assert(highest(run.waits.flat()) >= 96 && highest(run.waits.flat()) <= 154);
    assert(targetAt(run, 20_000 + 28_000) <= 3, "back within 28 s");
  }
});

Deno.test("ageScaler with the step rule has no sawtooth at constant load", () => {
  const arrivals = even([{ untilMs: 70_000, perSec: 800 }]);
  const flows = [{ arrivals, serviceMs: () => 20 }];

  const run = new QueueSim({ controller: step(), flows, min: 2, max: 32, untilMs: 70_000 });

  assert(eventsInMinute(run, 10_000) <= 2); // the experiment's own: 40
});
