/**
 * Which bounds of size hold now, where they go by the time of day.
 *
 * @module
 */

import { Alarm } from "./alarm.ts";
import { type CronTimes, readCron } from "../base/cron.ts";
import type { PoolCore } from "./pool_core.ts";
import type { PoolSettings, SizeSettings } from "../config/settings.ts";

/** How long ago the times of bounds may lie that hold, ms: more than a year. */
const HOLDS_FOR_MS = 400 * 86_400_000;

/** Bounds of a worker count. */
type Bounds = PoolSettings["size"];

/** What bounds by time need of their pool. */
export interface SizesContext extends Pick<PoolCore, "state" | "clock"> {
  /** Other bounds hold from now on. */
  readonly changed: () => void;
}

/** Owns the choice among the bounds of one pool. */
export class Sizes {
  readonly #context: SizesContext;
  readonly #alarm: Alarm;
  #settings: readonly SizeSettings[] = [];
  #all: readonly { readonly times: CronTimes; readonly bounds: Bounds }[] = [];
  #current: Bounds;
  #open = false;

  /** Knows at once what holds; what comes is noticed from `open` on. */
  constructor(context: SizesContext) {
    this.#context = context;
    this.#alarm = new Alarm(context.clock, () => this.#ring());
    this.#current = this.#read();
  }

  /** The bounds that hold. */
  get current(): PoolSettings["size"] {
    return this.#current;
  }

  /** Notices from now on when others begin. */
  open(): void {
    this.#open = true;
    this.#ring();
  }

  /** Takes the settings of the state over, or looks by a wall clock that was set: what holds may be another. */
  adopt(): void {
    this.#current = this.#read();
    this.#arm();
  }

  /** Notices nothing more. */
  close(): void {
    this.#open = false;
    this.#alarm.cancel();
  }

  #ring(): void {
    const before = this.#current;
    this.#current = this.#read();
    this.#arm();
    const { min, max } = this.#current;
    if (min !== before.min || max !== before.max) this.#context.changed();
  }

  #read(): Bounds {
    const { settings } = this.#context.state;
    if (this.#settings !== settings.sizes) {
      this.#settings = settings.sizes;
      this.#all = settings.sizes.map(({ cron, timezone, min, max }) => ({
        times: readCron(cron, timezone),
        bounds: { min, max },
      }));
    }
    const nowMs = this.#wallMs();
    let latestMs = -Infinity;
    let found: Bounds = settings.size;
    for (const { times, bounds } of this.#all) {
      const [atMs] = times.between(nowMs - HOLDS_FOR_MS, nowMs, 1);
      if (atMs === undefined || atMs < latestMs) continue;
      latestMs = atMs;
      found = bounds;
    }
    return found;
  }

  #arm(): void {
    this.#alarm.cancel();
    if (!this.#open) return;
    const { state } = this.#context;
    const nowMs = this.#wallMs();
    const next = Math.min(...this.#all.map(({ times }) => times.next(nowMs) ?? Infinity));
    if (next < Infinity) this.#alarm.by(next - state.wall.aheadMs);
  }

  #wallMs(): number {
    const { state, clock } = this.#context;
    return state.wall.at(clock.nowMs());
  }
}
