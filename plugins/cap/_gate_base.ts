/**
 * What is known of run times at the concurrency whose worth is shown: growth is judged against it.
 *
 * @module
 */

import type { PoolView } from "../../src/contract/view.ts";
import type { GateMeter, GateRuns, Span } from "./_gate_meter.ts";

/** Rise of run time or concurrency that is still taken for chance. */
export const TOLERANCE = 1.25;

/** It remembers this many attempts, and knows a lane from this many on. */
const REMEMBERED = 40;
export const KNOWN = 8;

/** Attempts longer than this many targets end too late for a timely verdict. */
const LONG_TARGETS = 4;

/** Replaces the target of a pool whose lanes never cause growth, ms. */
const NO_TARGET_MS = 50;

/** A mean run time that rests on this many attempts. */
interface Usual {
  meanMs: number;
  count: number;
}

/**
 * Run times by lane, so that a new mix of lanes is not taken for a slow-down. How slow attempts are is a
 * ratio: what those that ended took, over what they took before in their lanes.
 */
export class GateBase {
  readonly #all: Usual = { meanMs: NaN, count: 0 };
  readonly #lanes: readonly Usual[];
  #bestMs = Infinity;
  readonly #best: number[]; // the shortest that the mean of each lane has been
  readonly #meter: GateMeter;

  constructor(lanes: number, meter: GateMeter) {
    this.#lanes = Array.from({ length: lanes }, () => ({ meanMs: NaN, count: 0 }));
    this.#best = new Array<number>(lanes).fill(Infinity);
    this.#meter = meter;
  }

  /** Mean run time over all lanes, ms. NaN until an attempt has ended. */
  get meanMs(): number {
    return this.#all.meanMs;
  }

  /** The shortest that the mean has been, ms. `Infinity` until it is known. */
  get bestMs(): number {
    return this.#bestMs;
  }

  /** More attempts have ended at the verified concurrency. `factor`: what they really took, over what it seems. */
  learn(span: Span, factor = 1): void {
    learn(this.#all, span, factor);
    if (this.#all.count >= KNOWN) this.#bestMs = Math.min(this.#bestMs, this.#all.meanMs);
    this.#lanes.forEach((lane, index) => {
      learn(lane, span.lanes[index]!, factor);
      if (lane.count >= KNOWN) this.#best[index] = Math.min(this.#best[index]!, lane.meanMs);
    });
  }

  /** Attempts take `factor` times as long now. */
  scale(factor: number): void {
    for (const usual of [this.#all, ...this.#lanes]) usual.meanMs *= factor;
  }

  /** How slow attempts were, 1 as before. 1 where too little is known of their lanes; NaN if none ended. */
  slowness(span: Span): number {
    const { actualMs, usualMs } = this.compare(span);
    return actualMs / usualMs;
  }

  /** What attempts took, and what they took before in their lanes, ms each. */
  compare({ lanes }: Span): { readonly actualMs: number; readonly usualMs: number } {
    let actualMs = 0;
    let usualMs = 0;
    this.#lanes.forEach(({ meanMs, count }, index) => {
      const { timed, timedMs } = lanes[index]!;
      actualMs += timedMs;
      usualMs += count < KNOWN ? timedMs : timed * meanMs;
    });
    return { actualMs, usualMs };
  }

  /** True if attempts took longer than chance explains: 1.25 + z, with z = 2 standard errors. */
  isSlow(slowness: number, timed: number): boolean {
    return slowness > TOLERANCE + 2 * this.errorOf(timed);
  }

  /** True if attempts took longer than they have ever been seen to take. */
  isSlowerThanEver({ lanes, timed }: Span): boolean {
    let actualMs = 0;
    let bestMs = 0;
    this.#best.forEach((best, index) => {
      if (best === Infinity) return;
      actualMs += lanes[index]!.timedMs;
      bestMs += lanes[index]!.timed * best;
    });
    return this.isSlow(actualMs / bestMs, timed);
  }

  /** Standard error of a ratio of mean run times: sqrt(c2 (1/n + 1/n_B)). */
  errorOf(timed: number): number {
    const { variation } = this.#meter;
    return Math.sqrt(variation * (1 / Math.max(1, timed) + 1 / Math.max(1, this.#all.count)));
  }

  /** True if too little is known, or attempts are too long, to refuse growth. */
  isThin(view: PoolView): boolean {
    return this.#all.count < Math.min(REMEMBERED, KNOWN * (1 + 2 * this.#meter.variation)) ||
      !(this.#all.meanMs <= LONG_TARGETS * targetOf(view));
  }
}

function learn(usual: Usual, { timed, timedMs }: GateRuns, factor: number): void {
  if (timed === 0) return;
  usual.count = Math.min(REMEMBERED, usual.count + timed);
  const mean = factor * timedMs / timed;
  const part = Math.min(1, timed / usual.count);
  usual.meanMs = Number.isNaN(usual.meanMs) ? mean : usual.meanMs + (mean - usual.meanMs) * part;
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
