/**
 * What the checks of one pool compute with.
 *
 * @module
 */

import type { Path } from "../config/faults.ts";
import { leastWorkers, offeredLoad } from "../base/erlang.ts";
import type { PluginContext } from "../contract/plugin.ts";
import { randomStream } from "../base/random.ts";
import type { LaneSettings, PoolSettings } from "../config/settings.ts";
import type { Concern } from "./concern.ts";
import { lintFailing } from "./failing.ts";
import { type Bounds, boundsOf } from "./bounds.ts";
import { type Share, sharer } from "./shares.ts";

/** One lane. */
export interface LaneFacts {
  /** What the config says. */
  readonly settings: LaneSettings;
  /** Place in priority order, 0 is the highest. */
  readonly index: number;
  /** Where it is. */
  readonly path: Path;
  /** Jobs per second. 0 without `expect`. */
  readonly perSec: number;
  /** Mean run time, ms. 0 without `expect`. */
  readonly serviceMs: number;
  /** Offered load, erlangs. 0 without `expect`. */
  readonly load: number;
  /** Offered load of the lanes above it, erlangs. */
  readonly loadAbove: number;
  /** Offered load of the lanes below it, erlangs. */
  readonly loadBelow: number;
  /** Jobs per second of the lanes above it. */
  readonly perSecAbove: number;
  /** Jobs per second of the lanes below it. */
  readonly perSecBelow: number;
  /** Workers that the policy gives it in a full pool. */
  readonly share: Share;
}

/** One pool. */
export interface PoolFacts {
  /** What the config says. */
  readonly settings: PoolSettings;
  /** Where it is. */
  readonly path: Path;
  /** How far it may grow. */
  readonly bounds: Bounds;
  /** Its lanes, highest priority first. */
  readonly lanes: readonly LaneFacts[];
  /** Jobs per second over all lanes that say so. */
  readonly perSec: number;
  /** Offered load over all lanes that say so, erlangs. */
  readonly load: number;
  /** Mean run time over all lanes that say so, ms. 0 if none does. */
  readonly serviceMs: number;
  /** Strategies that fail when they are asked. */
  readonly failing: readonly Concern[];
  /** Makes the context that its plugins are tried in. */
  readonly context: PluginContext;
}

/** Gathers the facts of one pool. Its strategies are made and asked; handlers and stores are not. */
export function factsOf(pool: PoolSettings): PoolFacts {
  const path = ["pools", pool.name];
  const context = contextOf(pool);
  const bounds = boundsOf(pool, path, context);
  const shareOf = sharer(pool, bounds.workers, context);
  const expected = pool.lanes.map(({ expect = { perSec: 0, serviceMs: 0 } }) => expect);
  const loads = expected.map(({ perSec, serviceMs }) => offeredLoad(perSec, serviceMs));
  const rates = expected.map(({ perSec }) => perSec);
  const perSecAbove = sumsBefore(rates);
  const above = sumsBefore(loads);
  const below = sumsBefore(loads.toReversed()).toReversed();
  const perSecBelow = sumsBefore(rates.toReversed()).toReversed();
  const lanes = pool.lanes.map((settings, index): LaneFacts => {
    const { perSec, serviceMs } = expected[index] ?? { perSec: 0, serviceMs: 0 };
    return {
      settings,
      index,
      path: [...path, "lanes", index],
      perSec,
      serviceMs,
      load: loads[index] ?? 0,
      loadAbove: above[index] ?? 0,
      loadBelow: below[index] ?? 0,
      perSecAbove: perSecAbove[index] ?? 0,
      perSecBelow: perSecBelow[index] ?? 0,
      get share() {
        return shareOf(index);
      },
    };
  });
  const perSec = sum(lanes, (lane) => lane.perSec);
  const load = sum(lanes, (lane) => lane.load);
  const serviceMs = perSec > 0 ? load / perSec * 1000 : Math.max(...lanes.map(runTime));
  const failing = lintFailing(pool, path, context);
  return { settings: pool, path, bounds, lanes, perSec, load, serviceMs, failing, context };
}

/** True if the pool can carry what it expects at all: finer checks say nothing otherwise. */
export function carries({ failing, bounds, load, perSec, lanes }: PoolFacts): boolean {
  return failing.length === 0 && bounds.workers >= leastWorkers(load) &&
    perSec <= bounds.startsPerSec &&
    lanes.every((lane) => lane.load === 0 || lane.load < lane.share.alone);
}

/** For each number the sum of those before it. */
function sumsBefore(numbers: readonly number[]): number[] {
  let total = 0;
  return numbers.map((number) => {
    const before = total;
    total += number;
    return before;
  });
}

/** Sum of a figure over lanes. */
export function sum(lanes: readonly LaneFacts[], figure: (lane: LaneFacts) => number): number {
  return lanes.reduce((total, lane) => total + figure(lane), 0);
}

function runTime({ serviceMs }: LaneFacts): number {
  return serviceMs;
}

function contextOf(pool: PoolSettings): PluginContext {
  const silent = (): void => {};
  return {
    pool: pool.name,
    lanes: pool.lanes.map(({ name }) => name),
    size: pool.size,
    random: randomStream(1, `${pool.name}/lint`),
    log: { debug: silent, info: silent, warn: silent, error: silent },
  };
}
