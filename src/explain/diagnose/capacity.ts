/**
 * A pool that can do no more of what comes: what binds it, and the smallest change that helps.
 *
 * @module
 */

import { agreeing, counted, duration } from "../../base/format.ts";
import type { History } from "../../planning/history.ts";
import { figure, type Finding, named, type Traits } from "./finding.ts";
import {
  binderIn,
  type Bottleneck,
  isSplitAtFault,
  type Suffering,
  sufferingIn,
} from "./suffering.ts";

/** Workers that are busy for a larger share of the time make jobs wait. */
const MOST_BUSY = 0.9;

/** Jobs are late or rejected, at a limit: one finding for each limit, with the lane that it hurts most. */
export function atCapacity(history: History, traits: Traits): readonly Finding[] {
  const found = new Map<string, Finding>();
  for (const lane of sufferingIn(history)) {
    const { cause } = lane;
    if (cause === "key" || cause === "store" || cause === "receiver") continue; // others say so
    if (isSplitAtFault(lane)) continue;
    const binder = cause === "lane"
      ? { name: `lanes.${lane.lane.name}.maxRunning`, isFound: false }
      : binderIn(lane.span, cause === "policy" ? "worker" : cause, traits);
    if (!found.has(binder.name)) found.set(binder.name, findingOf(lane, binder, traits, history));
  }
  return [...found.values()];
}

function findingOf(
  lane: Suffering,
  binder: Bottleneck,
  traits: Traits,
  { controller }: History,
): Finding {
  const { name, targetWaitMs } = lane.lane;
  const { to, ms } = lane.span;
  const shedPerSec = lane.shed * 1000 / ms;
  return {
    code: "at-capacity",
    lane: name,
    saw: `For ${duration(lane.forMs)} ${heldBy(lane, binder, controller)}: ${hurtOf(lane)}`,
    change: changeOf(lane, binder, traits, controller),
    setting: binder.name,
    numbers: {
      live: to.live,
      limit: to.limit,
      share: lane.share,
      late: lane.late,
      oldestWaitMs: lane.lane.oldestWaitMs,
      targetWaitMs: targetWaitMs ?? 0,
      shedPerSec,
      needed: lane.needed,
      spanMs: lane.forMs,
    },
  };
}

/** How many jobs were late or rejected. */
export function hurtOf({ lane, late, shed, share, span }: Suffering): string {
  const { name, targetWaitMs, oldestWaitMs } = lane;
  if (late + shed === 0) {
    return `the oldest job of lane "${name}" waits ${duration(oldestWaitMs)}`;
  }
  const parts = [
    late > 0 && targetWaitMs !== null &&
    `started later than the target of ${duration(targetWaitMs)}`,
    shed > 0 && `were rejected (${perSec(shed, span.ms)}/s)`,
  ].filter((part) => part !== false);
  return `${percent(share)} of the jobs of lane "${name}" ${parts.join(" or ")}, the oldest waits ${
    duration(oldestWaitMs)
  }`;
}

function heldBy(
  { cause, lane, span: { to } }: Suffering,
  { name }: Bottleneck,
  controller: string,
): string {
  const workers = counted(to.live, "worker");
  const were = agreeing(to.live, "was", "were");
  if (cause === "lane") {
    const most = lane.maxRunning ?? lane.running;
    return `the ${counted(most, "job")} that lane "${lane.name}" may run at once ` +
      `${agreeing(most, "was", "were")} not enough`;
  }
  if (cause === "rate") return `the start rate of ${named(name)} was not enough`;
  if (cause === "growth") {
    return `${workers} ${were} not enough, and controller "${controller}" asked for no more ` +
      `of the ${to.limit} that may be`;
  }
  return `${workers}, all that ${named(name)} allows, ${were} not enough`;
}

function changeOf(
  lane: Suffering,
  { name, isFound }: Bottleneck,
  { sheds }: Traits,
  controller: string,
): string {
  const less = lane.came === 0
    ? "wait: no more come"
    : lane.shed > 0 || sheds
    ? "send less"
    : "shed jobs (an admission such as shed-at-cap)";
  if (isFound) return `Give what they call more room, or ${less}: more workers bring no more`;
  const { cause, came, span: { to, ms } } = lane;
  switch (cause) {
    case "growth":
      return `Let controller "${controller}" ask for more, or raise size.min`;
    case "lane":
      return `Raise maxRunning of lane "${lane.lane.name}" ${
        raised(lane.lane.maxRunning ?? 0, lane.need)
      }, or ${less}`;
    case "rate": {
      const wanted = came * 1000 / ms;
      const enough = wanted > (to.startsPerSec ?? 0) ? ` to ${figure(wanted)}/s or more` : "";
      return `Raise the rate of ${named(name)}${enough}, or ${less}`;
    }
    default:
      return `Raise ${named(name)} ${raised(Math.max(1, to.limit), lane.needed)}, or ${less}`;
  }
}

/** From a bound to one that is enough. Where it was enough on average, jobs come in bursts. */
function raised(bound: number, needed: number): string {
  const enough = Math.ceil(needed / MOST_BUSY - 1e-9);
  if (enough > bound) return `from ${bound} to ${enough}`;
  if (needed === 0) return `above ${bound}`;
  return `above ${bound}: jobs come in bursts, ${figure(needed)} would do on average`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function perSec(count: number, ms: number): string {
  return figure(count * 1000 / ms);
}
