/**
 * One lane of the queue simulation.
 *
 * @module
 */

import { RateMeter, SmoothMean } from "../../../src/base/stats.ts";
import type { LaneView } from "../../../src/contract/view.ts";

/** What comes into one lane. */
export interface Flow {
  /** Arrival times from the start, ms, in order. */
  readonly arrivals: readonly number[];
  /** Run time of the job that starts at `atMs` from the start. */
  readonly serviceMs: (atMs: number) => number;
  readonly targetWaitMs?: number | null;
}

/** A queue, first come first served. Times are from the start. */
export class Lane {
  readonly waits: number[] = [];
  readonly meter = new RateMeter(0);
  readonly mean = new SmoothMean();
  readonly flow: Flow;
  arrived = 0;
  running = 0;
  atMs = 0;
  servedMs = 0;

  constructor(flow: Flow) {
    this.flow = flow;
  }

  /** What changes of what a controller sees. */
  get view(): Partial<LaneView> {
    return {
      ready: this.ready,
      running: this.running,
      oldestWaitMs: this.oldestWaitMs,
      arrivalsPerSec: this.meter.perSec,
      meanServiceMs: this.mean.value,
      servedMs: this.servedMs,
    };
  }

  get ready(): number {
    return this.arrived - this.waits.length;
  }

  get oldestWaitMs(): number {
    return this.ready === 0 ? 0 : this.atMs - this.flow.arrivals[this.waits.length]!;
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
