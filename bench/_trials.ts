/**
 * Scaling under loads that the published experiments only speak of: their rule beside the default.
 *
 * @module
 */

import { seedRule } from "./_seed_rule.ts";
import { defineAdmission } from "../src/contract/plugin.ts";
import {
  type LaneLoad,
  type PoolReport,
  type ScenarioInput,
  simulate,
} from "../src/simulate/mod.ts";

const TARGET_MS = 50;
const FIXED = { kind: "fixed", ms: 20 } as const;
const CEILING_PER_SEC = 10_000 / 20.5; // ten slots, timers 0.5 ms late
const poisson = (perSec: number) => ({ kind: "poisson", perSec }) as const;

/** What a run comes to, the age watched. */
interface Run extends PoolReport {
  /** Jobs that started after the target. */
  readonly late: number;
  /** From the first to the last of them, ms. */
  readonly overMs: number;
}

interface Trial {
  readonly name: string;
  readonly load: LaneLoad;
  readonly durationMs: number;
  readonly more?: Pick<ScenarioInput, "faults" | "timerLateMs">;
  readonly show: (run: Run, all: readonly Run[]) => string;
}

const waits = ({ late, overMs, lanes }: Run): string => {
  const longestMs = lanes["jobs"]!.waitMs!.max.toFixed(0);
  return `${late} late over ${overMs.toFixed(0)} ms, longest wait ${longestMs} ms`;
};

/** One run's peak says little: it depends on the worst moment of its arrivals. */
const peaks = (all: readonly Run[]): string => {
  const each = all.map(({ workers }) => workers.peak);
  const mean = each.reduce((sum, peak) => sum + peak, 0) / each.length;
  return `peak ${mean.toFixed(1)} on average (${Math.min(...each)} to ${Math.max(...each)})`;
};

const steady = ({ reversals, scaleEvents, late }: Run): string =>
  `${scaleEvents} changes a minute, ${reversals} reversals, ${late} late`;

const crowded = ({ workers, lanes }: Run): string => {
  const share = 100 * lanes["jobs"]!.perSec / CEILING_PER_SEC;
  return `${workers.mean.toFixed(1)} workers, ${share.toFixed(0)} % of the ceiling`;
};

const TRIALS: readonly Trial[] = [
  {
    name: "16-fold step, 50 to 800 jobs/s",
    load: {
      arrivals: {
        kind: "poisson",
        phases: [{ untilMs: 10_000, perSec: 50 }, { untilMs: 20_000, perSec: 800 }],
      },
      serviceMs: FIXED,
    },
    durationMs: 20_000,
    show: (run, all) => `${waits(run)}, ${peaks(all)} of 16`,
  },
  {
    name: "constant 800/s",
    load: { arrivals: poisson(800), serviceMs: FIXED },
    durationMs: 60_000,
    show: steady,
  },
  {
    name: "on/off, 1 s each at 800/s",
    load: { arrivals: { kind: "on-off", perSec: 800, onMs: 1000, offMs: 1000 }, serviceMs: FIXED },
    durationMs: 60_000,
    show: steady,
  },
  {
    name: "heavy tails, lognormal cv 2",
    load: { arrivals: poisson(800), serviceMs: { kind: "lognormal", ms: 20, cv: 2 } },
    durationMs: 60_000,
    show: steady,
  },
  {
    name: "ticks 10 ms late, 400/s",
    load: { arrivals: poisson(400), serviceMs: FIXED },
    durationMs: 60_000,
    more: { timerLateMs: { kind: "exponential", ms: 10 } },
    show: steady,
  },
  {
    name: "10 slots behind it, 800/s",
    load: { arrivals: poisson(800), serviceMs: { kind: "knee", ms: 20, slots: 10 } },
    durationMs: 60_000,
    show: crowded,
  },
  {
    name: "the same, with collapse",
    load: {
      arrivals: poisson(800),
      serviceMs: { kind: "knee", ms: 20, slots: 10, collapse: 0.05 },
    },
    durationMs: 60_000,
    show: crowded,
  },
  {
    name: "twice as slow for 10 s, 400/s",
    load: { arrivals: poisson(400), serviceMs: FIXED },
    durationMs: 30_000,
    more: { faults: [{ kind: "slow", atMs: 10_000, forMs: 10_000, factor: 2 }] },
    show: (run, all) => `${waits(run)}, ${peaks(all)} of 16`,
  },
];

const WAYS = [
  ["the published rule", { controller: seedRule, adaptive: false }],
  ["without adaptive-cap", { adaptive: false }],
  ["the default", {}],
] as const;

/** A line for every trial and way: the middle run of the seeds. */
export async function* trialLines(seeds: number): AsyncGenerator<string> {
  yield "\nThe published rule, the default without adaptive-cap, and the default: the middle run of the seeds";
  for (const trial of TRIALS) {
    yield `\n${trial.name}`;
    for (const [name, parts] of WAYS) {
      const runs: Run[] = [];
      for (let seed = 1; seed <= seeds; seed++) runs.push(await run(trial, parts, seed));
      runs.sort((a, b) => a.late - b.late || a.scaleEvents - b.scaleEvents);
      yield `  ${name.padEnd(22)} ${trial.show(runs[seeds >> 1]!, runs)}`;
    }
  }
}

async function run(
  { load, durationMs, more }: Trial,
  parts: (typeof WAYS)[number][1],
  seed: number,
): Promise<Run> {
  let late = 0;
  let firstMs = 0;
  let lastMs = 0;
  const watch = defineAdmission({
    name: "watch",
    create: () => ({
      submit: () => ({ admit: true }),
      take: (_lane, ageMs, { nowMs }) => {
        if (ageMs <= TARGET_MS + 0.001) return true;
        if (late++ === 0) firstMs = nowMs;
        lastMs = nowMs;
        return true;
      },
    }),
  });
  const report = await simulate({
    pools: {
      trial: {
        handler: "http",
        size: { min: 2, max: 32 },
        lanes: [{ name: "jobs", targetWaitMs: TARGET_MS }],
        admission: watch,
        ...parts,
      },
    },
  }, {
    durationMs,
    timerLateMs: { kind: "exponential", ms: 0.5 },
    ...more,
    pools: { trial: { lanes: { jobs: load } } },
  }, { seed });
  return { ...report.pools["trial"]!, late, overMs: lastMs - firstMs };
}
