/**
 * Draws set-ups that the diagnosis is judged on: each with one cause of trouble planted in it, or sound.
 * One is known by its cause, a seed and a number.
 *
 * @module
 */

import type { PoolInput } from "../../src/config/input.ts";
import type { FindingCode } from "../../src/explain/diagnose.ts";
import type { LaneLoad, ScenarioInput } from "../../src/simulate/mod.ts";
import { Dice } from "../_dice.ts";
import { type BaseLane, baseOf, lanesOf, loadsOf, type Setup } from "./base.ts";

/** What is planted. */
export const CAUSES = [
  "size.max",
  "cap",
  "rate",
  "maxRunning",
  "key limit",
  "idle reserve",
  "dedicated lanes",
  "lane without target",
  "failing handler",
  "slower downstream",
  "bursts",
  "slow store",
  "blocked loop",
] as const;

/** One of them. */
export type Cause = typeof CAUSES[number];

/** A set-up, and what is to be found. */
export interface Draw {
  /** What was drawn, for people. */
  readonly text: string;
  /** The pool. */
  readonly pool: PoolInput;
  /** What is played. */
  readonly scenario: ScenarioInput;
  /** What is to be found first. `undefined`: nothing is. */
  readonly expected: Expected | undefined;
}

/** What is to be found. */
export interface Expected {
  /** Codes that name the cause. */
  readonly codes: readonly FindingCode[];
  /** The lane that it was planted in. `undefined`: it hurts whatever lane it hurts. */
  readonly lane: string | undefined;
  /** The setting to change. */
  readonly setting: string;
}

/** How long most are played, ms: a minute is counted, and another may pass before it is found. */
const SPAN_MS = 150_000;

/** When something goes wrong that is to be told from what was before, and until when, ms. */
const SLOW_FROM_MS = 130_000;
const SLOW_UNTIL_MS = 210_000;

/** How long a queue has to grow that nothing makes a pool grow for, ms. */
const FILLS_MS = 400_000;

/** Draws a set-up with one cause planted. */
export function failingOf(cause: Cause, seed: number, number: number): Draw {
  const dice = new Dice(seed, `diagnosis ${cause} ${number}`);
  switch (cause) {
    case "size.max":
    case "bursts":
      return atSize(dice, cause);
    case "cap":
    case "rate":
      return atCap(dice, cause);
    case "maxRunning":
    case "key limit":
      return atLane(dice, cause);
    case "idle reserve":
    case "dedicated lanes":
      return atSplit(dice, cause);
    case "lane without target":
      return filling(dice);
    case "failing handler":
    case "slower downstream":
      return atHandler(dice, cause);
    case "slow store":
    case "blocked loop":
      return atProcess(dice, cause);
  }
}

/** Draws a set-up that has all it needs, with bounds that are wide enough. */
export function soundOf(seed: number, number: number): Draw {
  const dice = new Dice(seed, `diagnosis sound ${number}`);
  const setup = baseOf(dice, { load: dice.even(0.2, 0.65), lanes: dice.one(1, 1, 2, 3) });
  const { max, perSec } = setup;
  const extra = dice.one<Partial<PoolInput>>(
    {},
    { caps: [{ use: "fixed-cap", with: { workers: max } }] },
    { caps: [{ use: "db-pool-cap", with: { connections: max + 2 } }] },
    { caps: [{ use: "api-rate-cap", with: { callsPerSec: Math.ceil(2 * perSec) + 10 } }] },
  );
  const lanes = lanesOf(setup, (lane) =>
    dice.one(
      {},
      { maxRunning: Math.ceil(2 * lane.need) + 4 },
      { maxRunningPerKey: 2 },
    ));
  const loads = loadsOf(setup, () => dice.one({}, { keys: 1000 }, { failRate: 0.02 }));
  return drawOf(setup, { text: "sound", pool: { ...extra, lanes }, loads, expected: undefined });
}

function atSize(dice: Dice, cause: "size.max" | "bursts"): Draw {
  const isBurst = cause === "bursts";
  const load = isBurst ? dice.even(0.4, 0.75) : dice.even(1.08, 1.6);
  const setup = baseOf(dice, { load, lanes: dice.one(1, 1, 2) });
  const onMs = dice.log(1500, 8000);
  const times = dice.even(2.5, 4) * Math.max(1, 0.5 / load); // as high as the mean
  const loads = loadsOf(setup, (lane) =>
    isBurst
      ? {
        arrivals: {
          kind: "on-off",
          perSec: lane.perSec * times,
          onMs,
          offMs: onMs * (times - 1),
        },
      }
      : {});
  return drawOf(setup, {
    text: isBurst ? `${times.toFixed(1)} times for ${onMs.toFixed(0)} ms` : "",
    pool: {},
    loads,
    expected: { codes: ["at-capacity"], lane: undefined, setting: "size.max" },
  });
}

function atCap(dice: Dice, cause: "cap" | "rate"): Draw {
  const setup = baseOf(dice, { load: dice.even(0.4, 0.7), lanes: dice.one(1, 1, 2), least: 8 });
  const over = dice.even(1.15, 1.6);
  const workers = Math.max(1, Math.floor(setup.need / over));
  const callsPerSec = Math.max(1, Math.floor(setup.perSec / over));
  const caps = cause === "rate" ? [{ use: "api-rate-cap", with: { callsPerSec } }] : [
    dice.one(
      { use: "fixed-cap", with: { workers } },
      { use: "db-pool-cap", with: { connections: workers } },
    ),
  ];
  return drawOf(setup, {
    text: JSON.stringify(caps[0]),
    pool: { caps },
    loads: loadsOf(setup),
    expected: { codes: ["at-capacity"], lane: undefined, setting: `cap:${caps[0]!.use}` },
  });
}

function atLane(dice: Dice, cause: "maxRunning" | "key limit"): Draw {
  const setup = baseOf(dice, { load: dice.even(0.3, 0.6), lanes: dice.one(1, 2, 3), least: 8 });
  const bound = setup.lanes.toSorted((a, b) => b.need - a.need)[0]!;
  const over = dice.even(1.15, 1.8);
  const places = Math.max(1, Math.floor(bound.need / over));
  const isKey = cause === "key limit";
  const perKey = isKey ? dice.one(1, 1, 2) : 1;
  const keys = Math.max(1, Math.floor(places / perKey));
  const own = isKey ? { maxRunningPerKey: perKey } : { maxRunning: places };
  return drawOf(setup, {
    text: isKey ? `${keys} keys, ${perKey} each in ${bound.name}` : `${places} in ${bound.name}`,
    pool: { lanes: lanesOf(setup, (lane) => lane === bound ? own : {}) },
    loads: loadsOf(setup, (lane) => lane === bound && isKey ? { keys } : {}),
    expected: {
      codes: [isKey ? "key-bound" : "at-capacity"],
      lane: bound.name,
      setting: `lanes.${bound.name}.${isKey ? "maxRunningPerKey" : "maxRunning"}`,
    },
  });
}

/** Two lanes, of which one has too few workers while those of the other are idle. */
function atSplit(dice: Dice, cause: "idle reserve" | "dedicated lanes"): Draw {
  const load = dice.even(0.45, 0.7);
  const setup = baseOf(dice, { load, lanes: 2, least: 8, shares: [0.12, 0.88] });
  const [high, low] = setup.lanes as [BaseLane, BaseLane]; // as many as were asked for
  const left = Math.max(1, Math.floor(low.need / dice.even(1.1, 1.5)));
  const kept = setup.max - left;
  const lanePolicy = cause === "idle reserve"
    ? { use: "reserved-lane", with: { reserve: { [high.name]: kept } } }
    : { use: "dedicated-lanes", with: { workers: { [high.name]: kept, [low.name]: left } } };
  return drawOf(setup, {
    text: JSON.stringify(lanePolicy),
    pool: { lanePolicy },
    loads: loadsOf(setup),
    expected: { codes: ["reserve-idle"], lane: low.name, setting: "lanePolicy" },
  });
}

function filling(dice: Dice): Draw {
  const max = dice.whole(8, 24);
  const serviceMs = dice.log(2000, 40_000);
  const need = dice.even(2, 0.6 * max);
  const perSec = need * 1000 / serviceMs;
  const hasOther = dice.one(true, false);
  const name = dice.one("batch", "reports");
  const lanes = [
    ...(hasOther ? [{ name: "urgent", targetWaitMs: 1000 }] : []),
    { name, targetWaitMs: null },
  ];
  const loads: Record<string, LaneLoad> = {
    ...(hasOther
      ? {
        urgent: {
          serviceMs: { kind: "exponential", ms: 20 },
          arrivals: { kind: "poisson", perSec: 0.5 },
        },
      }
      : {}),
    [name]: { serviceMs: { kind: "fixed", ms: serviceMs }, arrivals: { kind: "poisson", perSec } },
  };
  return {
    text: `${name}: ${need.toFixed(1)} of ${max} workers, ${serviceMs.toFixed(0)} ms`,
    pool: {
      handler: "http",
      size: { min: 1, max },
      lanes,
      admission: "admit-all",
      timeoutMs: 600_000,
    },
    scenario: { durationMs: FILLS_MS, pools: { pool: { lanes: loads } } },
    expected: { codes: ["never-grows"], lane: name, setting: `lanes.${name}.startWithinMs` },
  };
}

function atHandler(dice: Dice, cause: "failing handler" | "slower downstream"): Draw {
  const isSlow = cause === "slower downstream";
  const load = isSlow ? dice.even(0.2, 0.5) : dice.even(0.1, 0.3);
  const setup = baseOf(dice, { load, lanes: isSlow ? 1 : dice.one(1, 2, 3) });
  const lane = dice.one(...setup.lanes);
  const failRate = dice.even(0.65, 1);
  const factor = dice.even(2, 5);
  const span = { atMs: SLOW_FROM_MS, forMs: SLOW_UNTIL_MS };
  return drawOf(setup, {
    text: isSlow ? `x${factor.toFixed(1)}` : `${failRate.toFixed(2)} of ${lane.name} fail`,
    pool: {},
    loads: loadsOf(setup, (one) => one === lane && !isSlow ? { failRate } : {}),
    more: isSlow ? { durationMs: SLOW_UNTIL_MS, faults: [{ kind: "slow", ...span, factor }] } : {},
    expected: {
      codes: [isSlow ? "downstream-slower" : "failing"],
      lane: lane.name,
      setting: "handler",
    },
  });
}

function atProcess(dice: Dice, cause: "slow store" | "blocked loop"): Draw {
  const isStore = cause === "slow store";
  const setup = baseOf(dice, { load: dice.even(0.2, 0.6), lanes: dice.one(1, 2) });
  const longest = Math.max(...setup.lanes.map(({ targetWaitMs }) => targetWaitMs));
  const storeMs = longest * dice.even(1.3, 2.5);
  const everyMs = dice.log(2000, 10_000);
  const forMs = everyMs * dice.even(0.1, 0.4) + 200;
  const count = Math.floor(SPAN_MS / everyMs);
  const faults = Array.from({ length: count }, (_, index) => ({
    kind: "block" as const,
    atMs: (index + 0.5) * everyMs,
    forMs,
  }));
  return drawOf(setup, {
    text: isStore
      ? `store ${storeMs.toFixed(0)} ms`
      : `${forMs.toFixed(0)} of ${everyMs.toFixed(0)} ms blocked`,
    pool: {},
    loads: loadsOf(setup),
    more: isStore ? { storeMs } : { faults },
    expected: {
      codes: [isStore ? "store-slow" : "loop-blocked"],
      lane: undefined,
      setting: isStore ? "store" : "handler",
    },
  });
}

function drawOf(
  setup: Setup,
  { text, pool, loads, more = {}, expected }: {
    readonly text: string;
    readonly pool: Partial<PoolInput>;
    readonly loads: Readonly<Record<string, LaneLoad>>;
    readonly more?: Partial<ScenarioInput>;
    readonly expected: Expected | undefined;
  },
): Draw {
  return {
    text: `${setup.text}; ${text}`,
    pool: { ...setup.pool, ...pool },
    scenario: {
      durationMs: SPAN_MS,
      timerLateMs: { kind: "exponential", ms: 0.3 },
      ...more,
      pools: { pool: { lanes: loads } },
    },
    expected,
  };
}
