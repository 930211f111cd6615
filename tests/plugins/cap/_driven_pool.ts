/**
 * A pool of one lane, driven by a cap: its workers are what the cap allows, its attempts take as long as
 * the test says.
 *
 * @module
 */

import type { Cap, Limit } from "../../../src/contract/strategy.ts";
import { makeView, VIEW_NOW_MS, type ViewOverrides } from "../../../src/testing/views.ts";

const TICK_MS = 10;

/** What the pool meets for a while. */
export interface Weather {
  /** Jobs that arrive, a second. */
  readonly perSec: number;
  /** Run time of an attempt that is one of this many, ms. */
  readonly runMs: (running: number) => number;
  /** Share of their time that workers wait for the store. @default {0} */
  readonly idle?: number;
  /** Calls of `context.overloaded()`, a tick. @default {0} */
  readonly overloads?: number;
  /** Attempts that end deferred, a tick. @default {0} */
  readonly deferrals?: number;
  /** What else the view says. */
  readonly view?: ViewOverrides;
}

/** Attempts of 20 ms. */
export const steadily = (): number => 20;

/** A downstream that bears this many attempts of 20 ms at once. */
export function knee(slots: number, collapse = 0): (running: number) => number {
  return (running) =>
    running <= slots ? 20 : 20 * running / slots * (1 + collapse * (running - slots));
}

/** Lets the time pass in ticks, and asks the cap at each. */
export class DrivenPool {
  /** Every size that the pool was given, as it changed. */
  readonly sizes: number[] = [];
  /** Jobs done. */
  done = 0;
  /** What the cap said last. */
  limit: Limit = { workers: Infinity, reason: "" };
  readonly #cap: Cap;
  readonly #size: { readonly min: number; readonly max: number };
  #nowMs = VIEW_NOW_MS;
  #target: number;
  #ready = 0;
  #counts = { busyMs: 0, servedMs: 0, timedMs: 0, timedLog: 0, overloads: 0, deferrals: 0 };

  constructor(cap: Cap, size = { min: 2, max: 32 }) {
    this.#cap = cap;
    this.#size = size;
    this.#target = size.min;
  }

  /** The size now. */
  get target(): number {
    return this.#target;
  }

  /** So much time passes. */
  pass(ms: number, weather: Weather): this {
    for (let passedMs = 0; passedMs < ms; passedMs += TICK_MS) this.#tick(weather);
    return this;
  }

  #tick({ perSec, runMs, idle = 0, overloads = 0, deferrals = 0, view = {} }: Weather): void {
    this.#nowMs += TICK_MS;
    const needed = perSec * runMs(this.#target) / 1000;
    const running = (this.#ready > 0 ? this.#target : Math.min(this.#target, needed)) * (1 - idle);
    const ended = running * TICK_MS / runMs(running);
    this.#ready = Math.max(0, this.#ready + perSec * TICK_MS / 1000 - ended);
    this.done += ended;
    const counts = this.#counts;
    counts.busyMs += running * TICK_MS;
    counts.servedMs += running * TICK_MS;
    counts.timedMs += ended * runMs(running);
    counts.timedLog += ended * Math.log(runMs(running));
    counts.overloads += overloads;
    counts.deferrals += deferrals;
    this.#ask(running, runMs(running), perSec, view);
  }

  #ask(running: number, meanServiceMs: number, perSec: number, more: ViewOverrides): void {
    const { busyMs, overloads, deferrals, ...lane } = this.#counts;
    const wanted = this.#ready > 0 ? this.#size.max : Math.max(this.#size.min, Math.ceil(running));
    const view = makeView({
      nowMs: this.#nowMs,
      size: this.#size,
      live: this.#target,
      busy: Math.round(running),
      target: this.#target,
      lanes: [{
        ...lane,
        meanServiceMs,
        targetWaitMs: 50,
        timed: this.done,
        ready: Math.round(this.#ready),
        running: Math.round(running),
        oldestWaitMs: this.#ready * 1000 / perSec,
      }],
      totals: { completions: this.done, busyMs, overloads, deferrals },
      ...more,
    });
    this.limit = this.#cap(view, wanted);
    const target = Math.min(wanted, this.limit.workers);
    if (target !== this.#target) this.sizes.push(target);
    this.#target = target;
  }
}
