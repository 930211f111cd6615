/**
 * The peak of the concurrency that was used recently, and how far back "recently" reaches.
 *
 * @module
 */

import type { PoolView } from "../../src/contract/view.ts";
import { Peaks } from "./_peaks.ts";
import { GRAIN_MS } from "./_supply.ts";

/** Concurrency is averaged over so long before its peak is taken: shorter peaks queue instead. */
export const SLOT_MS = 50;

/**
 * Remembers slots, and doubles its reach when a shrink proves too early. The longer reach holds only
 * as many workers as such early shrinks took back: a pool that flaps between 2 and 4 does not keep
 * the 20 of an earlier spike for longer because of it.
 */
export class LookBack {
  /** How far it looks back, ms. */
  lookMs: number;
  readonly #leastMs: number;
  readonly #mostMs: number;
  readonly #near = new Peaks();
  readonly #far = new Peaks();
  #flapped = 0; // the most workers that a growth soon after a shrink came back to
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
    else {
      const mean = (busyMs - this.#slotBusyMs) / elapsedMs;
      this.#near.add(nowMs, mean);
      this.#far.add(nowMs, mean);
    }
    this.#slotAtMs = nowMs;
    this.#slotBusyMs = busyMs;
  }

  /** Highest concurrency of a slot within reach. */
  peak(nowMs: number): number {
    const near = this.#near.max(nowMs - this.#leastMs);
    return Math.max(near, Math.min(this.#flapped, this.#far.max(nowMs - this.lookMs)));
  }

  /** True once it has seen its whole reach, and a whole slot since the last growth: one that began before says little. */
  isFull(nowMs: number): boolean {
    return nowMs - (this.#beganAtMs ?? nowMs) >= this.lookMs - GRAIN_MS &&
      nowMs - this.#grownAtMs >= 2 * SLOT_MS;
  }

  /** The first moment at which no slot above `level` is within reach any more. */
  clearOf(level: number, nowMs: number): number {
    const nearMs = (this.#near.lastAbove(level) ?? -Infinity) + this.#leastMs;
    const farMs = (this.#far.lastAbove(level) ?? -Infinity) + this.lookMs;
    const lastMs = level < this.#flapped ? Math.max(nearMs, farMs) : nearMs;
    const fullMs = (this.#beganAtMs ?? nowMs) + this.lookMs;
    return Math.max(lastMs + 1, fullMs, nowMs + SLOT_MS);
  }

  /** The pool grows to `workers`. So soon after a shrink it says that the reach was too short; once a shrink. */
  grew(nowMs: number, workers: number): void {
    this.#grownAtMs = nowMs;
    if (nowMs - this.#shrunkAtMs >= this.lookMs) return;
    this.#flapped = Math.max(this.#flapped, workers);
    if (this.#adaptedAtMs < this.#shrunkAtMs) this.#adapt(nowMs, this.lookMs * 2);
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
      if (this.lookMs === this.#leastMs) this.#flapped = 0;
    }
  }

  #adapt(nowMs: number, toMs: number): void {
    this.lookMs = Math.max(this.#leastMs, Math.min(this.#mostMs, toMs));
    this.#adaptedAtMs = nowMs;
  }
}
