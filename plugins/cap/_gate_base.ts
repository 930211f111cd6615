/**
 * What is known of run times at the concurrency whose worth is shown: growth is judged against it.
 *
 * @module
 */

import type { PoolView } from "../../src/view.ts";
import type { GateMeter, Span } from "./_gate_meter.ts";

/** Rise of run time or concurrency that is still taken for chance. */
export const TOLERANCE = 1.25;

/** It remembers so many attempts. */
const REMEMBERED = 40;

/** Attempts longer than so many targets end too late for a timely verdict. */
const LONG_TARGETS = 4;

/** Stands in for the target of a pool whose lanes never cause growth, ms. */
const NO_TARGET_MS = 50;

/** The run time to compare with. */
export class GateBase {
  /** Mean run time, ms. NaN until an attempt has ended. */
  serviceMs = NaN;
  /** Attempts that it rests on. */
  count = 0;
  readonly #meter: GateMeter;

  constructor(meter: GateMeter) {
    this.#meter = meter;
  }

  /** More attempts have ended at the verified concurrency. */
  learn({ timed, serviceMs }: Span): void {
    if (timed === 0) return;
    this.count = Math.min(REMEMBERED, this.count + timed);
    const part = Math.min(1, timed / this.count);
    this.serviceMs = Number.isNaN(this.serviceMs)
      ? serviceMs
      : this.serviceMs + (serviceMs - this.serviceMs) * part;
  }

  /** Run times are others now: what was known before says nothing any more. */
  reset(serviceMs: number, count: number): void {
    this.serviceMs = serviceMs;
    this.count = Math.min(REMEMBERED, count);
  }

  /** True if attempts took longer than chance explains: S > (1.25 + z) B with z = 2 standard errors. */
  isSlower({ timed, serviceMs }: Span, thanMs = this.serviceMs): boolean {
    return serviceMs > (TOLERANCE + 2 * this.errorOf(timed)) * thanMs;
  }

  /** Standard error of a ratio of mean run times: sqrt(c2 (1/n + 1/n_B)). */
  errorOf(count: number): number {
    const { variation } = this.#meter;
    return Math.sqrt(variation * (1 / Math.max(1, count) + 1 / Math.max(1, this.count)));
  }

  /** True if too little is known, or attempts are too long, to refuse growth. */
  isThin(view: PoolView): boolean {
    return this.count < Math.min(REMEMBERED, 8 * (1 + 2 * this.#meter.variation)) ||
      !(this.serviceMs <= LONG_TARGETS * targetOf(view));
  }
}

/** The shortest target of all lanes, ms. */
export function targetOf({ lanes }: PoolView): number {
  let least = Infinity;
  for (const lane of lanes) least = Math.min(least, lane.targetWaitMs ?? Infinity);
  return least === Infinity ? NO_TARGET_MS : least;
}

/** Ready jobs that another worker could run. */
export function waitingIn({ lanes }: PoolView): number {
  let waiting = 0;
  for (const { ready, running, maxRunning } of lanes) if (running < maxRunning) waiting += ready;
  return waiting;
}

/** Running jobs over all lanes, those of retiring workers too. */
export function runningIn({ lanes }: PoolView): number {
  let running = 0;
  for (const lane of lanes) running += lane.running;
  return running;
}
