/**
 * What is known of a lane from before: how long its jobs run, and whether it starts any.
 *
 * @module
 */

import { SmoothMean } from "../../src/base/stats.ts";
import type { LaneView } from "../../src/contract/view.ts";
import { GRAIN_MS, wantsWorkers } from "./_supply.ts";

/**
 * Jobs that a mean run time is over: with 20 a heavy tail (cv 3 to 6) asked for a third more
 * workers, with 200 slow-downs were seen too late.
 */
const JOBS = 60;

/** A lane that starts nothing for this share of its target grows by the age of its jobs. */
export const STUCK_SHARE = 0.5;

/** What is known of a lane from before. */
export class LanePast {
  readonly #run = new SmoothMean(JOBS);
  #timed = 0;
  #timedMs = 0;
  #headAtMs = Infinity;
  #headSinceMs = 0;

  /** Mean run time, ms. 0 until a job has ended. */
  get meanMs(): number {
    return this.#run.value;
  }

  /** Takes what has ended and what waits. */
  observe({ timed, timedMs, meanServiceMs, ready, oldestWaitMs }: LaneView, nowMs: number): void {
    const ended = timed - this.#timed;
    const meanMs = ended > 0 ? (timedMs - this.#timedMs) / ended : meanServiceMs;
    for (let job = Math.max(0, ended - JOBS); job < ended; job++) this.#run.add(meanMs);
    this.#timed = timed;
    this.#timedMs = timedMs;
    const headAtMs = ready > 0 ? nowMs - oldestWaitMs : Infinity;
    if (Math.abs(headAtMs - this.#headAtMs) > GRAIN_MS) this.#headSinceMs = nowMs;
    this.#headAtMs = headAtMs;
  }

  /** The same job has waited for half its target: what runs takes longer than any that has ended. */
  isStuck(lane: LaneView, nowMs: number): boolean {
    const leastMs = STUCK_SHARE * (lane.targetWaitMs ?? Infinity) - GRAIN_MS;
    return wantsWorkers(lane) && nowMs - this.#headSinceMs >= leastMs;
  }
}
