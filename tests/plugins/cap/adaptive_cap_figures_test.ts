// The figures of control.md 1.2, 1.5, 1.8 and 1.9 on the simulator: real pools of 2 to 32 workers with
// the default controller, 20 ms jobs, a target of 50 ms, timers that fire 0.5 ms late on average.

import assert from "node:assert/strict";
import { defineAdmission } from "../../../src/contract/plugin.ts";
import { randomStream } from "../../../src/base/random.ts";
import { type LaneLoad, type PoolReport, simulate } from "../../../src/simulate/mod.ts";
import type { ScenarioFault } from "../../../src/simulate/mod.ts";

const fixed = { kind: "fixed", ms: 20 } as const;
const poisson = (perSec: number) => ({ kind: "poisson", perSec }) as const;

/** 50, 800, 50 jobs a second. */
const step = {
  kind: "poisson",
  phases: [{ untilMs: 5000, perSec: 50 }, { untilMs: 15_000, perSec: 800 }, {
    untilMs: 20_000,
    perSec: 50,
  }],
} as const;

interface Trial {
  readonly load: LaneLoad;
  readonly durationMs?: number;
  readonly seed?: number;
  readonly gated?: boolean;
  readonly max?: number;
  readonly targetWaitMs?: number;
  readonly timerLateMs?: number;
  readonly faults?: readonly ScenarioFault[];
}

/** What a trial comes to. `late`: attempts that started after the target. */
interface Outcome extends PoolReport {
  readonly late: number;
}

async function play(trial: Trial): Promise<Outcome> {
  const { load, durationMs = 20_000, seed = 1, gated = true, faults = [] } = trial;
  const { max = 32, targetWaitMs = 50, timerLateMs = 0.5 } = trial;
  let late = 0;
  const counting = defineAdmission({
    name: "counting",
    create: () => ({
      submit: () => ({ admit: true }),
      take: (_lane, ageMs) => {
        if (ageMs > targetWaitMs + 0.001) late++;
        return true;
      },
    }),
  });
  const report = await simulate({
    pools: {
      jobs: {
        handler: "http",
        size: { min: 2, max },
        lanes: [{ name: "all", targetWaitMs }],
        adaptive: gated,
        admission: counting,
      },
    },
  }, {
    durationMs,
    faults,
    timerLateMs: { kind: "exponential", ms: timerLateMs },
    pools: { jobs: { lanes: { all: load } } },
  }, { seed });
  return { ...report.pools["jobs"]!, late };
}

/** Jobs done per second. */
function perSecOf({ lanes }: PoolReport): number {
  return lanes["all"]!.perSec;
}

/** Changes of the target after the first ten seconds, a minute. */
function eventsPerMin({ decisions }: PoolReport, durationMs: number): number {
  let last = -Infinity;
  let events = 0;
  for (const { atMs, from, to } of decisions) {
    if (from === to || atMs < 10_000) continue;
    if (atMs - last > 50) events++;
    last = atMs;
  }
  return events * 60_000 / (durationMs - 10_000);
}

Deno.test("adaptiveCap holds a pool at the knee of its downstream: 10 slots, 800 jobs/s", async () => {
  const ceiling = 10 * 1000 / 20.5;
  for (const seed of [1, 2, 3]) {
    const load = {
      arrivals: poisson(800),
      serviceMs: { kind: "knee", ms: 20, slots: 10 },
    } as const;
    const outcome = await play({ load, seed, durationMs: 30_000 });

    assert.ok(outcome.workers.mean <= 12, `${outcome.workers.mean} workers`);
    assert.ok(perSecOf(outcome) >= 0.95 * ceiling, `${perSecOf(outcome)}/s of ${ceiling}`);
  }
});

Deno.test("adaptiveCap keeps a downstream from collapse where each job beyond its 10 slots costs all of them", async () => {
  const load = {
    arrivals: poisson(800),
    serviceMs: { kind: "knee", ms: 20, slots: 10, collapse: 0.05 },
  } as const;
  for (const seed of [1, 2, 3]) {
    const outcome = await play({ load, seed, durationMs: 30_000 });

    assert.ok(perSecOf(outcome) >= 0.9 * 10_000 / 20.5, `${perSecOf(outcome)}/s`);
  }
  const open = await play({ load, gated: false, durationMs: 30_000 });
  assert.ok(perSecOf(open) < 0.5 * 10_000 / 20.5); // what it is worth
});

Deno.test("adaptiveCap does not take a uniform slow-down for congestion", async () => {
  const faults = [{ kind: "slow", atMs: 6000, forMs: 8000, factor: 2 }] as const;
  for (const [perSec, need] of [[200, 8], [600, 24]] as const) {
    let [late, started] = [0, 0];
    for (const seed of [1, 2, 3]) {
      const load = { arrivals: poisson(perSec), serviceMs: fixed };
      const outcome = await play({ load, seed, faults });

      late += outcome.late;
      started += outcome.lanes["all"]!.started;
      assert.ok(outcome.workers.peak >= need, `${outcome.workers.peak} workers`);
    }
    assert.ok(late / started <= 0.01, `${late} late`); // while it tells the two apart
  }
});

Deno.test("adaptiveCap makes no job of the autoscaling experiment late", async () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    const outcome = await play({ load: { arrivals: step, serviceMs: fixed }, seed });

    assert.equal(outcome.late, 0);
    assert.ok(outcome.workers.peak <= 24, `${outcome.workers.peak} workers`);
    assert.ok(outcome.lanes["all"]!.waitMs!.max <= 35);
  }
});

Deno.test("adaptiveCap leaves a healthy pool alone, whatever its load is like", async () => {
  const loads: readonly (readonly [LaneLoad, number, number?])[] = [
    [{ arrivals: poisson(800), serviceMs: fixed }, 2],
    [{ arrivals: poisson(800), serviceMs: { kind: "exponential", ms: 20 } }, 6],
    [{ arrivals: poisson(800), serviceMs: { kind: "lognormal", ms: 20, cv: 2 } }, 10],
    [{ arrivals: { kind: "on-off", perSec: 800, onMs: 1000, offMs: 1000 }, serviceMs: fixed }, 4],
    [{ arrivals: poisson(400), serviceMs: fixed }, 4, 5], // ticks 5 ms late
  ];
  for (const [load, mostEvents, timerLateMs = 0.5] of loads) {
    for (const seed of [1, 2]) {
      const outcome = await play({ load, seed, timerLateMs, durationMs: 30_000 });
      const what = `${JSON.stringify(load)} late ${timerLateMs} ms, seed ${seed}`;

      const open = await play({ load, seed, timerLateMs, durationMs: 30_000, gated: false });
      const share = (outcome.late - open.late) / outcome.lanes["all"]!.started;

      assert.ok(share <= 0.001, `${what}: ${outcome.late} late, ${open.late} without`); // from a cold start
      assert.ok(eventsPerMin(outcome, 30_000) <= mostEvents, what);
    }
  }
});

Deno.test("adaptiveCap leaves a pool alone half of whose jobs ask to be put off", async () => { // case B11
  const load = { arrivals: poisson(600), serviceMs: fixed, deferRate: 0.5, deferMs: 60_000 };

  const outcome = await play({ load });

  assert.equal(outcome.late, 0);
  assert.ok(Math.abs(perSecOf(outcome) - 300) < 15, `${perSecOf(outcome)}/s`);
});

Deno.test("adaptiveCap makes at most one job in 150 late in loads that it was not tuned on", async () => {
  const random = randomStream(1, "held out");
  const between = (least: number, most: number): number => least * (most / least) ** random();
  const late: number[] = [];
  for (let draw = 0; draw < 30; draw++) {
    const ms = between(2, 200);
    const perSec = (erlangs: number): number => erlangs * 1000 / ms;
    const durationMs = Math.max(8000, 100 * ms);
    const [low, high] = [0.5 + 3.5 * random(), 5 + 35 * random()].map(perSec) as [number, number];
    const kind = random() < 0.5 ? "fixed" : "exponential";
    const phases = [
      { untilMs: durationMs / 4, perSec: low },
      { untilMs: durationMs * 3 / 4, perSec: high },
      { untilMs: durationMs, perSec: low },
    ];
    const load = { arrivals: { kind: "poisson", phases }, serviceMs: { kind, ms } } as const;
    const targetWaitMs = between(20, 200);
    const outcome = await play({ load, durationMs, seed: draw, max: 128, targetWaitMs });
    late.push(outcome.late / outcome.lanes["all"]!.started);
  }
  late.sort((a, b) => a - b);

  assert.equal(late[15], 0);
  assert.ok(late.at(-1)! <= 0.0067, `${late}`);
});

/** Slow spells at random: half of the time all attempts take up to four times as long. */
function hiccups(seed: number, untilMs: number): readonly ScenarioFault[] {
  const random = randomStream(seed, "hiccups");
  const lasts = () => 1 - 100 * Math.log(1 - random());
  const faults: ScenarioFault[] = [];
  for (let atMs = lasts(); atMs < untilMs; atMs += lasts()) {
    const forMs = lasts();
    faults.push({ kind: "slow", atMs, forMs, factor: 1 + 3 * random() });
    atMs += forMs;
  }
  return faults;
}

Deno.test("adaptiveCap does not hold a pool for long because its machine has hiccups", async () => {
  const durationMs = 30_000;
  const arrivals = {
    kind: "poisson",
    phases: [{ untilMs: 5000, perSec: 50 }, { untilMs: 15_000, perSec: 500 }, {
      untilMs: durationMs,
      perSec: 50,
    }],
  } as const;
  for (let seed = 1; seed <= 12; seed++) {
    const faults = hiccups(seed, durationMs);
    const outcome = await play({
      load: { arrivals, serviceMs: fixed },
      ...{ seed, durationMs, faults, max: 20 },
    });

    const longestMs = outcome.lanes["all"]!.waitMs!.max;
    assert.ok(longestMs < 3000, `seed ${seed}: ${longestMs} ms`); // once 11 s
  }
});
