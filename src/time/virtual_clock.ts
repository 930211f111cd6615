/**
 * Time that moves only when told to.
 *
 * @module
 */

import { clearImmediate, setImmediate } from "node:timers";
import type { Clock, Timer } from "./clock.ts";
import { Heap } from "../base/heap.ts";
import { Wall } from "./wall.ts";

/** Most steps that one round of the event loop takes. */
const MOST_STEPS = 32;

/**
 * A clock for tests and simulation. Time stops while anything is left to run: before each step,
 * every microtask that is pending runs (one hop of the event loop an instant, never a timer).
 *
 * @example
 * ```ts
 * import { VirtualClock } from "@sluice/sluice/testing";
 * import assert from "node:assert/strict";
 *
 * const clock = new VirtualClock();
 * let fired = 0;
 * clock.at(clock.nowMs() + 60_000, () => fired++);
 *
 * await clock.advance(59_999);
 * assert.equal(fired, 0);
 * await clock.advance(1);
 * assert.equal(fired, 1);
 * ```
 */
export class VirtualClock implements Clock {
  /** What the wall clock shows beside it. */
  readonly wall: Wall = new Wall();
  #nowMs: number;
  #order = 0;
  readonly #timers = new Heap<Entry>(before);

  /** Starts at `startMs`, ms since epoch. @default {2026-01-01T00:00:00Z} */
  constructor(startMs: number = Date.UTC(2026, 0, 1)) {
    this.#nowMs = startMs;
  }

  /** The time it was moved to, ms since epoch. */
  nowMs(): number {
    return this.#nowMs;
  }

  /** Sets the wall clock forward by `byMs`, or back if that is below 0: the time goes on as it was. */
  stepWall(byMs: number): void {
    this.wall.step(this.#nowMs, byMs);
  }

  /** Calls `run` when time is moved to `atMs` or past it; at the next step if that is past already. */
  at(atMs: number, run: () => void): Timer {
    const entry = new Entry(atMs > this.#nowMs ? atMs : this.#nowMs, this.#order++, run);
    this.#timers.push(entry);
    return entry;
  }

  /** When the next timer fires. `undefined`: none is set. */
  nextAtMs(): number | undefined {
    this.#dropCancelled();
    return this.#timers.peek()?.atMs;
  }

  /** Moves time by `ms`, firing each timer at its instant. */
  async advance(ms: number): Promise<void> {
    await this.runUntil(this.#nowMs + ms);
  }

  /**
   * Moves time to `atMs`, firing each timer at its instant.
   *
   * @param isEnough Asked between two instants; once it says so, time stops there. @default {it never does}
   */
  async runUntil(atMs: number, isEnough: () => boolean = () => false): Promise<void> {
    let stopped = false;
    await hopWhile(() => {
      const next = this.nextAtMs();
      if (next === undefined || next > atMs) return false;
      this.#nowMs = next;
      this.#fireDue();
      stopped = isEnough();
      return !stopped;
    });
    if (!stopped) this.#nowMs = Math.max(this.#nowMs, atMs);
  }

  /** Lets everything that is pending at this instant run. */
  async settle(): Promise<void> {
    await this.runUntil(this.#nowMs);
  }

  #fireDue(): void {
    for (;;) {
      this.#dropCancelled();
      const next = this.#timers.peek();
      if (next === undefined || next.atMs > this.#nowMs) return;
      this.#timers.pop();
      const run = next.run;
      next.run = undefined;
      run?.();
    }
  }

  #dropCancelled(): void {
    let next = this.#timers.peek();
    while (next !== undefined && next.run === undefined) {
      this.#timers.pop();
      next = this.#timers.peek();
    }
  }
}

class Entry implements Timer {
  readonly atMs: number;
  readonly order: number;
  run: (() => void) | undefined;

  constructor(atMs: number, order: number, run: () => void) {
    this.atMs = atMs;
    this.order = order;
    this.run = run;
  }

  cancel(): void {
    this.run = undefined;
  }
}

/**
 * Calls `step` until it answers false or throws, each time as an immediate of its own: all
 * microtasks run between two of them. Setting several immediates at once costs a third of a round of
 * the event loop for each; the more steps there have been, the more are set at once.
 */
function hopWhile(step: () => boolean): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const set: ReturnType<typeof setImmediate>[] = [];
  let left = 0;
  let most = 1;
  const hop = (): void => {
    left--;
    try {
      if (step()) {
        if (left === 0) again();
        return;
      }
      resolve();
    } catch (thrown) {
      reject(thrown);
    }
    for (const immediate of set) clearImmediate(immediate);
  };
  const again = (): void => {
    set.length = 0;
    for (; left < most; left++) set.push(setImmediate(hop));
    most = Math.min(MOST_STEPS, most * 2);
  };
  again();
  return promise;
}

function before(a: Entry, b: Entry): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}
