/**
 * What passes through a lane or pool: counters, samples, and the window over them.
 *
 * @module
 */

import { CounterWindow, SampleRing, WINDOW_MS } from "../base/stats.ts";
import type { Summary, WindowStats } from "../contract/view.ts";

/** Counters and samples of a lane or pool, with their window. */
export class Traffic {
  /** Jobs accepted. */
  arrivals = 0;
  /** Attempts ended done. */
  completions = 0;
  /** Attempts failed. */
  failures = 0;
  /** Jobs rejected, or dropped as late. */
  shed = 0;
  /** Run times of ended attempts. */
  readonly serviceTimes = new SampleRing();
  /** Waits of started jobs. */
  readonly #waits = new SampleRing();
  /** The same since they were claimable, from the first that had been blocked on. */
  #readyWaits: SampleRing | undefined;
  readonly #counters = new CounterWindow(4);
  /** The latest tick and the counters then. */
  readonly #seen = new Float64Array(4);
  #seenAtMs: number;
  #window: WindowStats | undefined;

  /** Its window begins at `nowMs`. */
  constructor(nowMs: number) {
    this.#seenAtMs = nowMs;
  }

  /** A job starts that was due `waitMs` and claimable `readyWaitMs` before. */
  waited(nowMs: number, waitMs: number, readyWaitMs: number): void {
    if (readyWaitMs !== waitMs) this.#readyWaits ??= this.#waits.copy();
    this.#readyWaits?.add(nowMs, readyWaitMs);
    this.#waits.add(nowMs, waitMs);
  }

  /** Ends a slot of the window. */
  update(nowMs: number): void {
    this.#look(nowMs);
    this.#counters.update(nowMs, this.#seen);
  }

  /** Ends an idle gap without `update`: its window had no arrivals, and what has come since came now. */
  rested(nowMs: number): void {
    this.#counters.rested(nowMs, this.#seen);
    this.#look(nowMs);
  }

  #look(nowMs: number): void {
    const seen = this.#seen;
    seen[0] = this.arrivals;
    seen[1] = this.completions;
    seen[2] = this.failures;
    seen[3] = this.shed;
    this.#seenAtMs = nowMs;
    this.#window = undefined;
  }

  /** The window that ended with the latest tick: computed when read, as most ticks read none. */
  get window(): WindowStats {
    return this.#window ??= this.#compute();
  }

  /** A frozen copy of that. */
  freezeWindow(): WindowStats {
    return Object.freeze({ ...this.window }); // the spread computes the quantiles
  }

  #compute(): WindowStats {
    const nowMs = this.#seenAtMs;
    const startMs = this.#counters.startMs() ?? nowMs;
    const { serviceTimes } = this;
    const waits = this.#waits;
    const readyWaits = this.#readyWaits;
    const perSec = (counter: number) => this.#counters.perSec(nowMs, counter, this.#seen[counter]!);
    let service: Summary | undefined | null = null;
    let wait: Summary | undefined | null = null;
    let readyWait: Summary | undefined | null = null;
    return {
      windowMs: nowMs - startMs,
      arrivalsPerSec: perSec(0),
      completionsPerSec: perSec(1),
      failuresPerSec: perSec(2),
      shedPerSec: perSec(3),
      get serviceMs() {
        return service === null ? service = serviceTimes.summary(nowMs - WINDOW_MS) : service;
      },
      get waitMs() {
        return wait === null ? wait = waits.summary(nowMs - WINDOW_MS) : wait;
      },
      get readyWaitMs() {
        if (readyWaits === undefined) return this.waitMs;
        return readyWait === null ? readyWait = readyWaits.summary(nowMs - WINDOW_MS) : readyWait;
      },
    };
  }
}
