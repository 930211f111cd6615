/**
 * Jobs that wait although workers are idle: for a split of the workers, for others of their keys, for
 * the store.
 *
 * @module
 */

import { agreeing, counted, duration } from "../../base/format.ts";
import type { History } from "../../planning/history.ts";
import { hurtOf } from "./capacity.ts";
import { figure, type Finding, type Traits } from "./finding.ts";
import { isSplitAtFault, type Suffering, sufferingIn } from "./suffering.ts";

/** Room above the mean load of a lane, so that its jobs do not wait. */
const ROOM = 1.25;

/** The lane policy keeps workers idle that would be enough for the jobs that wait. */
export function reserveIdle(history: History, { lanePolicy }: Traits): readonly Finding[] {
  return sufferingIn(history).filter(isSplitAtFault).slice(0, 1).map((lane): Finding => {
    const { idle, forMs, need, span: { to } } = lane;
    const { name } = lane.lane;
    const enough = Math.max(lane.lane.running + 1, Math.ceil(need * ROOM));
    const idlers = figure(idle);
    return {
      code: "reserve-idle",
      lane: name,
      saw: `For ${duration(forMs)} ${idlers} of ${counted(to.live, "worker")} ` +
        `${agreeing(idlers, "was", "were")} idle on average, because lane policy ` +
        `"${lanePolicy}" keeps them for other lanes than "${name}": ${hurtOf(lane)}`,
      change: `Let lane "${name}" have ${counted(enough, "worker")} in lanePolicy ` +
        `"${lanePolicy}": keep fewer for the others`,
      setting: "lanePolicy",
      numbers: {
        idle,
        live: to.live,
        enough,
        share: lane.share,
        oldestWaitMs: lane.lane.oldestWaitMs,
        spanMs: forMs,
      },
    };
  });
}

/** Jobs wait for others of their keys for longer than their target. */
export function keyBound(history: History): readonly Finding[] {
  return sufferingIn(history).filter(({ cause }) => cause === "key").map((lane): Finding => {
    const { forMs, lane: { name, blocked, oldestBlockedMs, running } } = lane;
    return {
      code: "key-bound",
      lane: name,
      saw: `For ${duration(forMs)} jobs of lane "${name}" have waited for others of their keys: ` +
        `${counted(blocked, "job")} ${agreeing(blocked, "is", "are")} blocked, the oldest for ` +
        `${duration(oldestBlockedMs)}, and ${running} ${agreeing(running, "runs", "run")}`,
      change:
        `Raise maxRunningPerKey or ratesPerKey of lane "${name}", or spread its jobs over more ` +
        "keys: more workers will not help",
      setting: `lanes.${name}.maxRunningPerKey`,
      numbers: { blocked, oldestBlockedMs, running, spanMs: forMs },
    };
  });
}

/** The store takes so long to lease jobs that they are late because of it. */
export function storeSlow(history: History): readonly Finding[] {
  return sufferingIn(history).filter(isSlow).slice(0, 1).map((lane): Finding => {
    const { forMs, idle, span: { to } } = lane;
    return {
      code: "store-slow",
      lane: lane.lane.name,
      saw: `For ${duration(forMs)} workers have waited for the store, which takes ` +
        `${duration(to.leaseMs)} to lease jobs: ${hurtOf(lane)}`,
      change: "Look at what slows the store: its network, its disk, other processes on it; more " +
        "workers will not help",
      setting: "store",
      numbers: { leaseMs: to.leaseMs, idle, live: to.live, share: lane.share, spanMs: forMs },
    };
  });
}

function isSlow({ cause, span: { from, to } }: Suffering): boolean {
  return cause === "store" && to.starts > from.starts;
}
