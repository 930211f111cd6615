/**
 * Lanes that never cause growth and get more jobs than the others leave room for.
 *
 * @module
 */

import { agreeing, counted, duration, grouped } from "../../base/format.ts";
import type { History } from "../../planning/history.ts";
import type { Finding, Traits } from "./finding.ts";
import { laneOf, latest } from "./window.ts";

/** Over how long a queue has to grow: shorter ones are spikes. */
const GROWS_MS = 300_000;

/** The oldest job grows older by this share of the time, or the queue hardly grows. */
const OLDER = 0.2;

/** Jobs wait, more and longer all the time, in a lane that never causes growth, below the limit. */
export function neverGrows(history: History, { constant }: Traits): readonly Finding[] {
  const window = latest(history, GROWS_MS);
  if (window === undefined || constant) return [];
  const { first, last, spanMs } = window;
  return last.lanes.flatMap((lane, index): readonly Finding[] => {
    const before = first.lanes[index];
    const isFilling = lane.targetWaitMs === null && lane.startWithinMs === undefined;
    if (!isFilling || before === undefined) return [];
    const more = lane.ready - before.ready;
    const olderMs = lane.oldestWaitMs - before.oldestWaitMs;
    const waits = laneOf(window, index).every(({ ready }) => ready > 0);
    // A worker that is kept for other lanes is none for these jobs.
    const heldMs = lane.held.growth - before.held.growth + lane.held.policy - before.held.policy;
    if (!waits || more <= 0 || olderMs < OLDER * spanMs || heldMs < spanMs / 2) return [];
    return [{
      code: "never-grows",
      lane: lane.name,
      saw: `${grouped(lane.ready)} jobs of lane "${lane.name}" wait, ${grouped(more)} more than ` +
        `${duration(spanMs)} before, the oldest for ${
          duration(lane.oldestWaitMs)
        }; they cause no ` +
        `growth, and ${counted(last.live, "worker")} of ${last.limit} ${
          agreeing(last.live, "is", "are")
        } there`,
      change: `Set "startWithinMs" for "${lane.name}" (0: as fast as the caps allow), or raise ` +
        "size.min",
      setting: `lanes.${lane.name}.startWithinMs`,
      numbers: {
        ready: lane.ready,
        more,
        oldestWaitMs: lane.oldestWaitMs,
        live: last.live,
        limit: last.limit,
        spanMs,
      },
    }];
  });
}
