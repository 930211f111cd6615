/**
 * Draws the scenarios that `adaptive-cap` is judged on: pools without a knee, knees, slow-downs and the
 * rest of what it must bear. A scenario is known by its kind, a seed and a number.
 *
 * @module
 */

import { Dice } from "../_dice.ts";
import type { Arrivals, Duration, LaneLoad, ScenarioFault } from "../../src/simulate/mod.ts";

/** What is drawn. */
export const KINDS = [
  "healthy", // no knee
  "knee", // overloaded
  "below", // 0.8 to 0.95 of what a collapsing downstream bears
  "slow", // all attempts take longer for a while
  "slots", // a knee that moves
  "told", // the downstream says that it is overloaded, and nothing is tried
  "store", // a store that takes its time
] as const;

/** One of them. */
export type Kind = (typeof KINDS)[number];

/** How long each is played, ms. */
export const SPAN_MS = 300_000;

/** How late timers fire, ms: part of each run time. */
export const LATE_MS = 0.3;

/** Most jobs a second that are drawn: a run then takes some seconds. */
const MOST_PER_SEC = 300;

/** A scenario: one pool in some processes, and what it calls. */
export interface Draw {
  readonly kind: Kind;
  /** What was drawn, for people. */
  readonly text: string;
  readonly size: { readonly min: number; readonly max: number };
  readonly targetWaitMs: number;
  readonly peers: number;
  readonly storeMs: number;
  /** By lane. */
  readonly lanes: Readonly<Record<string, LaneLoad>>;
  readonly faults: readonly ScenarioFault[];
  /** What the downstream bears at once. `undefined`: anything. */
  readonly slots: number | undefined;
  /** Jobs a second that it does at best. */
  readonly ceilingPerSec: number;
  /** When the load that it is judged on begins, ms. */
  readonly fromMs: number;
}

/** Draws one. */
export function drawOf(kind: Kind, seed: number, number: number): Draw {
  const dice = new Dice(seed, `${kind} ${number}`);
  switch (kind) {
    case "healthy":
      return healthy(dice, kind, 0);
    case "store":
      return healthy(dice, kind, dice.one(0, 5, 20, 50, 100, 200));
    case "slow":
      return slow(dice);
    case "slots":
      return moving(dice);
    case "knee":
    case "told":
    case "below":
      return knee(dice, kind);
  }
}

function healthy(dice: Dice, kind: Kind, storeMs: number): Draw {
  const peers = dice.one(1, 1, 1, 1, 2, 2, 4);
  const ms = Math.max(dice.log(5, 100), peers > 1 ? 8.5 * peers : 0); // four workers at least
  const most = Math.max(4, Math.min(64, MOST_PER_SEC * ms / 1000 / peers / 1.5));
  const max = dice.whole(4, most);
  const load = dice.even(0.5, 1.5);
  const perSec = load * peers * max * 1000 / (ms + LATE_MS);
  const law = lawOf(dice, ms);
  const failRate = dice.one(0, 0, 0, 0.05, 0.3);
  const isMixed = dice.one(false, false, true);
  const flow = isMixed ? "mixed lanes" : dice.one("poisson", "poisson", "bursts");
  const base = { failRate };
  const lanes: Record<string, LaneLoad> = isMixed
    ? mixed(dice, { perSec, law, ms, base })
    : { all: { ...base, serviceMs: law, arrivals: flowOf(dice, flow, perSec) } };
  const text = `${peers} x ${max} workers, ${lawText(law)}, load ${load.toFixed(2)}, ${flow}` +
    (failRate > 0 ? `, ${failRate} fail` : "") + (storeMs > 0 ? `, store ${storeMs} ms` : "");
  return {
    ...{ kind, text, peers, storeMs, lanes },
    size: { min: dice.one(1, 2), max },
    targetWaitMs: dice.one(50, 50, 200, 1000),
    faults: [],
    slots: undefined,
    ceilingPerSec: peers * max * 1000 / (ms + LATE_MS),
    fromMs: 0,
  };
}

function lawOf(dice: Dice, ms: number): Duration {
  const cv = dice.even(1, 3);
  return dice.one<Duration>(
    { kind: "fixed", ms },
    { kind: "exponential", ms },
    { kind: "lognormal", ms, cv },
  );
}

function lawText(law: Duration): string {
  if (law.kind === "percentiles") return `p50 ${law.p50} ms`;
  if (law.kind === "uniform") return `${law.min} to ${law.max} ms`;
  const cv = law.kind === "lognormal" ? ` cv ${law.cv.toFixed(1)}` : "";
  return `${law.ms.toFixed(0)} ms ${law.kind}${cv}`;
}

function flowOf(dice: Dice, flow: string, perSec: number): Arrivals {
  if (flow !== "bursts") return { kind: "poisson", perSec };
  const onMs = dice.log(100, 5000);
  return { kind: "on-off", perSec: 2 * perSec, onMs, offMs: onMs };
}

/** Two lanes of which one takes four times as long; what comes of each changes every few seconds. */
function mixed(
  dice: Dice,
  { perSec, law, ms, base }: {
    readonly perSec: number;
    readonly law: Duration;
    readonly ms: number;
    readonly base: Pick<LaneLoad, "failRate">;
  },
): Record<string, LaneLoad> {
  const everyMs = dice.log(2000, 30_000);
  const phases = Array.from({ length: Math.ceil(SPAN_MS / everyMs) }, (_, index) => ({
    untilMs: (index + 1) * everyMs,
    share: dice.even(0.1, 0.9),
  }));
  const long = { ...law, ms: 4 * ms } as Duration; // each law that is drawn has a mean
  return {
    short: {
      ...base,
      serviceMs: law,
      arrivals: {
        kind: "poisson",
        phases: phases.map(({ untilMs, share }) => ({ untilMs, perSec: perSec * share })),
      },
    },
    long: {
      ...base,
      serviceMs: long,
      arrivals: {
        kind: "poisson",
        phases: phases.map(({ untilMs, share }) => ({ untilMs, perSec: perSec * (1 - share) / 4 })),
      },
    },
  };
}

/** A downstream that is overloaded, from the start or after half a minute, or nearly so. */
function knee(dice: Dice, kind: Kind): Draw {
  const isBelow = kind === "below";
  const ms = dice.log(5, isBelow ? 40 : 100);
  const peers = isBelow ? 1 : dice.one(1, 1, 1, 1, 2, 2, 4);
  const most = Math.min(30, MOST_PER_SEC * ms / 1000);
  const slots = dice.whole(Math.max(5, 2 * peers), Math.max(5, 2 * peers, most));
  const max = dice.whole(Math.max(24, Math.ceil(1.5 * slots)), 100);
  const collapse = isBelow ? dice.log(0.02, 0.1) : dice.one(0, 0, dice.log(0.02, 0.1));
  const cv = dice.one(0, 0, 1, 2);
  const isWarm = !isBelow && dice.one(true, false);
  const load = isBelow ? dice.even(0.8, 0.95) : dice.even(1.1, 2);
  const ceilingPerSec = slots * 1000 / (ms + LATE_MS);
  const fromMs = isWarm ? 30_000 : 0;
  const warm = { untilMs: 30_000, perSec: 0.5 * ceilingPerSec };
  const phase = { untilMs: SPAN_MS, perSec: load * ceilingPerSec };
  const tells = kind === "told";
  const text =
    `${slots} slots, ${peers} x ${max} workers, ${ms.toFixed(0)} ms cv ${cv}, collapse ` +
    `${collapse.toFixed(3)}, load ${load.toFixed(2)}, ${isWarm ? "warm" : "cold"}`;
  return {
    ...{ kind, text, peers, storeMs: 0, faults: [], slots, ceilingPerSec, fromMs },
    size: { min: 1, max },
    targetWaitMs: dice.one(50, 200),
    lanes: {
      all: {
        serviceMs: { kind: "knee", ms, cv, slots, collapse, tells },
        arrivals: { kind: "poisson", phases: isWarm ? [warm, phase] : [phase] },
      },
    },
  };
}

/** All attempts take two to six times as long for 20 s, four times. */
function slow(dice: Dice): Draw {
  const ms = dice.log(5, 100);
  const max = dice.whole(16, Math.max(16, Math.min(64, 2 * MOST_PER_SEC * ms / 1000)));
  const factor = dice.one(2, 3, 4, 6);
  const share = dice.even(0.5, 1.1); // of the workers, while it is slow
  const perSec = Math.min(MOST_PER_SEC, share * max / factor * 1000 / (ms + LATE_MS));
  const law = lawOf(dice, ms);
  const faults = [30_000, 100_000, 170_000, 240_000].map((atMs) =>
    ({ kind: "slow", atMs, forMs: 20_000, factor }) as const
  );
  return {
    kind: "slow",
    text: `${max} workers, ${lawText(law)}, x${factor} slower, then load ${share.toFixed(2)}`,
    ...{ size: { min: 2, max }, targetWaitMs: dice.one(50, 50, 200), peers: 1, storeMs: 0, faults },
    lanes: { all: { serviceMs: law, arrivals: { kind: "poisson", perSec } } },
    ...{ slots: undefined, ceilingPerSec: Infinity, fromMs: 0 },
  };
}

/** Slots that go away for two minutes and come back: how soon does it do what it can again? */
function moving(dice: Dice): Draw {
  const ms = dice.log(5, 50);
  const most = Math.max(10, Math.min(64, MOST_PER_SEC * ms / 1000));
  const slots = dice.whole(10, most);
  const factor = dice.even(0.2, 0.6);
  const cv = dice.one(0, 1);
  const collapse = dice.one(0, 0.03);
  const load = dice.even(0.7, 1.3);
  const ceilingPerSec = slots * 1000 / (ms + LATE_MS);
  return {
    kind: "slots",
    text: `${slots} slots, x ${factor.toFixed(2)} for 2 min, ${ms.toFixed(0)} ms cv ${cv}, ` +
      `collapse ${collapse}, load ${load.toFixed(2)}`,
    ...{ size: { min: 2, max: 2 * slots }, targetWaitMs: 50, peers: 1, storeMs: 0 },
    lanes: {
      all: {
        serviceMs: { kind: "knee", ms, cv, slots, collapse },
        arrivals: { kind: "poisson", perSec: load * ceilingPerSec },
      },
    },
    faults: [{ kind: "slots", atMs: 60_000, forMs: 120_000, factor }],
    ...{ slots, ceilingPerSec, fromMs: 0 },
  };
}
