/**
 * Offered load against workers and start rate: Little's law.
 *
 * @module
 */

import { agreeing, counted } from "../base/format.ts";
import { leastWorkers } from "../base/erlang.ts";
import { type Concern, concern, figure } from "./concern.ts";
import type { LaneFacts, PoolFacts } from "./facts.ts";

/** Loads that the pool, its start rate or what its policy gives a lane cannot carry. */
export function lintLoad(pool: PoolFacts): readonly Concern[] {
  return [
    ...overload(pool),
    ...rateOverload(pool),
    ...pool.lanes.flatMap((lane) => laneRateOverload(pool, lane)),
    ...pool.lanes.flatMap(laneOverload(pool)),
  ];
}

function overload({ bounds: { workers, binder }, load, perSec, serviceMs }: PoolFacts): Concern[] {
  if (load < workers || load === 0 || workers === 0) return [];
  const least = leastWorkers(load);
  const most = workers / serviceMs * 1000;
  const come = figure(perSec);
  return [concern({
    code: "overload",
    severity: "error",
    path: binder.path,
    message:
      `${counted(come, "job")}/s of ${figure(serviceMs)} ms ${agreeing(come, "keeps", "keep")} ` +
      `${
        counted(figure(load), "worker")
      } busy but ${binder.name} allows ${workers}: the queue grows without bound`,
    formula: "perSec x serviceMs / 1000 >= workers",
    numbers: { perSec, serviceMs, load, workers },
    change: `Raise ${binder.name} to ${counted(least, "worker")}, or expect fewer than ` +
      `${counted(figure(most), "job")}/s a process`,
  })];
}

function rateOverload({ bounds: { startsPerSec, rateCap }, perSec }: PoolFacts): Concern[] {
  if (rateCap === undefined || perSec <= startsPerSec) return [];
  const come = figure(perSec);
  return [concern({
    code: "rate-overload",
    severity: "error",
    path: rateCap.path,
    message: `${counted(come, "job")}/s ${agreeing(come, "is", "are")} expected but ` +
      `${rateCap.title} lets ${figure(startsPerSec)} start: no number of workers helps`,
    formula: "perSec > startsPerSec",
    numbers: { perSec, startsPerSec },
    change: `Let ${rateCap.title} allow ${counted(come, "start")}/s, or expect at most ` +
      `${counted(figure(startsPerSec), "job")}/s`,
  })];
}

function laneRateOverload({ bounds }: PoolFacts, lane: LaneFacts): Concern[] {
  const { perSec, settings: { name } } = lane;
  const come = figure(perSec);
  return bounds.caps.flatMap(({ title, path, laneRates }) => {
    const startsPerSec = laneRates.get(name) ?? Infinity;
    if (perSec <= startsPerSec) return [];
    return [concern({
      code: "rate-overload",
      severity: "error",
      path,
      message: `${counted(come, "job")}/s ${agreeing(come, "is", "are")} expected in lane ` +
        `"${name}" but ${title} lets ${
          figure(startsPerSec)
        } of them start: no number of workers helps`,
      formula: "perSec > startsPerSec of the lane",
      numbers: { perSec, startsPerSec },
      change: `Let ${title} allow ${counted(come, "start")}/s of that lane, or expect at most ` +
        `${counted(figure(startsPerSec), "job")}/s in it`,
    })];
  });
}

function laneOverload(pool: PoolFacts): (lane: LaneFacts) => Concern[] {
  const { bounds, settings } = pool;
  return ({ share, load, perSec, serviceMs, settings: lane, path }) => {
    // Where the whole pool is too small for this lane, `overload` says so.
    if (load < share.alone || load === 0 || load >= bounds.workers) return [];
    const least = leastWorkers(load);
    const come = figure(perSec);
    const byLane = lane.maxRunning <= share.alone;
    const holder = byLane ? "maxRunning" : `lane policy "${settings.lanePolicy.name}"`;
    return [concern({
      code: "lane-overload",
      severity: "error",
      path: byLane ? [...path, "maxRunning"] : [...pool.path, "lanePolicy"],
      message: `${counted(come, "job")}/s of ${figure(serviceMs)} ms in lane "${lane.name}" ` +
        `${agreeing(come, "keeps", "keep")} ` +
        `${counted(figure(load), "worker")} busy but ${holder} leaves it ${share.alone} of ` +
        `${bounds.workers}: it starves`,
      formula: "perSec x serviceMs / 1000 >= workers of the lane",
      numbers: { perSec, serviceMs, load, workers: share.alone },
      change: byLane
        ? `Raise maxRunning to ${least}`
        : `Leave ${least - share.alone} more to it: reserve fewer for other lanes, or raise ` +
          `${bounds.binder.name} to ${bounds.workers + least - share.alone}`,
    })];
  };
}
