/**
 * Draws ordinary pools: lanes, jobs, strategies. What is planted in them is elsewhere.
 *
 * @module
 */

import type { LaneInput, PoolInput } from "../../src/config/input.ts";
import type { Duration, LaneLoad } from "../../src/simulate/mod.ts";
import type { Dice } from "../_dice.ts";

/** Most jobs a second: a run then takes a second or two. */
const MOST_PER_SEC = 120;

/** One lane of a pool that was drawn. */
export interface BaseLane {
  /** Its name. */
  readonly name: string;
  /** Wait that growth aims for, ms. */
  readonly targetWaitMs: number;
  /** Run times. */
  readonly law: Duration;
  /** Jobs a second. */
  readonly perSec: number;
  /** Workers that they keep busy. */
  readonly need: number;
}

/** A pool that was drawn. */
export interface Setup {
  /** What was drawn, for people. */
  readonly text: string;
  /** All of it but what is planted. */
  readonly pool: PoolInput;
  /** Its lanes, highest priority first. */
  readonly lanes: readonly BaseLane[];
  /** Its `size.max`. */
  readonly max: number;
  /** Workers that all jobs keep busy. */
  readonly need: number;
  /** Jobs a second over all lanes. */
  readonly perSec: number;
}

/** What is asked of a pool. */
export interface Wanted {
  /** Share of `size.max` that its jobs keep busy. */
  readonly load: number;
  /** How many lanes. */
  readonly lanes: number;
  /** The least `size.max`. @default {4} */
  readonly least?: number;
  /** Shares of the load by lane. @default {by chance} */
  readonly shares?: readonly number[];
}

/** Draws one. */
export function baseOf(dice: Dice, { load, lanes: count, least = 4, shares }: Wanted): Setup {
  const ms = dice.log(Math.max(20, least * 1000 * load / MOST_PER_SEC), 400);
  const max = dice.whole(least, Math.max(least, Math.min(24, MOST_PER_SEC * ms / 1000 / load)));
  const need = load * max;
  const kind = dice.one("fixed", "exponential", "lognormal");
  const law: Duration = kind === "lognormal" ? { kind, ms, cv: dice.even(0.5, 1.5) } : { kind, ms };
  const names = dice.one(["jobs", "mail", "batch"], ["urgent", "normal", "low"], ["a", "b", "c"]);
  const parts = shares ?? Array.from({ length: count }, () => dice.even(0.5, 1.5));
  const sum = parts.reduce((total, part) => total + part, 0);
  const targetWaitMs = dice.one(100, 500, 1000) + (ms > 100 ? 500 : 0);
  const lanes = parts.map((part, index): BaseLane => ({
    name: names[index]!,
    targetWaitMs,
    law,
    need: need * part / sum,
    perSec: need * part / sum * 1000 / ms,
  }));
  const controller = dice.one("age-scaler", "age-scaler", "littles-law");
  const admission = dice.one("shed-at-cap", "admit-all");
  const lanePolicy = dice.one("reserved-lane", "strict-priority", "fifo");
  return {
    text: `${count} lanes, ${max} workers, ${ms.toFixed(0)} ms ${kind}, load ${load.toFixed(2)}, ` +
      `target ${targetWaitMs}, ${controller}, ${admission}, ${lanePolicy}`,
    pool: {
      handler: "http",
      size: { min: dice.one(1, 2), max },
      lanes: lanes.map(({ name }) => ({ name, targetWaitMs })),
      controller,
      admission,
      lanePolicy,
      timeoutMs: 600_000,
      ...(dice.one(true, false) ? { adaptive: false } : {}),
    },
    lanes,
    max,
    need,
    perSec: need * 1000 / ms,
  };
}

/** Its lanes, each with more. */
export function lanesOf(
  { lanes }: Setup,
  more: (lane: BaseLane) => Partial<LaneInput>,
): readonly LaneInput[] {
  return lanes.map((lane) => ({
    name: lane.name,
    targetWaitMs: lane.targetWaitMs,
    ...more(lane),
  }));
}

/** The load of its lanes, at random times unless something else is given. */
export function loadsOf(
  { lanes }: Setup,
  more: (lane: BaseLane) => Partial<LaneLoad> = () => ({}),
): Readonly<Record<string, LaneLoad>> {
  return Object.fromEntries(lanes.map((lane) => [lane.name, {
    serviceMs: lane.law,
    arrivals: { kind: "poisson", perSec: lane.perSec },
    ...more(lane),
  }]));
}
