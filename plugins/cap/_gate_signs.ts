/**
 * Two signs that a pool is too large although its growth was accepted: its downstream says so, or jobs
 * stay late with nothing holding the pool back.
 *
 * @module
 */

import type { PoolView } from "../../src/contract/view.ts";
import type { GateBase } from "./_gate_base.ts";
import type { GateMeter } from "./_gate_meter.ts";

/** Calls of `context.overloaded()` that come sooner after one that was followed speak of the same, ms. */
const SAME_MS = 200;

/** Late for so long, ms, or this many run times, is no burst. */
const LATE_MS = 500;
const LATE_RUNS = 10;

/** Hears `context.overloaded()`. */
export class Overloads {
  readonly #meter: GateMeter;
  #heard: number | undefined;
  #followedAtMs = -Infinity;

  constructor(meter: GateMeter) {
    this.#meter = meter;
  }

  /** How often it was said since the last ask. 0, too, for two run times after it was followed: who said so began before. */
  hear({ nowMs, totals: { overloads } }: PoolView): number {
    const more = overloads - (this.#heard ?? overloads);
    this.#heard = overloads;
    if (nowMs - this.#followedAtMs < Math.max(SAME_MS, 2 * (this.#meter.meanMs || 0))) return 0;
    if (more > 0) this.#followedAtMs = nowMs;
    return more;
  }
}

/** True if a job is late that another worker could run. */
export function isLate({ lanes }: PoolView): boolean {
  return lanes.some(({ oldestWaitMs, targetWaitMs, running, maxRunning }) =>
    targetWaitMs !== null && oldestWaitMs > targetWaitMs && running < maxRunning
  );
}

/** Watches for jobs that stay late. */
export class Lateness {
  readonly #base: GateBase;
  #sinceMs: number | undefined;

  constructor(base: GateBase) {
    this.#base = base;
  }

  /** Starts again. */
  forget(): void {
    this.#sinceMs = undefined;
  }

  /** For how long jobs that more workers could help have been late, ms. 0: not for long, or run times are not known. */
  lateForMs(view: PoolView): number {
    if (!isLate(view)) {
      this.forget();
      return 0;
    }
    this.#sinceMs ??= view.nowMs;
    const forMs = view.nowMs - this.#sinceMs;
    return forMs > Math.max(LATE_MS, LATE_RUNS * this.#base.bestMs) ? forMs : 0;
  }
}
