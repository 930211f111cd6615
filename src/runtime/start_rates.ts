/**
 * All start rates that hold for the same starts.
 *
 * @module
 */

import type { HeldRate } from "../planning/planner.ts";
import { StartLog } from "./start_log.ts";
import { StartRate } from "./start_rate.ts";

/** Holds several rates at once: the one that allows least decides. Without one, all may start. */
export class StartRates {
  readonly #log = new StartLog();
  #byKey = new Map<string, StartRate>();
  #rates: readonly StartRate[] = [];
  #leaseMs = 0;

  /** True if there is any. */
  get hold(): boolean {
    return this.#rates.length > 0;
  }

  /** Holds these from now on. One that was held by the same key goes on. */
  set(rates: readonly HeldRate[]): void {
    const byKey = new Map<string, StartRate>();
    for (const { key, limit, isShare } of rates) {
      const rate = this.#byKey.get(key) ?? new StartRate(this.#log);
      rate.set(limit, isShare);
      byKey.set(key, rate);
    }
    this.#byKey = byKey;
    this.#rates = [...byKey.values()];
    this.leasesTake(this.#leaseMs);
  }

  /** How long leases take, ms. */
  leasesTake(ms: number): void {
    this.#leaseMs = ms;
    for (const rate of this.#rates) rate.leaseMs = ms;
  }

  /** See `StartRate.allowed`. */
  allowed(nowMs: number, wanted: number, jumps: boolean): number {
    return this.by(nowMs, nowMs, wanted, jumps);
  }

  /** See `StartRate.by`. */
  by(untilMs: number, nowMs: number, wanted: number, jumps: boolean): number {
    let count = wanted;
    for (const rate of this.#rates) count = Math.min(count, rate.by(untilMs, nowMs, count, jumps));
    return count;
  }

  /** See `StartRate.nextAtMs`. */
  nextAtMs(nowMs: number, count: number, jumps: boolean): number {
    let atMs = nowMs;
    for (const rate of this.#rates) atMs = Math.max(atMs, rate.nextAtMs(nowMs, count, jumps));
    return atMs;
  }

  /** A job starts, of whichever lane. */
  stamp(atMs: number): void {
    this.#log.stamp(atMs);
    for (const rate of this.#rates) rate.started(atMs);
  }

  /** Starts in the last `spanMs` that count against a rate. */
  used(key: string, nowMs: number, spanMs: number): number {
    return this.#byKey.get(key)?.used(nowMs, spanMs) ?? this.#log.within(nowMs, spanMs);
  }
}
