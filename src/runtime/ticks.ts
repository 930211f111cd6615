/**
 * When a pool plans next: at ticks on a grid, at reviews that its plans ask for, and when an override ends.
 *
 * @module
 */

import type { PoolState } from "./pool_state.ts";
import type { Steering } from "./steering.ts";

/** A tick that comes so late had to wait for the event loop, ms. */
const BLOCKED_MS = 200;

/** Owns the time of the next plan. Of the state it owns how often the event loop was blocked. */
export class Ticks {
  /** True while a tick waits for the counts that it plans by. */
  isUnderWay = false;
  readonly #state: PoolState;
  readonly #steering: Steering;
  #nextMs = Infinity;

  /** Begins at rest. */
  constructor(state: PoolState, steering: Steering) {
    this.#state = state;
    this.#steering = steering;
  }

  /** True while no tick comes until something happens. */
  get rests(): boolean {
    return this.#nextMs === Infinity;
  }

  /** The next one comes then. `Infinity`: once there is something to steer. */
  set(nextMs: number): void {
    this.#nextMs = nextMs;
  }

  /** True if it is time to plan. */
  isDue(nowMs: number): boolean {
    const { reviewAtMs, override } = this.#steering;
    return nowMs >= this.#nextMs || nowMs >= reviewAtMs || nowMs >= (override?.untilMs ?? Infinity);
  }

  /** It is planned for what is due. The next tick stays on the grid: late ones are skipped, not made up for. */
  pass(nowMs: number): void {
    const { tickMs } = this.#state.settings;
    if (this.rests) this.#nextMs = nowMs + tickMs;
    else {
      const lateMs = nowMs - this.#nextMs;
      if (lateMs >= BLOCKED_MS) {
        this.#state.loopBlocks++;
        this.#state.loopBlockedMs += lateMs;
      }
      const late = Math.max(-1, Math.floor(lateMs / tickMs)); // -1: a review, before the tick
      this.#nextMs += (late + 1) * tickMs;
    }
    this.#steering.reviewAtMs = Infinity;
  }

  /** When to plan next. */
  nextAtMs(nowMs: number): number {
    const { reviewAtMs, override } = this.#steering;
    if (this.rests && !this.#steering.quiet) this.#nextMs = nowMs + this.#state.settings.tickMs;
    // The tick under way ends an override that is over.
    const overAtMs = this.isUnderWay ? Infinity : override?.untilMs ?? Infinity;
    return Math.min(this.#nextMs, reviewAtMs, overAtMs);
  }
}
