/**
 * All start rates that hold for the same starts.
 *
 * @module
 */

import type { HeldRate } from "../planning/planner.ts";
import type { LedgerRate } from "./ledger_rate.ts";
import { StartLog } from "./start_log.ts";
import { StartRate } from "./start_rate.ts";

/** Makes what holds a limit of a long window over processes. @param lane Whose starts. `undefined`: all. */
export type MakeLedger = (key: string, lane: string | undefined) => LedgerRate;

/** A pace that is slower, as that of a day's rate, is not to hold an urgent job up, ms. */
const LONGEST_PACE_MS = 1000;

/**
 * Holds several rates at once: the one that allows least decides. Without one, all may start. Lanes may
 * have rates of their own, beside those of all.
 */
export class StartRates {
  readonly #log = new StartLog();
  readonly #makeLedger: MakeLedger;
  readonly #lane: string | undefined;
  #lanes: ReadonlyMap<string, StartRates> = new Map();
  #byKey = new Map<string, StartRate>();
  #ledgers = new Map<string, LedgerRate>();
  #rates: readonly (StartRate | LedgerRate)[] = [];
  /** What draws by itself: ledgers, and what lanes have. A list: each turn asks all, and most often there is none. */
  #drawing: readonly (LedgerRate | StartRates)[] = [];
  #lateMs = 0;
  #isPaced = false;

  /** Holds none. @param lane Whose starts. `undefined`: all. */
  constructor(makeLedger: MakeLedger, lane?: string) {
    this.#makeLedger = makeLedger;
    this.#lane = lane;
  }

  /** The rates that a lane has of its own. `undefined`: none. */
  of(lane: string): StartRates | undefined {
    return this.holdLanes ? this.#lanes.get(lane) : undefined;
  }

  /** True if a lane has rates of its own. */
  get holdLanes(): boolean {
    return this.#lanes.size > 0;
  }

  /** True if there is any for all lanes. */
  get hold(): boolean {
    return this.#rates.length > 0;
  }

  /** Holds these from now on. One that was held by the same key goes on. */
  set(rates: readonly HeldRate[]): void {
    const byLane = Map.groupBy(rates, ({ limit }) => limit.lane);
    this.#hold(byLane.get(this.#lane) ?? []);
    if (this.#lane === undefined) this.#setLanes(byLane);
    this.#drawing = [...this.#ledgers.values(), ...this.#lanes.values()];
  }

  #setLanes(byLane: ReadonlyMap<string | undefined, readonly HeldRate[]>): void {
    const lanes = new Map<string, StartRates>();
    for (const [lane, own] of byLane) {
      if (lane === undefined) continue;
      const held = this.#lanes.get(lane) ?? new StartRates(this.#makeLedger, lane);
      held.late(this.#lateMs);
      held.set(own);
      lanes.set(lane, held);
    }
    for (const [lane, held] of this.#lanes) if (!lanes.has(lane)) held.set([]);
    this.#lanes = lanes;
  }

  #hold(rates: readonly HeldRate[]): void {
    const byKey = new Map<string, StartRate>();
    const ledgers = new Map<string, LedgerRate>();
    for (const { key, limit, by } of rates) {
      if (by === "ledger") {
        const ledger = this.#ledgers.get(key) ?? this.#makeLedger(key, this.#lane);
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
    for (const rate of this.#rates) rate.lateMs = this.#lateMs;
  }

  /** By how much starts are late recently that nothing but their turn, or a lease, held up, ms. */
  late(ms: number): void {
    if (ms === this.#lateMs) return;
    this.#lateMs = ms;
    for (const rate of this.#rates) rate.lateMs = ms;
    for (const lane of this.#lanes.values()) lane.late(ms);
  }

  /** Whether a receiver has refused jobs recently: then no lane jumps a quick pace, or a burst is refused again. */
  paces(isPaced: boolean): void {
    this.#isPaced = isPaced;
    for (const lane of this.#lanes.values()) lane.paces(isPaced);
  }

  /** See `StartRate.allowed`. */
  allowed(nowMs: number, wanted: number, jumps: boolean): number {
    return this.by(nowMs, nowMs, wanted, jumps);
  }

  /** See `StartRate.by`. */
  by(untilMs: number, nowMs: number, wanted: number, jumps: boolean): number {
    let count = wanted;
    for (const rate of this.#rates) {
      count = Math.min(count, rate.by(untilMs, nowMs, count, jumps && this.#mayJump(rate)));
    }
    return count;
  }

  /** See `StartRate.nextAtMs`. */
  nextAtMs(nowMs: number, count: number, jumps: boolean): number {
    let atMs = nowMs;
    for (const rate of this.#rates) {
      atMs = Math.max(atMs, rate.nextAtMs(nowMs, count, jumps && this.#mayJump(rate)));
    }
    return atMs;
  }

  #mayJump({ paceMs }: StartRate | LedgerRate): boolean {
    return !this.#isPaced || paceMs > LONGEST_PACE_MS;
  }

  /** A job of this lane starts. */
  stamp(atMs: number, lane: string): void {
    this.#log.stamp(atMs);
    for (const rate of this.#rates) rate.started(atMs);
    this.of(lane)?.stamp(atMs, lane);
  }

  /** Draws from the ledgers what is needed. */
  attend(nowMs: number): void {
    for (const one of this.#drawing) one.attend(nowMs);
  }

  /** When to attend next. `Infinity`: when something happens. */
  nextLookMs(nowMs: number): number {
    let atMs = Infinity;
    for (const one of this.#drawing) atMs = Math.min(atMs, one.nextLookMs(nowMs));
    return atMs;
  }

  /** Gives back what it has drawn. */
  async leave(): Promise<void> {
    for (const ledger of this.#ledgers.values()) await ledger.leave();
    for (const lane of this.#lanes.values()) await lane.leave();
  }

  /** Starts in the last `spanMs` that count against a rate. @param lane Whose it is. */
  used(key: string, nowMs: number, spanMs: number, lane?: string): number {
    const own = lane === this.#lane ? undefined : this.#lanes.get(lane!);
    return own?.used(key, nowMs, spanMs, lane) ?? this.#byKey.get(key)?.used(nowMs, spanMs) ??
      this.#log.within(nowMs, spanMs);
  }
}
