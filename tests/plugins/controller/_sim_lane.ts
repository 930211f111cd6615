/**
 * One lane of the queue simulation.
 *
 * @module
 */

import { RateMeter, SmoothMean } from "../../../src/base/stats.ts";
import { makeWindow } from "../../../src/testing/mod.ts";
import type { LaneView } from "../../../src/contract/view.ts";

/** What comes into one lane. */
export interface Flow {
  /** Arrival times from the start, ms, in order. */
  readonly arrivals: readonly number[];
  /** Run time of the job that starts at `atMs` from the start. */
  readonly serviceMs: (atMs: number) => number;
  readonly targetWaitMs?: number | null;
}

/** A queue, first come first served, and the view of it. Times are from the start. */
export class Lane implements LaneView {
  readonly weight = 1;
  readonly maxRunning = Infinity;
  readonly deadlineMs = undefined;
  readonly blocked = 0;
  readonly delayed = 0;
  readonly paused = false;
  readonly servedMs = 0;
  readonly timed = 0;
  readonly timedMs = 0;
  readonly window = makeWindow();
  readonly waits: number[] = [];
  readonly meter = new RateMeter(0);
  readonly mean = new SmoothMean();
  readonly name: string;
  readonly index: number;
  readonly targetWaitMs: number | null;
  readonly flow: Flow;
  arrived = 0;
  running = 0;
  atMs = 0;

  constructor(flow: Flow, index: number) {
    this.flow = flow;
    this.index = index;
    this.name = `lane${index}`;
    this.targetWaitMs = flow.targetWaitMs === undefined ? 50 : flow.targetWaitMs;
  }

  get ready(): number {
    return this.arrived - this.waits.length;
  }

  get oldestWaitMs(): number {
    return this.ready === 0 ? 0 : this.atMs - this.flow.arrivals[this.waits.length]!;
  }

  get arrivalsPerSec(): number {
    return this.meter.perSec;
  }

  get meanServiceMs(): number {
    return this.mean.value;
  }

  get nextAtMs(): number {
    return this.flow.arrivals[this.arrived] ?? Infinity;
  }

  /** Ready jobs that came at `atMs` or before. */
  cameBy(atMs: number): number {
    let low = this.waits.length, high = this.arrived;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.flow.arrivals[middle]! <= atMs) low = middle + 1;
      else high = middle;
    }
    return low - this.waits.length;
  }
}
