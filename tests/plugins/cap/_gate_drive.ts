/**
 * Shows a cap the views of a pool whose figures the test sets.
 *
 * @module
 */

import { makeView, VIEW_NOW_MS, type ViewOverrides } from "../../../src/testing/views.ts";
import type { Cap, Limit } from "../../../src/contract/strategy.ts";
import type { Totals } from "../../../src/contract/view.ts";

/** The pool as it is for a while. */
export interface PoolFigures {
  /** Workers there. */
  live: number;
  /** Jobs that run. @default {all workers run one} */
  running?: number | undefined;
  /** Run time of what ends, ms. `Infinity`: nothing ends. */
  serviceMs: number;
  /** Ready jobs. */
  ready: number;
  /** Wait of the oldest, ms. */
  oldestWaitMs: number;
  /** Share of what ends that is a deferral. */
  deferred?: number;
  /** Workers that the controller wants. */
  wanted: number;
}

/** A pool of 2 to 32 workers that passes from figures to figures. */
export class GateDrive {
  /** Time of the last view. */
  nowMs = VIEW_NOW_MS;
  readonly #cap: Cap;
  readonly #size: { readonly min: number; readonly max: number };
  #totals = { starts: 0, completions: 0, serviceMs: 0, serviceMsSq: 0, busyMs: 0, deferrals: 0 };
  #overloads = 0;

  constructor(cap: Cap, size = { min: 2, max: 32 }) {
    this.#cap = cap;
    this.#size = size;
  }

  /** Lets time pass in steps of 5 ms, an ask each. Answers the last limit. */
  pass(ms: number, figures: PoolFigures, overrides: ViewOverrides = {}): Limit {
    const { live, serviceMs } = figures;
    const running = figures.running ?? live;
    let limit = this.ask(figures, overrides);
    for (let passed = 0; passed < ms; passed += 5) {
      this.nowMs += 5;
      this.#totals.busyMs += running * 5;
      if (serviceMs < Infinity) this.#end(running * 5 / serviceMs, figures);
      limit = this.ask(figures, overrides);
    }
    return limit;
  }

  #end(count: number, { serviceMs, deferred = 0 }: PoolFigures): void {
    const timed = count * (1 - deferred);
    this.#totals.completions += timed;
    this.#totals.deferrals += count - timed;
    this.#totals.serviceMs += timed * serviceMs;
    this.#totals.serviceMsSq += timed * serviceMs ** 2;
  }

  /** The handlers have called `context.overloaded()` so often more. */
  say(overloads: number): void {
    this.#overloads += overloads;
  }

  /** Asks once, with no time passing. */
  ask(figures: PoolFigures, overrides: ViewOverrides = {}): Limit {
    const { live, ready, oldestWaitMs, serviceMs, wanted } = figures;
    const running = figures.running ?? live;
    const totals: Partial<Totals> = { ...this.#totals, overloads: this.#overloads };
    const view = makeView({
      nowMs: this.nowMs,
      size: this.#size,
      live,
      busy: Math.min(live, running),
      lanes: [{
        targetWaitMs: 50,
        ready,
        running,
        oldestWaitMs,
        timed: this.#totals.completions,
        timedMs: this.#totals.serviceMs,
        meanServiceMs: serviceMs < Infinity ? serviceMs : 0,
      }],
      totals,
      ...overrides,
    });
    return this.#cap(view, wanted);
  }
}
