/**
 * The clock of one simulated process: what it has set ends with it.
 *
 * @module
 */

import type { Clock, Timer } from "../time/clock.ts";

/** A clock whose timers all end when its process does. */
export class ProcessClock implements Clock {
  /** Sets immediates, where the clock below does. */
  readonly hop?: (run: () => void) => void;
  readonly #base: Clock;
  readonly #pending = new Set<ProcessTimer>();
  #dead = false;

  /** Lives on `base`. */
  constructor(base: Clock) {
    this.#base = base;
    const hop = base.hop?.bind(base);
    if (hop !== undefined) {
      this.hop = (run) => hop(() => this.#dead ? undefined : run());
    }
  }

  /** True once the process has ended. */
  get dead(): boolean {
    return this.#dead;
  }

  nowMs(): number {
    return this.#base.nowMs();
  }

  at(atMs: number, run: () => void): Timer {
    const timer = new ProcessTimer(run, this.#pending);
    if (this.#dead) return timer;
    this.#pending.add(timer);
    timer.inner = this.#base.at(atMs, timer.ring);
    return timer;
  }

  /** Ends all timers, those that will be set too. */
  kill(): void {
    this.#dead = true;
    for (const timer of this.#pending) timer.cancel();
  }
}

/** `clock`, but each timer is as late as `lateMs` draws. */
export function lateClock(clock: Clock, lateMs: () => number): Clock {
  return {
    nowMs: () => clock.nowMs(),
    at: (atMs, run) => clock.at(atMs + lateMs(), run),
    ...(clock.hop === undefined ? {} : { hop: (run) => clock.hop?.(run) }),
  };
}

class ProcessTimer implements Timer {
  /** The timer below. `undefined`: the process was dead already. */
  inner: Timer | undefined;
  readonly ring: () => void;
  readonly #pending: Set<ProcessTimer>;

  constructor(run: () => void, pending: Set<ProcessTimer>) {
    this.#pending = pending;
    this.ring = () => {
      pending.delete(this);
      run();
    };
  }

  cancel(): void {
    this.#pending.delete(this);
    this.inner?.cancel();
  }
}
