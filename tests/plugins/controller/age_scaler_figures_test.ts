// The figures of the control study (control.md 1.8 and 1.9) on an ideal queue.

import assert from "node:assert/strict";
import { ageScaler } from "../../../plugins/controller/age_scaler.ts";
import { randomStream } from "../../../src/base/random.ts";
import {
  even,
  eventsInMinute,
  exponential,
  highest,
  onOff,
  poisson,
  STEP,
  targetAt,
} from "./_loads.ts";
import { make } from "./_make.ts";
import { QueueSim, type Run } from "./_queue_sim.ts";
import type { Flow } from "./_sim_lane.ts";

function play(flows: readonly Flow[], untilMs: number, run: Partial<Run> = {}): QueueSim {
  return new QueueSim({ controller: make(ageScaler), flows, min: 2, max: 32, untilMs, ...run });
}

function fixedTime(arrivals: readonly number[]): readonly Flow[] {
  return [{ arrivals, serviceMs: () => 20 }];
}

Deno.test("ageScaler has no late job at the step, needs few workers and gives them back", () => {
  const loads = [even(STEP), ...[1, 2, 3].map((seed) => poisson(STEP, seed))];

  for (const load of loads) {
    const run = play(fixedTime(load), 30_000);

    const waits = run.waits.flat().toSorted((a, b) => a - b);
    assert(waits.at(-1)! <= 35, `longest wait ${waits.at(-1)}`);
    assert(waits[Math.ceil(0.99 * waits.length) - 1]! <= 25);
    const peak = highest(run.changes.map((change) => change.to));
    assert(peak >= 16 && peak <= 24, `peak ${peak}`); // 800/s x 20 ms = 16
    assert(targetAt(run, 20_000 + 5000 + 2000) <= 6, "back near the minimum at look-back + 2 s");
  }
});

Deno.test("ageScaler keeps its count at constant load", () => {
  const phases = [{ untilMs: 70_000, perSec: 800 }];

  assert(eventsInMinute(play(fixedTime(even(phases)), 70_000), 10_000) <= 2);
  assert(eventsInMinute(play(fixedTime(poisson(phases, 1)), 70_000), 10_000) <= 2);
  for (let seed = 1; seed <= 3; seed++) {
    const exp = [{ arrivals: poisson(phases, seed), serviceMs: exponential(20, seed) }];
    assert(eventsInMinute(play(exp, 70_000), 10_000) <= 6);
  }
});

Deno.test("ageScaler does not follow a load that goes on and off (B5)", () => {
  for (let seed = 1; seed <= 3; seed++) {
    const seconds = play(fixedTime(poisson(onOff(800, 70_000), seed)), 70_000);
    assert(eventsInMinute(seconds, 10_000) <= 4);
  }

  const wave = Array.from(
    { length: 1400 },
    (_, index) => ({ untilMs: (index + 1) * 50, perSec: index % 2 * 800 }),
  );
  const run = play(fixedTime(even(wave)), 70_000);
  assert(eventsInMinute(run, 10_000) <= 2);
});

Deno.test("ageScaler looks back longer, when shrinks prove too early", () => {
  // 7 s of quiet outlast a look-back of 5 s but not one of 10 s
  const phases = Array.from({ length: 40 }, (_, index) => ({
    untilMs: Math.ceil((index + 1) / 2) * 8000 - (index % 2 === 0 ? 7000 : 0),
    perSec: index % 2 === 0 ? 800 : 50,
  }));

  const shrinks = (options = {}) =>
    play(fixedTime(even(phases)), 160_000, { controller: make(ageScaler, options) })
      .changes.filter((change) => change.to === 2).length;

  assert.equal(shrinks({ maxLookBackMs: 5000 }), 20);
  assert(shrinks() <= 2); // tries the shorter one again after 80 s
});

Deno.test("ageScaler keeps every wait below its target, for any load below the maximum", () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = randomStream(seed, "load");
    const serviceMs = 2 * 100 ** random();
    const targetWaitMs = 20 * 10 ** random();
    const draw = random() < 0.5 ? exponential(serviceMs, seed) : () => serviceMs;
    const [low, high] = [0.5 + 3.5 * random(), 5 + 35 * random()].map((erlangs) =>
      erlangs * 1000 / serviceMs
    );
    const phases = [low!, high!, low!].map((perSec, index) => ({
      untilMs: 1500 * (index + 1),
      perSec,
    }));
    const flows = [{ arrivals: poisson(phases, seed), serviceMs: draw, targetWaitMs }];

    const run = play(flows, 4500, { max: 400 });

    const longest = highest(run.waits.flat());
    assert(longest <= targetWaitMs, `seed ${seed}: waited ${longest} of ${targetWaitMs}`);
    assert(run.fewest >= 2 && run.most <= 400);
    assert.equal(run.totals.starts, run.totals.completions + run.running);
  }
});

Deno.test("ageScaler has no late job, when all jobs take twice as long", () => {
  const slower = (atMs: number) => atMs < 10_000 ? 20 : 40;
  const run = play([{
    arrivals: poisson([{ untilMs: 20_000, perSec: 500 }], 1),
    serviceMs: slower,
  }], 20_000);

  assert(highest(run.waits.flat()) <= 50);
});

Deno.test("ageScaler keeps both lanes below their targets", () => {
  const random = randomStream(1, "batch");
  const urgent = { arrivals: poisson([{ untilMs: 20_000, perSec: 150 }], 1), serviceMs: () => 20 };
  const arrivals = poisson([{ untilMs: 20_000, perSec: 30 }], 2);
  const batch = { arrivals, serviceMs: () => 100 + 200 * random(), targetWaitMs: 1000 };

  const run = play([urgent, batch], 20_000);

  assert(highest(run.waits[0]!) <= 50);
  assert(highest(run.waits[1]!) <= 1000);
  assert(run.most <= 20, `${run.most}`); // 150/s x 20 ms + 30/s x 200 ms = 9
});

Deno.test("ageScaler stays within bounds and asks at ticks only, when size.max forbids growth", () => {
  const flows = [{ arrivals: Array<number>(100).fill(1), serviceMs: () => 3000 }];

  const run = play(flows, 10_000, { max: 8 });

  assert.equal(run.most, 8);
  const atLimit = run.asks.filter((atMs) => atMs > 30); // no job arrives
  assert(atLimit.length <= 10_000 / 50, `${atLimit.length} times`);
});

Deno.test("ageScaler starts no more workers than jobs wait, when starting takes long (A7)", () => {
  const flows = [{ arrivals: Array<number>(100).fill(1000), serviceMs: () => 200 }];

  const run = play(flows, 5000, { max: 500, startMs: 150 });

  assert(run.most <= 102, `${run.most}`);
});

Deno.test("ageScaler needs as many workers as the load, when one job is always on its way (B2)", () => {
  const arrivals = Array.from({ length: 300 }, (_, index) => index * 100);

  const run = play([{ arrivals, serviceMs: () => 90 }], 30_000, { min: 1, max: 500 });

  assert(run.most <= 2, `${run.most}`);
});

Deno.test("ageScaler lets an idle pool go to its minimum by reviews alone", () => {
  const spike = poisson([{ untilMs: 2000, perSec: 800 }], 1);

  const run = play(fixedTime(spike), 60_000);

  assert(run.most >= 16);
  assert.equal(targetAt(run, 2000 + 5000 + 200), 2);
  assert(run.asks.filter((atMs) => atMs > 2100).length <= 20, "asked seldom while idle");
});

Deno.test("ageScaler does the same again, for the same load", () => {
  const flows = () => [{ arrivals: poisson(STEP, 7), serviceMs: exponential(20, 7) }];

  assert.deepEqual(play(flows(), 30_000).changes, play(flows(), 30_000).changes);
});
