/**
 * The clock of one process: it is off, it stops when the process stalls, and it ends with it.
 *
 * @module
 */

import type { Clock, Timer } from "../../src/time/clock.ts";
import { Wall } from "../../src/time/wall.ts";

/** A pool that sets this many timers in one instant is in a busy loop, which on virtual time never ends. */
const MOST_TIMERS = 10_000;

/** A clock that differs from the true one by `offsetMs`. */
export class SkewedClock implements Clock {
  /** True once the process was killed. */
  dead = false;
  /** What its wall clock shows beside that. */
  readonly wall = new Wall();
  readonly #base: Clock;
  /** How far ahead of the true time it is. */
  readonly offsetMs: number;
  readonly #pending = new Set<Timer>();
  #stalledUntilMs = -Infinity;
  #lastSetMs = -Infinity;
  #setThen = 0;

  /** Runs on `base`, `offsetMs` ahead of it. */
  constructor(base: Clock, offsetMs: number) {
    this.#base = base;
    this.offsetMs = offsetMs;
  }

  /** True while nothing of the process runs. */
  get stalled(): boolean {
    return this.#base.nowMs() < this.#stalledUntilMs;
  }

  /** The true time. */
  get trueMs(): number {
    return this.#base.nowMs();
  }

  nowMs(): number {
    return this.#base.nowMs() + this.offsetMs;
  }

  at(atMs: number, run: () => void): Timer {
    this.#watch();
    let inner: Timer | undefined;
    const timer = {
      cancel: (): void => {
        this.#pending.delete(timer);
        inner?.cancel();
      },
    };
    const ring = (): void => {
      if (this.stalled) {
        inner = this.#base.at(this.#stalledUntilMs, ring);
        return;
      }
      this.#pending.delete(timer);
      run();
    };
    if (this.dead) return timer;
    inner = this.#base.at(atMs - this.offsetMs, ring);
    this.#pending.add(timer);
    return timer;
  }

  /** Nothing of the process runs any more. */
  kill(): void {
    this.dead = true;
    for (const timer of this.#pending) timer.cancel();
  }

  /** Nothing runs for so long: what was due meanwhile comes after it. */
  stall(ms: number): void {
    this.#stalledUntilMs = this.#base.nowMs() + ms;
  }

  /** Sets its wall clock so far ahead of its time, ms. */
  setWall(aheadMs: number): void {
    if (this.dead) return;
    const nowMs = this.nowMs();
    const byMs = nowMs + aheadMs - this.wall.at(nowMs);
    if (byMs !== 0) this.wall.step(nowMs, byMs);
  }

  /** Runs at once, or after the stall; never in a dead process. */
  soon(run: () => void): void {
    if (this.dead) return;
    if (this.stalled) this.at(this.nowMs(), run);
    else run();
  }

  #watch(): void {
    if (this.trueMs !== this.#lastSetMs) this.#setThen = 0;
    this.#lastSetMs = this.trueMs;
    if (++this.#setThen > MOST_TIMERS) throw new Error("A pool sets one timer after the other");
  }
}
