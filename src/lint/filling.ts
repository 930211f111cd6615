/**
 * Lanes that never cause growth: their jobs fill what others leave. Is that enough for them, and do they
 * leave enough to others?
 *
 * @module
 */

import { agreeing, counted } from "../base/format.ts";
import { type Concern, concern, figure, span } from "./concern.ts";
import { carries, type LaneFacts, type PoolFacts, sum } from "./facts.ts";
import { learnedReserve, MOST_LANES } from "./shares.ts";

/** Load that can never cause growth, and lanes whose jobs wait for jobs of such lanes. */
export function lintFilling(pool: PoolFacts): readonly Concern[] {
  const filling = pool.lanes.filter(({ settings }) =>
    settings.targetWaitMs === null && settings.startWithinMs === undefined
  );
  const { controller } = pool.settings;
  if (controller.plugin?.constant === true || !carries(pool)) return [];
  return [...neverGrows(pool, filling), ...reserves(pool, filling)];
}

function neverGrows(pool: PoolFacts, filling: readonly LaneFacts[]): readonly Concern[] {
  const { size } = pool.settings;
  const load = sum(filling, (lane) => lane.load);
  const others = pool.load - load;
  const left = Math.max(0, Math.max(1, size.min) - others);
  const most = filling.toSorted((a, b) => b.load - a.load)[0];
  if (most === undefined || load <= left) return [];
  const least = Math.min(size.max, Math.ceil(others + load + 1e-9));
  const busy = figure(load);
  return [concern({
    code: "never-grows",
    severity: "warning",
    path: [...most.path, "targetWaitMs"],
    message: `${named(filling)} ${agreeing(filling.length, "keeps", "keep")} ` +
      `${counted(busy, "worker")} busy but never ${
        agreeing(filling.length, "causes", "cause")
      } growth, and size.min ${size.min} leaves ${figure(left)}: the queue grows without bound`,
    formula: "load of lanes that never cause growth > max(1, size.min) - load of the others",
    numbers: { load, others, min: size.min, left },
    change: `Set "startWithinMs" beside it (600000: within ten minutes, 0: as fast as the caps ` +
      `allow), or raise size.min to ${least}`,
  })];
}

/** Each worker that a lane makes the pool grow by may take a job of a lane that never causes growth. */
function reserves(pool: PoolFacts, filling: readonly LaneFacts[]): readonly Concern[] {
  const { settings, bounds, context, lanes } = pool;
  if (lanes.length > MOST_LANES) return [];
  return lanes.flatMap((lane) => {
    const { name, targetWaitMs } = lane.settings;
    const below = filling.find(({ index, serviceMs }) =>
      index > lane.index && targetWaitMs !== null && serviceMs > targetWaitMs / 2
    );
    const enough = Math.ceil(lane.load + 2 * Math.sqrt(lane.load)); // two standard deviations
    const room = bounds.workers - Math.max(settings.size.min, Math.ceil(pool.load));
    if (below === undefined || lane.load === 0 || room < enough) return [];
    const kept = learnedReserve(settings, bounds.workers, { context, index: lane.index });
    if (kept >= enough) return [];
    return [concern({
      code: "reserve-below-chance",
      severity: "note",
      path: [...pool.path, "lanePolicy"],
      message: `${counted(kept, "worker")} kept for lane "${name}" ${
        agreeing(kept, "covers", "cover")
      } its ${figure(lane.load)} on average but not by chance: jobs of ${
        span(below.serviceMs)
      } of lane "${below.settings.name}" take the workers that the pool grows by for it`,
      formula: "reserve < load + 2 x sqrt(load), and jobs below it run for over targetWaitMs / 2",
      numbers: { kept, load: lane.load, enough, lowerMs: below.serviceMs },
      change: `Reserve ${counted(enough, "worker")} for "${name}"`,
    })];
  });
}

function named(lanes: readonly LaneFacts[]): string {
  const names = lanes.map(({ settings }) => `"${settings.name}"`).join(", ");
  return `${lanes.length === 1 ? "Lane" : "Lanes"} ${names}`;
}
