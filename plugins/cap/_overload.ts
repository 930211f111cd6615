/**
 * What `context.overloaded()` leaves of a pool.
 *
 * @module
 */

import type { PoolView } from "../../src/contract/view.ts";

/** Most that goes at once: a saw tooth from 0.9 to 1 of its limit is 95 % of it on average. */
const MOST_CUT = 0.1;
/** It is looked at after so long, ms, and ten run times: then all but one in e^10 were begun at this size. */
const EVERY_MS = 1000;

/** Additive increase, multiplicative decrease (Chiu and Jain, 1989), by what the downstream says. */
export class OverloadHeard {
  /** How many workers it leaves. `Infinity`: nothing was said. */
  workers = Infinity;
  #last: readonly [atMs: number, overloads: number, ended: number] | undefined;
  #falls = true; // nothing was found yet
  #rests = false; // it was cut just now: what is heard may speak of before

  /** @param random Chance, 0 to 1: processes that hear the same at once are not to step as one. */
  constructor(readonly random: () => number) {}

  /** Listens. True if the pool is to be smaller than before. */
  hear({ nowMs, size, live, peers, lanes, totals }: PoolView): boolean {
    const ended = totals.completions + totals.failures + totals.deferrals;
    const now = [nowMs, totals.overloads, ended] as const;
    const [lastMs, overloads, endedThen] = this.#last ??= now;
    const runMs = Math.max(...lanes.map(({ meanServiceMs }) => meanServiceMs));
    // On the way down it looks five times as often: what was begun at the size before has ended.
    const everyMs = Math.max(EVERY_MS, 10 * runMs) / (this.#falls ? 5 : 1);
    if (nowMs - lastMs < everyMs) return false;
    this.#last = now;
    if (this.#rests) return this.#rests = false;
    const share = Math.min(1, (totals.overloads - overloads) / Math.max(1, ended - endedThen));
    const workers = Math.min(live, this.workers);
    // Where a rate refuses them, that share is what it does not need. Less than one of all are none.
    const isCut = share * workers * peers >= 1;
    if (isCut) {
      const left = workers * (1 - Math.min(MOST_CUT, share)) + this.random();
      this.workers = Math.max(size.min, 1, Math.floor(left));
      this.#rests = !this.#falls;
    } else if (this.workers < Infinity) {
      if (this.random() < 1 / peers) this.workers++;
      this.#falls = false;
    }
    if (this.workers >= size.max) [this.workers, this.#falls] = [Infinity, true];
    return isCut;
  }
}
