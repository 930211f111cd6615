/**
 * The peak of the concurrency that was used lately, and how far back "lately" reaches.
 *
 * @module
 */

import type { PoolView } from "../../src/view.ts";
import { Peaks } from "./_peaks.ts";
import { GRAIN_MS } from "./_supply.ts";

/** Concurrency is averaged over so long before its peak is taken: shorter peaks queue instead. */
export const SLOT_MS = 50;

/** Remembers slots, and doubles its reach when a shrink proves too early. */
export class LookBack {
  /** How far it looks back, ms. */
  lookMs: number;
  readonly #leastMs: number;
  readonly #mostMs: number;
  readonly #peaks = new Peaks();
  #beganAtMs: number | undefined;
  #slotAtMs = 0;
  #slotBusyMs = 0;
  #grownAtMs = -Infinity;
  #shrunkAtMs = -Infinity;
  #adaptedAtMs = -Infinity;

  /** Looks back `leastMs` at first, `mostMs` at most. */
  constructor(leastMs: number, mostMs: number) {
    this.lookMs = this.#leastMs = leastMs;
    this.#mostMs = mostMs;
  }

  /** Takes the mean concurrency of each slot from the integral of busy workers. */
  observe({ nowMs, totals: { busyMs } }: PoolView): void {
    const elapsedMs = nowMs - this.#slotAtMs;
    if (this.#beganAtMs === undefined) this.#beganAtMs = nowMs;
    else if (elapsedMs < SLOT_MS - GRAIN_MS) return;
    else this.#peaks.add(nowMs, (busyMs - this.#slotBusyMs) / elapsedMs);
    this.#slotAtMs = nowMs;
    this.#slotBusyMs = busyMs;
  }

  /** Highest concurrency of a slot within reach. */
  peak(nowMs: number): number {
    return this.#peaks.max(nowMs - this.lookMs);
  }

  /** True once it has seen its whole reach, and a whole slot since the last growth: one that began before says little. */
  isFull(nowMs: number): boolean {
    return nowMs - (this.#beganAtMs ?? nowMs) >= this.lookMs - GRAIN_MS &&
      nowMs - this.#grownAtMs >= 2 * SLOT_MS;
  }

  /** The first moment at which no slot above `level` is within reach any more. */
  clearOf(level: number, nowMs: number): number {
    const lastMs = this.#peaks.lastAbove(level) ?? -Infinity;
    const fullMs = (this.#beganAtMs ?? nowMs) + this.lookMs;
    return Math.max(lastMs + this.lookMs + 1, fullMs, nowMs + SLOT_MS);
  }

  /** The pool grows. So soon after a shrink it says that the reach was too short; once a shrink. */
  grew(nowMs: number): void {
    this.#grownAtMs = nowMs;
    const early = nowMs - this.#shrunkAtMs < this.lookMs && this.#adaptedAtMs < this.#shrunkAtMs;
    if (early) this.#adapt(nowMs, this.lookMs * 2);
  }

  /** The pool shrank. */
  shrank(atMs: number): void {
    this.#shrunkAtMs = atMs;
  }

  /** The pool keeps its size: after four times its reach without a shrink, a shorter one is tried again. */
  kept(nowMs: number): void {
    const quietForMs = nowMs - Math.max(this.#shrunkAtMs, this.#adaptedAtMs);
    if (this.lookMs > this.#leastMs && quietForMs > 4 * this.lookMs) {
      this.#adapt(nowMs, this.lookMs / 2);
    }
  }

  #adapt(nowMs: number, toMs: number): void {
    this.lookMs = Math.max(this.#leastMs, Math.min(this.#mostMs, toMs));
    this.#adaptedAtMs = nowMs;
  }
}
