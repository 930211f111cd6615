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
  #blockedUntilMs = -Infinity;

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
    const ring = (): void => {
      if (this.nowMs() < this.#blockedUntilMs) {
        timer.inner = this.#base.at(this.#blockedUntilMs, ring);
      } else timer.ring();
    };
    timer.inner = this.#base.at(atMs, ring);
    return timer;
  }

  /** What is due within this time runs at its end. */
  block(forMs: number): void {
    this.#blockedUntilMs = Math.max(this.#blockedUntilMs, this.nowMs() + forMs);
  }

  /** Until when nothing runs. */
  get blockedUntilMs(): number {
    return this.#blockedUntilMs;
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
  readonly #run: () => void;
  readonly #pending: Set<ProcessTimer>;

  constructor(run: () => void, pending: Set<ProcessTimer>) {
    this.#run = run;
    this.#pending = pending;
  }

  ring(): void {
    this.#pending.delete(this);
    this.#run();
  }

  cancel(): void {
    this.#pending.delete(this);
    this.inner?.cancel();
  }
}
