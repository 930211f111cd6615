/**
 * All start rates that hold for the same starts.
 *
 * @module
 */

import type { HeldRate } from "../planning/planner.ts";
import type { LedgerRate } from "./ledger_rate.ts";
import { StartLog } from "./start_log.ts";
import { StartRate } from "./start_rate.ts";

/** Holds several rates at once: the one that allows least decides. Without one, all may start. */
export class StartRates {
  readonly #log = new StartLog();
  readonly #makeLedger: (key: string) => LedgerRate;
  #byKey = new Map<string, StartRate>();
  #ledgers = new Map<string, LedgerRate>();
  #rates: readonly (StartRate | LedgerRate)[] = [];
  #leaseMs = 0;

  /** Holds none. @param makeLedger Makes what holds a limit of a long window over processes. */
  constructor(makeLedger: (key: string) => LedgerRate) {
    this.#makeLedger = makeLedger;
  }

  /** True if there is any. */
  get hold(): boolean {
    return this.#rates.length > 0;
  }

  /** Holds these from now on. One that was held by the same key goes on. */
  set(rates: readonly HeldRate[]): void {
    const byKey = new Map<string, StartRate>();
    const ledgers = new Map<string, LedgerRate>();
    for (const { key, limit, by } of rates) {
      if (by === "ledger") {
        const ledger = this.#ledgers.get(key) ?? this.#makeLedger(key);
        ledger.set(limit);
        ledgers.set(key, ledger);
        continue;
      }
      const rate = this.#byKey.get(key) ?? new StartRate(this.#log);
      rate.set(limit, by === "share");
      byKey.set(key, rate);
    }
    for (const [key, ledger] of this.#ledgers) if (!ledgers.has(key)) void ledger.leave();
    this.#byKey = byKey;
    this.#ledgers = ledgers;
    this.#rates = [...byKey.values(), ...ledgers.values()];
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

  /** Draws from the ledgers what is needed. */
  attend(nowMs: number): void {
    for (const ledger of this.#ledgers.values()) ledger.attend(nowMs);
  }

  /** When to attend next. `Infinity`: when something happens. */
  nextLookMs(nowMs: number): number {
    let atMs = Infinity;
    for (const ledger of this.#ledgers.values()) atMs = Math.min(atMs, ledger.nextLookMs(nowMs));
    return atMs;
  }

  /** Gives back what it has drawn. */
  async leave(): Promise<void> {
    for (const ledger of this.#ledgers.values()) await ledger.leave();
  }

  /** Starts in the last `spanMs` that count against a rate. */
  used(key: string, nowMs: number, spanMs: number): number {
    return this.#byKey.get(key)?.used(nowMs, spanMs) ?? this.#log.within(nowMs, spanMs);
  }
}
