/**
 * The hold after refused growth: the walk to the smallest pool that carries the same throughput.
 *
 * @module
 */

import type { PoolView } from "../../src/contract/view.ts";
import { type GateBase, KNOWN, runningIn, waitingIn } from "./_gate_base.ts";
import type { GateMeter, Mark, Span } from "./_gate_meter.ts";

/** First and longest rest between two walks, ms. */
const FIRST_REST_MS = 500;
const LONGEST_REST_MS = 30_000;

/** Share of the throughput that a smaller pool has to keep. */
const KEEP = 0.97;

/** No walk goes below this share of where it began: what chance may do to a pool that needs its size has an end. */
const LEAST = 0.3;

/** Share of the added workers that a larger pool has to bring as throughput. */
const GAIN = 0.5;

/** Steps grow so much while they work, to so much. */
const STRIDE = 1.5;
const LONGEST_STEP = 0.4;

/** Below this share of busy workers, with nothing waiting, the pool needs no more than it has. */
const SPARE = 0.8;

/** Growth that was refused. */
export interface Refusal {
  /** Running jobs. */
  readonly concurrency: number;
  /** How slow attempts were, 1 as before. */
  readonly slowness: number;
}

/** Holds a pool at a level, and tries others while there is more work than it can do. */
export class GateHold {
  /** Most workers now. `Infinity`: the pool is not held. */
  level = Infinity;
  readonly #meter: GateMeter;
  readonly #base: GateBase;
  #phase: "rest" | "down" | "up" = "rest";
  #next: "down" | "up" = "down"; // it goes on in the direction that worked
  #restMs = FIRST_REST_MS;
  #restUntilMs = 0;
  #reached: Mark | undefined; // since when no more jobs run than the level allows
  #mark: Mark | undefined; // since when these have ended: what ends now was started at the level
  #restedAt = 0; // throughput at `from`, where the last rest was
  #from = 0;
  #step = 0;
  #least = 1;
  #refused: Refusal | undefined; // the growth that was undone, until compared with

  constructor(meter: GateMeter, base: GateBase) {
    this.#meter = meter;
    this.#base = base;
  }

  /** True while it holds the pool. */
  get active(): boolean {
    return this.level < Infinity;
  }

  /** @param refused The growth that is undone: was it to blame? */
  begin({ nowMs, size, live }: PoolView, level: number, refused?: Refusal): void {
    this.#refused = refused;
    this.#least = Math.min(level, Math.ceil(LEAST * (refused?.concurrency ?? live)));
    this.#next = "down";
    this.#step = 0;
    this.#rest(Math.max(size.min, 1, level), nowMs + this.#restMs);
    this.#restMs = Math.min(LONGEST_REST_MS, this.#restMs * 2);
  }

  /** Lets the pool go. */
  end(): void {
    this.level = Infinity;
    this.#restMs = FIRST_REST_MS;
  }

  /** Measures again: what was measured was not the workers' doing. */
  disturb(): void {
    this.#reached = this.#mark = undefined;
  }

  /**
   * Walks on. `spare`: the pool has more than it needs; `slower`: attempts take as long with fewer
   * running, so growth was not to blame. In both cases it is to be let go.
   */
  walk(view: PoolView): "spare" | "slower" | undefined {
    const running = runningIn(view);
    if (waitingIn(view) === 0 && (running === 0 || running < SPARE * view.live)) return "spare";
    if (this.#mark === undefined) {
      this.#arrive(running);
      return undefined;
    }
    const here = this.#meter.since(this.#mark);
    if (this.#isSlowAnyway(here)) {
      this.#base.scale(this.#base.slowness(here));
      return "slower";
    }
    const enough = Math.max(30, view.live, 120 * this.#meter.variation);
    if (here.timed >= enough) this.#turn(view, here);
    return undefined;
  }

  /**
   * True if growth was not to blame: attempts are as slow with fewer running, where behind a limit run
   * times fall with the number, S ~ n. Decided at the middle between the two, once clear of chance.
   */
  #isSlowAnyway(here: Span): boolean {
    if (this.#refused === undefined || here.timed < KNOWN) return false;
    const { concurrency, slowness } = this.#refused;
    const fewer = here.concurrency / concurrency;
    if (2 * this.#base.errorOf(here.timed) > (1 - fewer) / 2) return false;
    this.#refused = undefined;
    return this.#base.slowness(here) > slowness * (1 + fewer) / 2;
  }

  #arrive(running: number): void {
    if (this.#reached === undefined) {
      if (running <= this.level) this.#reached = this.#meter.now;
      return;
    }
    const { ended, ms } = this.#meter.since(this.#reached);
    const crowdedMs = Math.max(
      this.#meter.meanMs,
      (this.#refused?.slowness ?? 0) * this.#base.meanMs,
    );
    if (ended >= running && ms >= crowdedMs) this.#mark = this.#meter.now;
  }

  #turn(view: PoolView, here: Span): void {
    const small = 0.1 + 0.1 * Math.min(1, this.#meter.variation);
    if (this.#phase === "down") this.#judgeDown(view, here, small);
    else if (this.#phase === "up") this.#judgeUp(view, here);
    else if (view.nowMs >= this.#restUntilMs) {
      this.#restedAt = this.#doneBy(here);
      this.#from = this.level;
      this.#step = this.#step === 0 ? small : Math.min(LONGEST_STEP, this.#step * STRIDE);
      const below = this.#below(view);
      if (this.#next === "down" && below < this.#from) this.#go("down", below);
      else this.#go("up", this.#above());
    }
  }

  #below({ size }: PoolView): number {
    const lower = Math.ceil(this.#from * (1 - this.#step) - 1e-9);
    return Math.max(size.min, 1, this.#least, Math.min(this.#from - 1, lower));
  }

  #above(): number {
    return Math.max(this.#from + 1, Math.ceil(this.#from * (1 + this.#step) - 1e-9));
  }

  #judgeDown({ nowMs }: PoolView, here: Span, small: number): void {
    if (this.#doneBy(here) >= KEEP * this.#restedAt) this.#rest(this.level, nowMs);
    else if (this.#step > small) { // too long a step: a short one from there
      this.#step = 0;
      this.#rest(this.#from, nowMs);
    } else this.#go("up", this.#above());
  }

  #judgeUp({ nowMs }: PoolView, here: Span): void {
    if (this.#doneBy(here) >= this.#restedAt * (1 + GAIN * (this.level / this.#from - 1))) {
      this.#base.scale(this.#base.slowness(here));
      this.#restMs = FIRST_REST_MS;
      this.#next = "up";
      this.#rest(this.level, nowMs);
    } else {
      this.#next = "down";
      this.#step = 0;
      this.#rest(this.#from, nowMs + this.#restMs);
      this.#restMs = Math.min(LONGEST_REST_MS, this.#restMs * 2);
    }
  }

  /** Throughput, by Little's law: running jobs over how long each takes. Counts of so few would depend on where a reading falls. */
  #doneBy(here: Span): number {
    return here.concurrency / this.#base.slowness(here);
  }

  #rest(level: number, untilMs: number): void {
    this.#restUntilMs = untilMs;
    this.#go("rest", level);
  }

  #go(phase: "rest" | "down" | "up", level: number): void {
    this.#phase = phase;
    this.level = level;
    this.disturb();
  }
}
