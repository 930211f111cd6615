/**
 * Windows, rates and quantiles, all of constant memory.
 *
 * @module
 */

import type { Summary } from "../contract/view.ts";

/** Keeps the latest durations with the time each ended, for quantiles over a window. */
export class SampleRing {
  readonly #values: Float64Array;
  readonly #times: Float64Array;
  readonly #mask: number;
  #count = 0;

  /** @param size How many samples are kept, a power of two; quantiles rest on these at most. */
  constructor(size = 256) {
    this.#mask = size - 1;
    this.#values = new Float64Array(size);
    this.#times = new Float64Array(size);
  }

  /** Samples ever added: tells whether a summary is still current. */
  get added(): number {
    return this.#count;
  }

  /** Adds a duration that ended at `atMs`. */
  add(atMs: number, value: number): void {
    const index = this.#count++ & this.#mask;
    this.#values[index] = value;
    this.#times[index] = atMs;
  }

  /** Another with the same samples. */
  copy(): SampleRing {
    const other = new SampleRing(this.#mask + 1);
    other.#values.set(this.#values);
    other.#times.set(this.#times);
    other.#count = this.#count;
    return other;
  }

  /** Quantiles (nearest rank) of what ended at `sinceMs` or later. `undefined`: nothing did. */
  summary(sinceMs: number): Summary | undefined {
    const kept = Math.min(this.#count, this.#values.length);
    const inWindow: number[] = [];
    for (let index = 0; index < kept; index++) {
      if (this.#times[index]! >= sinceMs) inWindow.push(this.#values[index]!);
    }
    return summarize(inWindow);
  }
}

/** Quantiles (nearest rank) of durations, in any order. `undefined` for none. Sorts `values` in place. */
export function summarize(values: number[]): Summary | undefined {
  if (values.length === 0) return undefined;
  values.sort((a, b) => a - b);
  let sum = 0;
  for (const value of values) sum += value;
  return {
    count: values.length,
    mean: sum / values.length,
    p50: quantile(values, 0.5),
    p95: quantile(values, 0.95),
    p99: quantile(values, 0.99),
  };
}

/** Nearest-rank quantile of sorted values, not empty. @param share 0 to 1. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  const rank = Math.max(1, Math.ceil(share * sorted.length - 1e-9));
  return sorted[rank - 1]!;
}

/** Smoothed mean: a running mean at first, then each value counts 1/`memory`. */
export class SmoothMean {
  #mean = 0;
  #count = 0;
  readonly #memory: number;

  /** @param memory How many values it remembers, roughly. */
  constructor(memory = 20) {
    this.#memory = memory;
  }

  /** The mean. 0 until a value was added. */
  get value(): number {
    return this.#mean;
  }

  /** Adds a value. */
  add(value: number): void {
    if (this.#count < this.#memory) this.#count++;
    this.#mean += (value - this.#mean) / this.#count;
  }
}

/** Full length of the windows that views show, ms. */
export const WINDOW_MS = 10_000;

/** Time constant of smoothed rates, ms. */
const TAU_MS = 1_000;

/** A smoothed rate below it says only that there were events once. */
const FAINT_PER_SEC = 0.01;

function perceptible(perSec: number): number {
  return perSec < FAINT_PER_SEC ? 0 : perSec;
}

/**
 * Smoothed events per second: exponential decay with a time constant, divided by the weight seen
 * so far, so that the first readings are not too low (bias correction as in Adam: Kingma and Ba,
 * 2015).
 */
export class RateMeter {
  #atMs: number;
  #count = 0;
  #rate = 0;
  #weight = 0;
  #perSec = 0; // read at each start, and new at each update only
  readonly #tauMs: number;

  /** Begins at `nowMs` with a count of 0. */
  constructor(nowMs: number, tauMs = TAU_MS) {
    this.#atMs = nowMs;
    this.#tauMs = tauMs;
  }

  /** Events per second. 0 before the first update, and once what is left of older events is next to nothing. */
  get perSec(): number {
    return this.#perSec;
  }

  /** Updates the rate by the total number of events so far. */
  update(nowMs: number, count: number): void {
    const elapsedMs = nowMs - this.#atMs;
    if (elapsedMs <= 0) return;
    const decay = Math.exp(-elapsedMs / this.#tauMs);
    const latest = (count - this.#count) * 1000 / elapsedMs;
    this.#rate = this.#rate * decay + latest * (1 - decay);
    this.#weight = this.#weight * decay + (1 - decay);
    this.#perSec = perceptible(this.#weight === 0 ? 0 : this.#rate / this.#weight);
    this.#atMs = nowMs;
    this.#count = count;
  }

  /** Ends an idle gap without `update`: what has come since came now. */
  rested(nowMs: number): void {
    this.update(nowMs, this.#count);
  }
}

/** Remembers a few counters over a window, for their rates. */
export class CounterWindow {
  readonly #slotMs: number;
  readonly #width: number;
  readonly #slots: Float64Array;
  readonly #length: number;
  #taken = 0;

  /**
   * @param width How many counters.
   * @param windowMs Length of the window.
   * @param slots Into how many parts it is cut: the window's length is exact to one part.
   */
  constructor(width: number, windowMs = WINDOW_MS, slots = 20) {
    this.#width = width;
    this.#slotMs = windowMs / slots;
    this.#length = slots + 1;
    this.#slots = new Float64Array(this.#length * (width + 1));
  }

  /** Takes the counters in; at most once a slot is kept. */
  update(nowMs: number, counters: ArrayLike<number>): void {
    if (this.#taken > 0 && nowMs - this.#timeAt(this.#taken - 1) < this.#slotMs) return;
    this.#take(nowMs, counters);
  }

  /** Ends an idle gap without `update`, over which the counters did not change. */
  rested(nowMs: number, counters: ArrayLike<number>): void {
    if (this.#taken === 0) return;
    const sinceMs = this.#timeAt(this.#taken - 1);
    const slots = Math.floor((nowMs - sinceMs) / this.#slotMs);
    for (let slot = Math.max(1, slots - this.#length + 1); slot <= slots; slot++) {
      this.#take(sinceMs + slot * this.#slotMs, counters);
    }
  }

  /** When the window began. `undefined` before the first update. */
  startMs(): number | undefined {
    return this.#taken === 0 ? undefined : this.#timeAt(this.#oldest());
  }

  /** Events per second of one counter from the window's start to now. */
  perSec(nowMs: number, counter: number, value: number): number {
    if (this.#taken === 0) return 0;
    const oldest = this.#oldest();
    const elapsedMs = nowMs - this.#timeAt(oldest);
    if (elapsedMs <= 0) return 0;
    const base = (oldest % this.#length) * (this.#width + 1);
    return (value - this.#slots[base + 1 + counter]!) * 1000 / elapsedMs;
  }

  #take(nowMs: number, counters: ArrayLike<number>): void {
    const base = (this.#taken % this.#length) * (this.#width + 1);
    this.#slots[base] = nowMs;
    for (let index = 0; index < this.#width; index++) {
      this.#slots[base + 1 + index] = counters[index]!;
    }
    this.#taken++;
  }

  #oldest(): number {
    return Math.max(0, this.#taken - this.#length);
  }

  #timeAt(index: number): number {
    return this.#slots[(index % this.#length) * (this.#width + 1)]!;
  }
}
